import Engine
import Journaling
import Ownership
import Serving
import Synchronization
import WidgetModel

/// Counts the outputs that tests tell streams of: one sequence for all.
private let lastOutput = Atomic<UInt64>(0)

extension HostStreams {
    /// Streams of a log whose outputs are told from now on.
    static func begun(_ limits: Limits = Limits(), log: String = "test", partitions: Int = 1, seed: UInt64 = 1)
        -> HostStreams
    {
        let format = JournalFormat(journalID: log, partitions: partitions, createdAt: Sports.start)
        let streams = HostStreams(limits: limits, of: format, seed: seed)
        for number in 0..<partitions { streams.begin(PartitionID(UInt16(number)), at: .first) }
        return streams
    }

    /// Tells of what effects have brought, as one output.
    func publish(_ events: [HostEvent], of partition: UInt16 = 0) {
        let effects = events.compactMap { event -> Effect? in
            switch event {
            case .reload(let reload): .reload(reload)
            case .invalidation(let invalidation): .invalidation(invalidation)
            case .placeholder, .entry: nil
            }
        }
        let position = OutputPosition(lastOutput.add(1, ordering: .relaxed).newValue)
        self.publish(CommittedEffects(effects, at: position), of: PartitionID(partition))
    }
}
