package import Engine
package import WidgetModel

/// Something that a host is told on its event stream.
package enum HostEvent: Hashable, Sendable {
    case reload(ReloadEffect)

    package var host: HostID {
        switch self {
        case .reload(let reload): reload.host
        }
    }

    package var app: BundleID {
        switch self {
        case .reload(let reload): reload.app
        }
    }

    func isFor(_ scope: HostStreams.Scope) -> Bool {
        switch scope {
        case .host(let host): self.host == host
        case .app(let app): self.app == app
        }
    }
}
