import Synchronization

/// Whether the gateway can do its work, and if not, why not.
package final class Readiness: Sendable {
    /// Something that must hold before the gateway is ready.
    package enum Condition: String, Hashable, Sendable, CaseIterable, CustomStringConvertible {
        case replay = "the log is still being replayed"
        case journal = "the log cannot be written"
        case partitions = "a partition has stopped"
        case lag = "a partition is more than 30 seconds behind its log"
        case clock = "the wall clock stepped by more than 5 minutes"
        case logTime = "the clock is behind the log's newest entry, and the log's time stands still until it is past it"
        case listeners = "a listener is not bound yet"
        case draining = "the gateway is shutting down"

        package var description: String { self.rawValue }

        /// A word for programs.
        package var name: String {
            switch self {
            case .replay: "replay"
            case .journal: "journal"
            case .partitions: "partitions"
            case .lag: "lag"
            case .clock: "clock"
            case .logTime: "logTime"
            case .listeners: "listeners"
            case .draining: "draining"
            }
        }
    }

    private let unmet: Mutex<Set<Condition>>
    private let start = Mutex<String?>(nil)

    /// Not ready: nothing has started yet.
    package init() {
        self.unmet = Mutex([.replay, .listeners])
    }

    package func set(_ condition: Condition, met isMet: Bool) {
        self.unmet.withLock { unmet in
            if isMet { unmet.remove(condition) } else { unmet.insert(condition) }
        }
    }

    /// What is missing, in the order of the cases; empty if the gateway is ready.
    package var missing: [Condition] {
        let unmet = self.unmet.withLock { $0 }
        return Condition.allCases.filter { unmet.contains($0) }
    }

    /// How far the replay is, in words; nil once it is over.
    package var progress: String? {
        get { self.start.withLock { $0 } }
        set { self.start.withLock { $0 = newValue } }
    }

    package var isReady: Bool { self.missing.isEmpty }
}
