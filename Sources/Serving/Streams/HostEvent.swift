package import Engine
package import TimelineProviding
package import WidgetModel

/// Something that a host is told on its event stream.
///
/// Indirect, since thousands of streams wait for one at a time and each holds the room for several.
package indirect enum HostEvent: Hashable, Sendable {
    /// It is to reload: its timelines are its own.
    case reload(ReloadEffect)
    /// Something beside timelines is to be asked for anew.
    case invalidation(Invalidation)
    /// An instance is new, and shows this until its timeline is there.
    case placeholder(Placeholder)
    /// The date of an entry has come, of a timeline that the gateway keeps.
    case entry(ContentTable.Due)

    /// The instance that is to draw something; nil if the event is no drawing.
    package var drawnBy: InstanceAddress? {
        switch self {
        case .reload, .invalidation: nil
        case .placeholder(let placeholder): placeholder.address
        case .entry(let due): due.timeline.address
        }
    }

    /// Nil for an event that no host is told: about a kind's recommendations.
    package var host: HostKey? {
        switch self {
        case .reload(let reload): reload.host
        case .invalidation(let invalidation): invalidation.host.map { HostKey(app: invalidation.app, id: $0) }
        case .placeholder(let placeholder): placeholder.address.host
        case .entry(let due): due.timeline.address.host
        }
    }

    package var app: BundleID {
        switch self {
        case .reload(let reload): reload.app
        case .invalidation(let invalidation): invalidation.app
        case .placeholder(let placeholder): placeholder.app
        case .entry(let due): due.timeline.app
        }
    }

    func isFor(_ scope: HostStreams.Scope) -> Bool {
        switch scope {
        case .host(let host): self.host == host
        case .app(let app): self.app == app
        }
    }
}
