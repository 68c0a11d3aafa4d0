import Engine
import Journaling
import Timelines
import WidgetModel

/// Watches a run from outside and holds it to what is promised. It remembers what a gateway that dies forgets.
struct FaultChecker: Sendable {
    private struct Charge: Sendable {
        let id: ReloadID
        let at: Instant
        let windowStart: Instant
        let allowance: Int
    }

    /// A committed reload that its host has to get while its connection lasts.
    private struct Debt: Sendable {
        let host: Int
        let session: Int
        let due: Int64
    }

    private(set) var violations: [String] = []
    /// Pushes whose acceptance a gateway was told of, with the partitions that they went to.
    private(set) var accepted: [(id: PushID, partitions: [PartitionID])] = []
    private var acceptedIDs: Set<PushID> = []
    /// By partition: the running hash after each position.
    private var hashes: [[LogPosition: UInt64]]
    /// Every reload that was ever issued, looked up only.
    private var issued: [ReloadID: ReloadEffect] = [:]
    private var committed: Set<ReloadID> = []
    private var outputsRead: [OutputPosition]
    private var received: Set<ReloadID> = []
    private var reloaded: Set<ReloadID> = []
    private var refused: Set<ReloadID> = []
    private var charges: [InstanceAddress: [Charge]] = [:]
    private var debts: [ReloadID: Debt] = [:]
    private let policy: BudgetPolicy
    private static let violationsMax = 20

    init(partitions: Int, policy: BudgetPolicy) {
        self.hashes = Array(repeating: [:], count: partitions)
        self.outputsRead = Array(repeating: .first, count: partitions)
        self.policy = policy
    }

    mutating func fault(_ sentence: String) {
        if self.violations.count < Self.violationsMax { self.violations.append(sentence) }
    }

    // MARK: What is accepted

    mutating func noteAccepted(_ push: PushID, _ partitions: [PartitionID]) {
        guard self.acceptedIDs.insert(push).inserted else { return }
        self.accepted.append((push, partitions))
    }

    /// Everything that was accepted is known, once, and adds up.
    mutating func checkAccepted(_ owners: [SimulatedOwner], team: TeamID) {
        for (id, partitions) in self.accepted {
            for partition in partitions {
                let views = owners[Int(partition.rawValue)].engine.push(id, team: team)
                guard views.count == 1, let view = views.first else {
                    self.fault("push \(id) was accepted, and partition \(partition) knows \(views.count) of it")
                    continue
                }
                if view.matched != view.counts.total {
                    self.fault("push \(id): \(view.matched) matched, \(view.counts.total) outcomes")
                }
            }
        }
    }

    // MARK: What is applied and committed

    /// An entry was applied, for the first time or again.
    mutating func noteApplied(_ issued: [SimulatedOwner.Issued]) {
        for issue in issued {
            let reload = issue.reload
            if let before = self.issued[reload.id] {
                if before != reload { self.fault("\(reload.id) came out differently when its log was replayed") }
                continue
            }
            self.issued[reload.id] = reload
            guard let budget = issue.budget else { continue }
            self.charges[reload.id.instance, default: []].append(
                Charge(
                    id: reload.id,
                    at: reload.issuedAt,
                    windowStart: budget.windowStart,
                    allowance: budget.allowance
                )
            )
        }
    }

    /// An entry was applied to its end: the same log has the same hash every time.
    mutating func noteEntry(_ partition: PartitionID, _ position: LogPosition, hash: UInt64) {
        let before = self.hashes[Int(partition.rawValue)].updateValue(hash, forKey: position)
        if let before, before != hash {
            self.fault("partition \(partition): another state at position \(position) than the first time")
        }
    }

    /// Reads what was committed since the last call: each reload is in the output log once.
    mutating func readOutputs(_ journal: MemoryJournal) {
        for partition in self.outputsRead.indices {
            let id = PartitionID(UInt16(partition))
            guard
                let outputs = try? journal.readOutputs(id, from: self.outputsRead[partition], outputsMax: .max)
            else { continue }
            for output in outputs {
                self.outputsRead[partition] = output.position.next
                guard let reloads = SimulatedOwner.reloads(of: output.record) else {
                    self.fault("output \(output.position) of partition \(id) cannot be read")
                    continue
                }
                for reload in reloads where !self.committed.insert(reload.id).inserted {
                    self.fault("\(reload.id) was committed twice: one charge would be two")
                }
            }
        }
    }

    // MARK: What reaches hosts

    /// A reload was committed while its host held a connection: it has to come over that.
    mutating func expect(_ reload: ReloadEffect, host: Int, session: Int, by due: Int64) {
        self.debts[reload.id] = Debt(host: host, session: session, due: due)
    }

    mutating func noteReceived(_ reload: ReloadEffect) {
        if !self.committed.contains(reload.id) { self.fault("\(reload.id) reached its host before it was committed") }
        self.received.insert(reload.id)
        self.debts[reload.id] = nil
    }

    /// A host reloads.
    mutating func noteReloaded(_ reload: ReloadEffect) {
        if !self.reloaded.insert(reload.id).inserted { self.fault("\(reload.id) was done twice, and charged once") }
    }

    /// A host did not reload, and the gateway may have given the charge back.
    mutating func noteRefused(_ reload: ReloadEffect) { self.refused.insert(reload.id) }

    /// Everything that had to reach a host by now has, unless its connection broke.
    mutating func checkDebts(at now: Int64, sessions: [Int?]) {
        let late = self.debts.filter { $0.value.due <= now }
        for id in late.keys.sorted(by: { $0.description < $1.description }) {
            if let debt = late[id], sessions[debt.host] == debt.session {
                self.fault("\(id) was committed and never reached its host")
            }
            self.debts[id] = nil
        }
    }

    // MARK: Budgets

    /// Charges of each instance: within the allowance of their window, and apart.
    mutating func checkBudgets() {
        let allowanceMax = self.policy.learning.factor.roundedDown(of: self.policy.frequent) * 25 / 24 + 1
        for address in self.charges.keys.sorted() {
            guard let charges = self.charges[address] else { continue }
            for (early, late) in zip(charges, charges.dropFirst())
            where late.at - early.at < self.policy.minimumInterval {
                self.fault("\(early.id) and \(late.id) were charged within the minimum interval")
            }
            var counts: [Instant: (count: Int, allowance: Int)] = [:]
            for charge in charges where !self.refused.contains(charge.id) {
                let before = counts[charge.windowStart] ?? (0, 0)
                counts[charge.windowStart] = (before.count + 1, max(before.allowance, charge.allowance))
            }
            for window in counts.keys.sorted() {
                guard let (count, allowance) = counts[window] else { continue }
                if count > allowance { self.fault("\(address): \(count) charged of \(allowance) in a window") }
                if allowance > allowanceMax { self.fault("\(address): an allowance of \(allowance)") }
            }
        }
    }

    /// The engines' books, against what came out of them.
    mutating func checkBooks(_ owners: [SimulatedOwner]) {
        for owner in owners {
            for sentence in owner.engine.checkInvariants() { self.fault("partition \(owner.partition): \(sentence)") }
            let stats = owner.engine.stats()
            let charged = self.issued.values.count { $0.id.partition == owner.partition && $0.isCharged }
            if stats.reloadsCharged != charged {
                self.fault("partition \(owner.partition): \(stats.reloadsCharged) charges for \(charged) reloads")
            }
            if stats.matched != stats.outcomes.total {
                self.fault("partition \(owner.partition): \(stats.matched) matched, \(stats.outcomes.total) outcomes")
            }
        }
    }
}
