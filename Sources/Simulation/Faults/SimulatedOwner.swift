import Engine
import Journaling
import WidgetModel

/// The owner of a partition, as a gateway has one: applies the log and commits what comes out.
struct SimulatedOwner: Sendable {
    let partition: PartitionID
    var engine: Engine
    var applied = LogPosition.start
    var lastOutput: OutputPosition?
    /// What came out and is not in the output log yet.
    var uncommitted: [Effect] = []
    /// What is on its way to the output log.
    var committing: [Effect] = []
    var isCommitting = false
    /// When its next tick is to be appended, in milliseconds, if one is planned.
    var tickAt: Int64?

    /// - Parameter seed: Hides where tables keep their rows; another one at every start, since nothing may depend on it.
    init(partition: PartitionID, partitions: Int, seed: UInt64) {
        self.partition = partition
        self.engine = Engine(partition: partition, partitions: partitions, seed: seed)
    }

    /// A reload that came out of a record, with the budget right behind it if it was charged.
    struct Issued: Sendable {
        let reload: ReloadEffect
        let budget: BudgetView?
    }

    /// Applies an entry.
    ///
    /// - Parameters:
    ///   - entry: The one after the last.
    ///   - logTime: The entry's own, unless a mutation knows better.
    /// - Returns: What it issued.
    mutating func apply(_ entry: LogEntry, logTime: Instant) throws(EngineFault) -> [Issued] {
        var output = EngineOutput()
        var issued: [Issued] = []
        var index = 0
        for range in entry.records {
            try self.engine.apply(
                entry.bytes,
                in: range,
                recordIndex: index,
                at: entry.position,
                logTime: logTime,
                into: &output
            )
            for case .reload(let reload) in output.effects.dropFirst(issued.count) {
                let budget = reload.isCharged ? self.engine.instance(reload.id.instance)?.budget : nil
                issued.append(Issued(reload: reload, budget: budget))
            }
            index += 1
        }
        self.applied = entry.position
        self.uncommitted += output.effects
        return issued
    }

    /// The next output record: everything that is not committed yet.
    func outputRecord() -> OutputRecord {
        var writer = ByteWriter()
        writer.write(each: self.uncommitted) { $1.encode(into: &$0) }
        return OutputRecord(
            through: self.applied,
            engineVersion: UInt32(Engine.version),
            runningHash: self.engine.runningHash,
            effects: writer.bytes
        )
    }

    /// The reloads that an output record holds, nil if it is damaged.
    static func reloads(of record: OutputRecord) -> [ReloadEffect]? {
        var reader = ByteReader(record.effects)
        let effects = try? reader.readEach { (reader) throws(ByteFault) in try Effect(from: &reader) }
        return effects?.compactMap { $0.reload }
    }
}

extension Effect {
    /// The reload that a host on a stream is told of, nil for effects that go elsewhere.
    var reload: ReloadEffect? {
        if case .reload(let reload) = self { reload } else { nil }
    }
}
