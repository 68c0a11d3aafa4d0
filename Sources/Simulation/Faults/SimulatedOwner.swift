import Engine
import Journaling
import WidgetModel

/// The owner of a partition, as a gateway has one: applies the log and commits what comes out.
final class SimulatedOwner {
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

    /// The reloads that nobody may hear of yet.
    var uncommittedReloads: Set<ReloadID> {
        Set((self.committing + self.uncommitted).flatMap { $0.reloads.map(\.reload.id) })
    }

    /// What an entry gave, beside what is to be committed.
    struct Applied: Sendable {
        var issued: [Issued] = []
        /// The pushes to tokens, whose reloads are among ``issued``.
        var pushes: [TokenPush] = []
        var directory: [DirectoryChange] = []
    }

    /// A reload that came out of a record.
    struct Issued: Sendable {
        let reload: ReloadEffect
        /// What it was to the push of another instance, if it was brought along by one.
        let collateral: Collateral?
        /// Whether it is a reload of its own, and not one that shares the push of another.
        let isTrigger: Bool
        /// The budget right behind it, nil if the reload is exempt.
        let budget: BudgetView?

        /// Whether the instance's budget pays for it.
        var isCharged: Bool { self.reload.isCharged && self.collateral != .over }
    }

    /// Applies an entry.
    ///
    /// - Parameters:
    ///   - entry: The one after the last.
    ///   - logTime: The entry's own, unless a mutation knows better.
    /// - Returns: What it gave.
    func apply(_ entry: LogEntry, logTime: Instant) throws(EngineError) -> Applied {
        var output = EngineOutput()
        var applied = Applied()
        var index = 0
        for range in entry.records {
            let before = output.effects.count
            try self.engine.apply(
                entry.bytes,
                in: range,
                recordIndex: index,
                at: entry.position,
                logTime: logTime,
                into: &output
            )
            for effect in output.effects.dropFirst(before) {
                if case .push(let push) = effect { applied.pushes.append(push) }
                for (reload, collateral) in effect.reloads {
                    let budget = reload.isCharged ? self.engine.instance(reload.address)?.budget : nil
                    let issued = Issued(
                        reload: reload,
                        collateral: collateral,
                        isTrigger: reload.id == effect.trigger,
                        budget: budget
                    )
                    applied.issued.append(issued)
                }
            }
            index += 1
        }
        self.applied = entry.position
        self.uncommitted += output.effects
        applied.directory = output.directory
        return applied
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
        return effects?.flatMap { $0.reloads.map(\.reload) }
    }
}

extension Effect {
    /// The reloads that it tells of, each with what it is to a push for another instance.
    var reloads: [(reload: ReloadEffect, collateral: Collateral?)] {
        switch self {
        case .reload(let reload): [(reload, nil)]
        case .push(let push): push.members.map { ($0.reload, $0.collateral) }
        case .invalidation: []
        }
    }

    /// The reload that is told of, or that a push goes out for.
    var trigger: ReloadID? {
        switch self {
        case .reload(let reload): reload.id
        case .push(let push): push.id
        case .invalidation: nil
        }
    }
}
