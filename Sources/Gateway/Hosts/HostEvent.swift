package import Engine
package import WidgetModel

/// Something that a host is told on its event stream.
package enum HostEvent: Hashable, Sendable {
    case reload(ReloadEffect)
    /// Something beside timelines is to be asked for anew.
    case invalidation(Invalidation)

    /// Nil for what is told to no host: a kind's recommendations.
    package var host: HostID? {
        switch self {
        case .reload(let reload): reload.host
        case .invalidation(let invalidation): invalidation.host
        }
    }

    package var app: BundleID {
        switch self {
        case .reload(let reload): reload.app
        case .invalidation(let invalidation): invalidation.app
        }
    }

    func isFor(_ scope: HostStreams.Scope) -> Bool {
        switch scope {
        case .host(let host): self.host == host
        case .app(let app): self.app == app
        }
    }
}
