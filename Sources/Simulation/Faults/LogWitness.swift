import Engine
import Journaling
import Ownership
import WidgetModel

/// A reading of one partition's log that nothing disturbs: an engine of its own, record by record and each whole.
///
/// Every owner must have these effects and states, with any slices and after any restarts.
final class LogWitness {
    let partition: PartitionID
    private(set) var engine: Engine
    /// By position from 1: the effects of the entries, and the engine's hash behind them.
    private(set) var effects: [[Effect]] = []
    private(set) var hashes: [UInt64] = []

    /// - Parameter seed: Hides where tables keep their rows, on which nothing may depend.
    init(partition: PartitionID, partitions: Int, seed: UInt64) {
        self.partition = partition
        self.engine = Engine(partition: partition, partitions: partitions, seed: seed)
    }

    var applied: LogPosition { LogPosition(UInt64(self.effects.count)) }

    /// The effects of an entry.
    struct Applied: Sendable {
        var issued: [Issued] = []
        /// The pushes to tokens, whose reloads are among ``issued``.
        var pushes: [TokenPush] = []
        /// The timelines that came for no outstanding reload.
        var additional: [Additional] = []
    }

    /// A timeline that came for a reload that is over: its budget before it and behind it.
    struct Additional: Sendable {
        let report: TimelineReport
        let before: BudgetView
        let after: BudgetView?

        var address: InstanceAddress { InstanceAddress(host: self.report.host, instance: self.report.instance) }
    }

    /// A reload that came out of a record.
    struct Issued: Sendable {
        let reload: ReloadEffect
        /// Its part in the push of another instance, if it was brought along by one.
        let collateral: Collateral?
        /// Whether it is a reload of its own, and not one that shares the push of another.
        let isTrigger: Bool
        /// The budget right behind it, nil if the reload is exempt.
        let budget: BudgetView?

        /// Whether the instance's budget pays for it.
        var isCharged: Bool { self.reload.isCharged && self.collateral != .over }
    }

    /// Reads the entry after the last.
    func read(_ entry: LogEntry) throws(EngineError) -> Applied {
        var effects: [Effect] = []
        var applied = Applied()
        var run = EntryRun(entry)
        while true {
            let timeline = self.additional(run.next, of: entry)
            guard let output = try run.applyNext(&self.engine) else { break }
            if let (report, before) = timeline {
                let address = InstanceAddress(host: report.host, instance: report.instance)
                let after = self.engine.instance(address)?.budget
                applied.additional.append(Additional(report: report, before: before, after: after))
            }
            effects += output.effects
            for effect in output.effects {
                if case .push(let push) = effect { applied.pushes.append(push) }
                for (reload, collateral) in effect.parts {
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
        }
        self.effects.append(effects)
        self.hashes.append(self.engine.runningHash)
        return applied
    }

    /// The timeline of a record, if it is for a reload that is over, and the budget of its instance.
    private func additional(_ range: Range<Int>?, of entry: LogEntry) -> (TimelineReport, BudgetView)? {
        guard let range, entry.bytes[range.lowerBound] == Record.Tag.timeline.rawValue else { return nil }
        var reader = ByteReader(entry.bytes, in: range)
        guard case .timeline(let report)? = try? Record(from: &reader), let reload = report.reload,
            ReloadEffect.find(reload, in: self.engine) == nil
        else { return nil }
        let address = InstanceAddress(host: report.host, instance: report.instance)
        return self.engine.instance(address).map { (report, $0.budget) }
    }

    /// The engine's hash behind an entry; nil for one that was not read.
    func hash(at position: LogPosition) -> UInt64? {
        position == .start || position > self.applied ? nil : self.hashes[Int(position.rawValue) - 1]
    }

    /// The effects of an entry; nil for one that was not read.
    func effects(at position: LogPosition) -> [Effect]? {
        position == .start || position > self.applied ? nil : self.effects[Int(position.rawValue) - 1]
    }
}

extension Effect {
    /// The reloads that it tells of, each with its part in a push for another instance.
    var parts: [(reload: ReloadEffect, collateral: Collateral?)] {
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
