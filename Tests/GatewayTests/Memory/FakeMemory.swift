import Logging
import Partitions
import Settings
import Synchronization
import WidgetModel

/// A memory whose size a test sets: 1,000 MiB may be taken.
final class FakeMemory: Sendable {
    static let mebibyte = 1_048_576

    struct Unreadable: Error {}

    private let state = Mutex<(resident: Int, isFailing: Bool)>((0, false))
    private let lines = Mutex<[(level: Logger.Level, teams: String)]>([])

    /// The levels of the logged messages, and the teams that they named.
    var levels: [Logger.Level] { self.lines.withLock { $0.map(\.level) } }
    var teams: [String] { self.lines.withLock { $0.map(\.teams) } }

    /// Lets the process take so much.
    func use(mebibytes: Int) { self.state.withLock { $0.resident = mebibytes * Self.mebibyte } }

    func failMeasuring(_ isFailing: Bool) { self.state.withLock { $0.isFailing = isFailing } }

    /// The limits of apps and teams: those of the sports apps, by a configuration.
    static func limits(_ body: (inout GatewayConfiguration) -> Void = { _ in }) -> RegistryLimits {
        var configuration = GatewayConfiguration()
        configuration.teams = [.init(id: Sports.team), .init(id: Sports.otherTeam)]
        configuration.apps = [
            .init(bundleID: Sports.app, team: Sports.team), .init(bundleID: Sports.otherApp, team: Sports.otherTeam),
        ]
        body(&configuration)
        return RegistryLimits(configuration)
    }

    /// Counts who has how much; measured once already.
    func watch(_ limits: RegistryLimits = FakeMemory.limits()) -> RegistryWatch {
        let watch = RegistryWatch(
            limits,
            .bytes(1000 * Self.mebibyte),
            logger: Logger(label: "test") { _ in Handler(memory: self) }
        ) {
            let (resident, isFailing) = self.state.withLock { $0 }
            if isFailing { throw Unreadable() }
            return MemorySizes(resident: resident, available: 4000 * Self.mebibyte)
        }
        watch.measure()
        return watch
    }

    private struct Handler: LogHandler {
        let memory: FakeMemory
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.trace

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { self.metadata[key] }
            set { self.metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let teams = event.metadata?["teams"].map { "\($0)" } ?? ""
            self.memory.lines.withLock { $0.append((event.level, teams)) }
        }
    }
}
