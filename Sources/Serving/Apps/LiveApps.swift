package import Partitions
package import Settings
import Synchronization
import WidgetModel

/// The apps that are served and their bounds, for all callers; replaced whole while the gateway runs.
package final class LiveApps: Sendable {
    private struct State {
        var apps: ServedApps
        var origins: CrossOrigin
        var bounds: ServingBounds
    }

    private let state: Mutex<State>
    private let seed: UInt64
    private let work: WorkAdmission?
    private let number = Atomic<UInt64>(1)

    /// - Parameters:
    ///   - seed: A secret random number, for hashes of device tokens.
    ///   - work: Knows what each team has in the log; nil where teams are not told apart.
    package init(
        _ apps: ServedApps,
        origins: CrossOrigin = CrossOrigin(),
        bounds: ServingBounds = ServingBounds(),
        seed: UInt64 = 0,
        work: WorkAdmission? = nil
    ) {
        self.work = work
        self.state = Mutex(State(apps: apps, origins: origins, bounds: bounds))
        self.seed = seed
    }

    /// - Parameters:
    ///   - seed: A secret random number, for hashes of device tokens.
    ///   - work: Knows what each team has in the log; nil where teams are not told apart.
    package convenience init(_ configuration: GatewayConfiguration, seed: UInt64, work: WorkAdmission? = nil) {
        self.init(
            ServedApps(configuration, work: work),
            origins: CrossOrigin(configuration),
            bounds: ServingBounds(configuration, seed: seed),
            seed: seed,
            work: work
        )
    }

    /// Grows with every change. Never 0.
    package var generation: UInt64 { self.number.load(ordering: .acquiring) }

    package var apps: ServedApps { self.state.withLock { $0.apps } }

    /// Which web pages may act as hosts.
    package var origins: CrossOrigin { self.state.withLock { $0.origins } }

    package var bounds: ServingBounds { self.state.withLock { $0.bounds } }

    /// Serves the apps of a configuration from now on, within its bounds; apps that it does not have keep their places and no
    /// name.
    package func applyConfiguration(_ configuration: GatewayConfiguration, _ numbers: AppNumbers) {
        self.state.withLock { state in
            state.apps = ServedApps(configuration, numbers, before: state.apps, work: self.work)
            state.origins = CrossOrigin(configuration)
            state.bounds = ServingBounds(configuration, before: state.bounds, seed: self.seed)
        }
        self.number.add(1, ordering: .acquiringAndReleasing)
    }
}

extension CommandLog {
    /// The same log, with each record charged to the team of its app.
    ///
    /// - Parameter refuses: Whether a team that has its share in the log has to wait.
    package func charged(to work: WorkAdmission, _ apps: LiveApps, refuses: Bool) -> CommandLog {
        self.charged(to: work, refuses: refuses) { apps.apps }
    }
}
