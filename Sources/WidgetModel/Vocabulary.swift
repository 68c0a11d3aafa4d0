/// The shape and place of a widget, WidgetKit's `WidgetFamily`.
///
/// Raw values are part of the on-disk format.
package enum WidgetFamily: UInt8, NamedCase {
    case systemSmall = 0
    case systemMedium = 1
    case systemLarge = 2
    case systemExtraLarge = 3
    case systemExtraLargePortrait = 4
    case accessoryCircular = 5
    case accessoryCorner = 6
    case accessoryRectangular = 7
    case accessoryInline = 8

    /// WidgetKit's spellings.
    package static let names = CaseNames<WidgetFamily>()
}

/// `apns-push-type`: the purpose of a push.
package enum PushType: UInt8, NamedCase {
    case alert = 0
    case background = 1
    case complication = 2
    case controls = 3
    case fileprovider = 4
    case liveactivity = 5
    case location = 6
    case mdm = 7
    case pushtotalk = 8
    case voip = 9
    case widgets = 10

    /// The header's value.
    package static let names = CaseNames<PushType>()
}

/// Which of APNs' two services a push token belongs to. A token of one is unknown to the other. Raw values are part of
/// the on-disk format.
package enum PushEnvironment: UInt8, Hashable, Sendable, CaseIterable {
    case production = 0
    /// Apple's "sandbox".
    case development = 1
}

/// `apns-priority`: how urgent a push is.
package enum Priority: UInt8, Hashable, Sendable, CaseIterable {
    /// Waits for any other reload of the instance.
    case low = 1
    /// Power-aware: reloads when the pace of the budget allows it.
    case normal = 5
    /// Immediate: may use the burst of the budget.
    case high = 10
}

/// `apns-collapse-id`: at most 64 bytes; a later push with the same id takes the place of one still waiting.
package struct CollapseID: Hashable, Sendable {
    package static let bytesMax = 64
    package let bytes: [UInt8]

    /// The id, or nil if it is longer than ``bytesMax``.
    package init?(bytes: [UInt8]) {
        guard bytes.count <= Self.bytesMax else { return nil }
        self.bytes = bytes
    }
}

/// Why an instance reloads. Raw values are bit numbers in ``ReloadCauses`` and part of the on-disk format.
@frozen public enum ReloadCause: UInt8, Hashable, Sendable, CaseIterable, NamedCase {
    case added = 0
    case configured = 1
    case policy = 2
    case push = 3
    case appRequest = 4
    case appIntent = 5
    case becameVisible = 6
    case significantLocationChange = 7
    case localeChanged = 8
    case dynamicTypeChanged = 9
    case accessibilityChanged = 10
    case appearanceChanged = 11

    package static let names = CaseNames<ReloadCause>()
}

/// A set of causes that fall together in one reload. Public, since Swift 6.3 does not inline declarations with package access into other
/// targets.
@frozen public struct ReloadCauses: OptionSet, Hashable, Sendable {
    /// A bit for each cause, by its raw value.
    public let rawValue: UInt16
    /// The causes whose bits are set.
    @inlinable
    public init(rawValue: UInt16) { self.rawValue = rawValue }
    /// One cause.
    @inlinable
    public init(_ cause: ReloadCause) { self.rawValue = 1 << UInt16(cause.rawValue) }

    /// Whether a cause is among them.
    @inlinable
    public func contains(_ cause: ReloadCause) -> Bool { self.contains(ReloadCauses(cause)) }

    /// The causes in the order of their raw values.
    package var list: [ReloadCause] { ReloadCause.allCases.filter { self.contains($0) } }
}

/// Why a reload is not charged to the budget. Raw values are part of the on-disk format.
///
/// Source: "Keeping a widget up to date" (WidgetKit) and WWDC21 session 10048.
package enum Exemption: UInt8, NamedCase {
    case appForeground = 0
    case mediaSession = 1
    case navigationSession = 2
    case locationSession = 3
    case appIntent = 4
    case significantLocationChange = 5
    case localeChanged = 6
    case dynamicTypeChanged = 7
    case accessibilityChanged = 8
    case appearanceChanged = 9
    case added = 10
    case configured = 11
    case developerMode = 12

    package static let names = CaseNames<Exemption>()
}

/// The outcome of one push for one matched instance. Raw values are part of the on-disk format.
///
/// Every matched instance ends in exactly one final outcome; for every push at every instant `matched = deferred +
/// issued + the sum of the final ones`.
package enum PushOutcome: UInt8, NamedCase {
    /// Waits for the budget, for its `not-before`, or for another reload to join. Not final.
    case deferred = 0
    /// The reload is on its way and there is no evidence yet. Not final.
    case issued = 1
    case reloaded = 2
    case exempt = 3
    case coalesced = 4
    case superseded = 5
    case expired = 6
    case unchanged = 7
    case removed = 8
    case cancelled = 9
    case failed = 10

    package var isFinal: Bool { self != .deferred && self != .issued }
    package static let names = CaseNames<PushOutcome>()
}
