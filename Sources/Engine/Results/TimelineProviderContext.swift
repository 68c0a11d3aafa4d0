package import WidgetModel

/// The context of a question to a timeline provider, beside the configuration: WidgetKit's `TimelineProviderContext`.
package struct TimelineProviderContext: Hashable, Sendable {
    /// Width and height in points.
    package struct DisplaySize: Hashable, Sendable {
        package let width: Double
        package let height: Double
    }

    package let family: WidgetFamily
    /// Whether it is for a gallery, which needs an answer at once and accepts a sample.
    package let isPreview: Bool
    /// Nil if the host did not say.
    package let displaySize: DisplaySize?
    /// The environments in which the host may show the entry, in the host's order.
    package let environmentVariants: [HostContext.Variant]
    /// A BCP 47 tag.
    package let locale: String?
    /// A name of the time-zone database.
    package let timeZone: String?

    /// - Parameters:
    ///   - family: The widget's.
    ///   - isPreview: Whether it is for a gallery.
    ///   - host: The host's own context.
    package init(family: WidgetFamily, isPreview: Bool = false, host: HostContext = HostContext()) {
        self.family = family
        self.isPreview = isPreview
        self.displaySize = host.width.flatMap { width in host.height.map { DisplaySize(width: width, height: $0) } }
        self.environmentVariants = host.environmentVariants
        self.locale = host.locale
        self.timeZone = host.timeZone
    }
}

/// A question to a timeline provider, after the requirements of WidgetKit's `TimelineProvider` and
/// `AppIntentTimelineProvider`.
package enum ProviderRequest: String, Hashable, Sendable, CaseIterable {
    /// A generic representation, at once: there is nothing to wait for.
    case placeholder
    /// The present state as one entry.
    case snapshot
    case timeline
    case relevance
    /// Configurations to offer in a gallery.
    case recommendations

    /// The questions to a provider when an instance reloads or a gallery shows it, in this order.
    ///
    /// A new widget shows a placeholder until its timeline arrives. In a gallery it shows a snapshot and has no
    /// timeline. Any other reload leaves the old timeline in place until the new one arrives.
    ///
    /// - Parameters:
    ///   - causes: Those of the reload; empty in a gallery.
    ///   - context: The context for the provider.
    package static func order(for causes: ReloadCauses, in context: TimelineProviderContext) -> [ProviderRequest] {
        if context.isPreview { return [.placeholder, .snapshot] }
        return causes.contains(.added) ? [.placeholder, .timeline] : [.timeline]
    }
}
