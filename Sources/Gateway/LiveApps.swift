import Synchronization
import WidgetModel

/// The apps that are served, for everybody who asks; replaced whole while the gateway runs.
package final class LiveApps: Sendable {
    private struct State {
        var apps: ServedApps
        var origins: CrossOrigin
    }

    private let state: Mutex<State>
    private let number = Atomic<UInt64>(1)

    package init(_ apps: ServedApps, origins: CrossOrigin = CrossOrigin()) {
        self.state = Mutex(State(apps: apps, origins: origins))
    }

    /// Grows with every change. Never 0.
    package var generation: UInt64 { self.number.load(ordering: .acquiring) }

    package var apps: ServedApps { self.state.withLock { $0.apps } }

    /// Which web pages may act as hosts of which app.
    package var origins: CrossOrigin { self.state.withLock { $0.origins } }

    /// Serves the apps of a configuration from now on; those that it does not have keep their places and no name.
    package func use(_ configuration: GatewayConfiguration, _ numbers: AppNumbers) {
        self.state.withLock { state in
            state.apps = ServedApps(configuration, numbers, before: state.apps)
            state.origins = CrossOrigin(configuration)
        }
        self.number.add(1, ordering: .acquiringAndReleasing)
    }
}
