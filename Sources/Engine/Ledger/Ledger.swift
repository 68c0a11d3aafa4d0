import Storage
import WidgetModel

/// The books: pushes with their outcomes, the repeats among them, the cost of each sender, the senders whose pushes an order holds, and the
/// decisions about instances.
///
/// The ledger keeps the conservation of pushes: the outcomes of a push add up to the instances that it matched. Callers say which instances
/// wait, and which pushes a reload serves.
struct Ledger: ~Copyable, Sendable {
    typealias Push = PushTable.Row
    typealias Decision = DecisionLog.Entry

    /// The number of no decision.
    static let noDecision = DecisionLog.none

    private(set) var pushes: PushTable
    private(set) var repeats: RepeatWindow
    private(set) var decisions: DecisionLog
    private(set) var accounts = SenderAccounts()
    /// Teams whose pushes wait, and until when. Looked up only, never iterated into an answer.
    private(set) var senderPauses: [TeamNumber: Instant] = [:]
    /// Nil but between two slices of ``resize(to:_:)``.
    private var rings: Rings?

    /// - Parameter seed: Hides the places of rows from untrusted peers; no result depends on it.
    init(seed: UInt64) {
        self.pushes = PushTable(seed: seed)
        self.repeats = RepeatWindow(capacity: EngineLimits().repeatEntriesMax, seed: seed)
        self.decisions = DecisionLog(capacity: EngineLimits().decisionsRetainedMax)
    }

    /// A ledger that was read back, without the pauses of senders.
    init(
        pushes: consuming PushTable,
        repeats: consuming RepeatWindow,
        decisions: consuming DecisionLog,
        accounts: SenderAccounts
    ) {
        self.pushes = pushes
        self.repeats = repeats
        self.decisions = decisions
        self.accounts = accounts
    }

    /// Notes the memory of its tables.
    func measure(_ bytes: inout TableBytes) {
        bytes[.pushes] = self.pushes.byteCount
        bytes[.repeats] = self.repeats.byteCount
        bytes[.decisions] = self.decisions.byteCount
    }
}

// MARK: - Capacities

extension Ledger {
    /// The rings at other capacities, while they are filled.
    fileprivate struct Rings: ~Copyable, Sendable {
        var repeats: RepeatWindow
        var decisions: DecisionLog
    }

    /// Gives the rings of repeats and decisions the capacities of these limits, slice by slice: fills new rings with the newest entries,
    /// and puts them in place when they are full or have all.
    ///
    /// - Parameter units: The most units; afterwards, the unused rest.
    /// - Returns: Whether the rings have these capacities now.
    mutating func resize(to limits: EngineLimits, _ units: inout Int) -> Bool {
        var rings =
            self.rings.take()
            ?? Rings(
                repeats: self.repeats.successor(capacity: limits.repeatEntriesMax),
                decisions: self.decisions.successor(capacity: limits.decisionsRetainedMax)
            )
        guard rings.repeats.fill(from: self.repeats, &units), rings.decisions.fill(from: self.decisions, &units) else {
            self.rings = consume rings
            return false
        }
        if rings.repeats.capacity != self.repeats.capacity { swap(&self.repeats, &rings.repeats) }
        if rings.decisions.capacity != self.decisions.capacity { swap(&self.decisions, &rings.decisions) }
        return true
    }
}

// MARK: - Pushes

extension Ledger {
    /// A push that is kept.
    @inline(__always)
    subscript(push: PushNumber) -> Push {
        _read { yield self.pushes[push] }
    }

    /// Fetches where a push of an id is looked up, and where it goes.
    @inline(__always)
    func prefetchPush(_ id: PushID) {
        self.repeats.prefetch(id)
        self.pushes.prefetch(id)
    }

    /// How many pushes are remembered, whose repeats are recognised, and when the oldest of them was accepted.
    var remembered: (count: Int, since: Instant?) { (self.repeats.entries.count, self.repeats.start) }

    /// Whether a push of this id and key was accepted lately.
    func isRepeat(_ id: PushID, key: UInt64) -> Bool { self.repeats.find(id, key: key) != nil }

    /// Counts a push that was accepted before.
    ///
    /// - Returns: How many instances the first one matched; nil if there is none, and nothing was counted.
    mutating func countRepeat(_ head: PushHead, key: UInt64, team: TeamNumber, isCounted: Bool) -> Int? {
        guard let known = self.repeats.find(head.id, key: key) else { return nil }
        self.accounts[team].repeats += isCounted ? 1 : 0
        self.pushes.countRepeat(of: head.id, team: team, contentHash: head.contentHash)
        return self.repeats.matched(known)
    }

    /// Opens a push that was just accepted; ``closePush(_:repeatSlot:isCounted:at:)`` it when matching is over.
    ///
    /// - Parameters:
    ///   - push: The push.
    ///   - collapseID: Empty for none.
    ///   - key: By which a repeat of it is known, beside its id.
    mutating func openPush(_ push: consuming Push, collapseID: ArraySlice<UInt8>, key: UInt64)
        -> (number: PushNumber, repeatSlot: Int)
    {
        let (id, acceptedAt) = (push.id, push.acceptedAt)
        let number = self.pushes.open(push, collapseID: collapseID)
        return (number, self.repeats.insert(id, key: key, at: acceptedAt))
    }

    /// Notes why an open push is decided for no instance. Close it then as any other.
    mutating func failPush(_ push: PushNumber, _ failure: PushFailure) { self.pushes.fail(push, failure) }

    /// Ends the matching of a push, and puts it on its sender's account.
    ///
    /// - Parameter isCounted: Whether the push itself is counted here, and not by some other partition.
    /// - Returns: How many instances it matched.
    mutating func closePush(_ push: PushNumber, repeatSlot: Int, isCounted: Bool, at now: Instant) -> Int {
        self.pushes.close(push, at: now)
        self.accounts.countPush(self.pushes[push], isCounted: isCounted)
        let matched = Int(self.pushes[push].matched)
        self.repeats.setMatched(repeatSlot, matched)
        return matched
    }

    /// Counts one more match of an open push, which starts with this outcome. If that is `failed`, call ``countFailure(of:_:)`` as well.
    @inline(__always)
    mutating func countMatch(of push: PushNumber, as outcome: PushOutcome) {
        self.pushes.countMatch(of: push, as: outcome)
    }

    /// An instance's push goes from one outcome to the next. Precondition: the old one is not final, and counted. If the new
    /// one is `failed`, call ``countFailure(of:_:)`` as well.
    @inline(__always)
    mutating func moveOutcome(of push: PushNumber, from old: PushOutcome, to new: PushOutcome, at now: Instant) {
        self.pushes.moveOutcome(of: push, from: old, to: new, at: now)
    }

    /// Notes why a match failed, beside its outcome `failed`: the reasons add up to that.
    mutating func countFailure(of push: PushNumber, _ reason: FailureReason) {
        self.pushes.countFailure(of: push, reason)
    }

    /// Forgets the pushes that completed first: those above `max`, and those that completed before `instant`.
    ///
    /// - Parameter units: How many at most; afterwards, how many of them are left.
    mutating func evictPushes(above max: Int, completedBefore instant: Instant, atMost units: inout Int) {
        self.pushes.evict(above: max, completedBefore: instant, atMost: &units)
    }

    /// The pushes that completed first and last of those that are kept, and how many there are.
    var completed: (first: PushNumber, last: PushNumber, count: Int) {
        let sums = self.pushes.sums
        return (sums.complete.first, sums.complete.last, sums.completeCount)
    }
}

// MARK: - Senders

extension Ledger {
    /// Until when nothing that a team sends reloads; `.distantPast` if it is not paused.
    @inline(__always)
    func pausedUntil(_ team: TeamNumber) -> Instant {
        self.senderPauses.isEmpty ? .distantPast : self.senderPauses[team] ?? .distantPast
    }

    /// Whether any sender may be paused.
    @inline(__always)
    var hasPausedSenders: Bool { !self.senderPauses.isEmpty }

    /// Nothing that a team sends reloads until then; `.distantPast` lifts the pause.
    mutating func pauseSender(_ team: TeamNumber, until: Instant) {
        self.senderPauses[team] = until == .distantPast ? nil : until
    }

    /// Forgets the pauses that are over. O(pauses).
    @inline(__always)
    mutating func endPauses(at now: Instant) {
        if !self.senderPauses.isEmpty { self.senderPauses = self.senderPauses.filter { $0.value > now } }
    }

    /// Books a reload on the account of the sender whose push made it happen.
    mutating func chargeSender(of push: PushNumber, isExempt: Bool) {
        let team = self.pushes[push].team
        if isExempt { self.accounts[team].exempt += 1 } else { self.accounts[team].charged += 1 }
    }

    /// Books reloads of other instances on the account of the sender whose push brought them.
    mutating func chargeCollateral(of push: PushNumber, conforming: Int, over: Int) {
        let team = self.pushes[push].team
        self.accounts[team].collateral += conforming
        self.accounts[team].collateralOver += over
    }
}

// MARK: - Decisions

extension Ledger {
    /// - Returns: The decision's number.
    mutating func recordDecision(_ decision: consuming Decision) -> UInt64 { self.decisions.append(decision) }

    /// Whether every decision since an instant is kept: none was evicted, or only earlier ones were.
    func keepsDecisions(since instant: Instant) -> Bool {
        guard self.decisions.oldest > 0 else { return true }
        return self.decisions[self.decisions.oldest].map { $0.at < instant } ?? false
    }
}

// MARK: - Totals

extension Ledger {
    /// Fills in the ledger's counts.
    func count(into stats: inout EngineStats) {
        let sums = self.pushes.sums
        stats.pushesRetained = self.pushes.count
        stats.pushesIncomplete = self.pushes.incompleteCount
        stats.matched = sums.matched
        for outcome in PushOutcome.allCases { stats.outcomes[outcome] = sums.totals[Int(outcome.rawValue)] }
        for reason in FailureReason.allCases { stats.outcomes[reason] = sums.failures[Int(reason.rawValue)] }
        stats.decisions = self.decisions.count
        stats.decisionsEvicted = self.decisions.evicted
    }

    /// The violated invariants; empty unless there is a bug. O(pushes).
    ///
    /// - Parameter isRecordDone: Whether no record is being applied: then no push is open.
    func checkInvariants(isRecordDone: Bool) -> [String] {
        var faults: [String] = []
        let sums = self.pushes.sums
        let total = PushOutcome.allCases.reduce(0) { $0 + sums.totals[Int($1.rawValue)] }
        if total != sums.matched { faults.append("\(sums.matched) matched, \(total) outcomes") }
        var complete = 0
        for push in self.pushes.rows.usedNumbers() {
            let row = self.pushes[push]
            if row.isComplete { complete += 1 }
            let sum = PushOutcome.allCases.reduce(UInt32(0)) { $0 + row.counts[Int($1.rawValue)] }
            if sum != row.matched { faults.append("push \(row.id): matched \(row.matched), outcomes \(sum)") }
            if row.isOpen, isRecordDone { faults.append("push \(row.id): still open") }
            if row.failure != nil, row.matched != 0 {
                faults.append("push \(row.id): failed, and matched \(row.matched)")
            }
            let failures = FailureReason.allCases.reduce(UInt32(0)) { $0 + row.failures[Int($1.rawValue)] }
            if failures != row.counts[Int(PushOutcome.failed.rawValue)] {
                faults.append("push \(row.id): failures differ")
            }
        }
        if complete != sums.completeCount {
            faults.append("\(complete) pushes complete, \(sums.completeCount) of them listed")
        }
        return faults
    }
}
