package import NIOCore
import Synchronization
import WidgetModel

/// Whether the gateway can do its work, and if not, why not.
package final class Readiness: Sendable {
    /// Something that must hold before the gateway is ready.
    package enum Condition: String, Hashable, Sendable, CaseIterable, CustomStringConvertible {
        case replay = "the log is still being replayed"
        case journal = "the log cannot be written"
        case partitions = "a partition has stopped"
        case lag = "a partition is more than 30 seconds behind its log"
        case clock = "the wall clock stepped by more than 5 minutes"
        case logTime =
            "the clock is behind the log's newest entry, and the log's time stands still until the clock has passed it"
        case listeners = "a listener is not bound yet"
        case draining = "the gateway is shutting down"

        package var description: String { self.rawValue }

        /// A word for programs: the gateway's state if the condition is met.
        package var name: String {
            switch self {
            case .replay: "replayed"
            case .journal: "logWritable"
            case .partitions: "partitionsRunning"
            case .lag: "partitionsCurrent"
            case .clock: "clockSteady"
            case .logTime: "logTimeRunning"
            case .listeners: "listening"
            case .draining: "serving"
            }
        }
    }

    /// With more about each, in words.
    private let unmet: Mutex<[Condition: String?]>
    private let start = Mutex<String?>(nil)

    private let partitions: [PartitionWork]
    private let now: @Sendable () -> NIODeadline
    /// From how far behind its log a partition makes the gateway not ready.
    private static let lagMax = Interval.seconds(30)

    /// Not ready: nothing has started yet.
    ///
    /// - Parameters:
    ///   - partitions: Asked how far they are behind; they answer, however busy they are.
    ///   - now: The time by which that is told.
    package init(_ partitions: [PartitionWork] = [], now: @escaping @Sendable () -> NIODeadline = { .now() }) {
        self.unmet = Mutex([.replay: nil, .listeners: nil])
        self.partitions = partitions
        self.now = now
    }

    /// How far each partition is behind its log, in their order.
    package var lags: [PartitionWork.Lag] {
        let now = self.now()
        return self.partitions.map { $0.lag(at: now) }
    }

    /// - Parameter detail: More about it while it is not met, in words.
    package func set(_ condition: Condition, met isMet: Bool, detail: String? = nil) {
        self.unmet.withLock { $0[condition] = isMet ? .none : .some(detail) }
    }

    /// The missing conditions, in the order of the cases; empty if the gateway is ready.
    package var missing: [Condition] { self.missing(self.lags) }

    /// The same by lags that were asked for before.
    package func missing(_ lags: [PartitionWork.Lag]) -> [Condition] {
        var unmet = self.unmet.withLock { Set($0.keys) }
        if lags.contains(where: { $0.time > Self.lagMax }) { unmet.insert(.lag) }
        return Condition.allCases.filter { unmet.contains($0) }
    }

    /// Missing conditions for people, with what is known of each.
    package func sentences(_ missing: [Condition]) -> [String] {
        let unmet = self.unmet.withLock { $0 }
        return missing.map { condition in
            unmet[condition]?.map { "\(condition): \($0)" } ?? condition.description
        }
    }

    /// How far the replay is, in words; nil once it is over.
    package var progress: String? {
        get { self.start.withLock { $0 } }
        set { self.start.withLock { $0 = newValue } }
    }

    package var isReady: Bool { self.missing.isEmpty }
}
