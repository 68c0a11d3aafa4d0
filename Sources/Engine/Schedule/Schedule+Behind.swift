import Storage
import WidgetModel

/// Which instances are behind, and since when.
extension Schedule {
    /// Since when an instance is behind, to the second; nil if it is not.
    func behindSince(_ instance: InstanceNumber) -> Instant? {
        let number = self.resting[instance.index].active
        guard self.active[number].behind != nil else { return nil }
        return Instant(seconds: Int64(self.active[owner: number].since))
    }

    /// Counts a live instance of a kind that comes, or goes.
    mutating func countLive(_ kind: KindNumber, _ change: Int) { self.behind.countLive(kind, change) }

    /// The counts of a kind, see ``BehindTable/read(_:now:goal:)``.
    func countsBehind(
        _ kind: KindNumber,
        now: UInt32,
        goal: Int
    ) -> (live: Int, counts: [Int], late: Int, oldest: UInt32?) {
        self.behind.read(kind, now: now, goal: goal)
    }

    /// Gives active instances from a number on to `body`, until it returns false. O(`count`).
    ///
    /// - Parameters:
    ///   - start: Where to begin: 0, or the number that the last call returned.
    ///   - count: How many numbers to look at.
    ///   - body: Takes an instance, and returns whether to go on.
    /// - Returns: The number to go on with; nil at the end.
    func forEachActive(
        from start: Number<ActiveRow>,
        atMost count: Int,
        _ body: (InstanceNumber) -> Bool
    ) -> Number<ActiveRow>? {
        let range = self.active.numbers(from: start, atMost: count)
        var number = range.lowerBound
        while number < range.upperBound {
            let instance = self.active[owner: number].instance
            number = number.advanced(by: 1)
            if !instance.isNone, !body(instance) { break }
        }
        return number.index < self.active.end ? number : nil
    }

    /// Counts an active instance that was read back and is not counted yet: its row says since when it is behind.
    mutating func countRestored(
        _ instance: InstanceNumber,
        as reason: BehindReason?,
        of kind: KindNumber,
        at now: Instant
    ) {
        let number = self.resting[instance.index].active
        let second = UInt32(clamping: now.seconds)
        self.behind.advance(to: second)
        // A row that was written names no later time than now.
        let since = min(second, self.active[owner: number].since)
        self.active[number].behind = reason
        self.active[owner: number].since = reason == nil ? 0 : since
        if let reason { self.behind.add(kind, reason, since: since) }
    }

    /// An instance of the registry, and how it is to be counted.
    struct Counted {
        let instance: InstanceNumber
        let kind: KindNumber
        let isLive: Bool
        let reason: BehindReason?
    }

    /// The faults of the counts: they must equal a count over all instances, and each instance must be counted with its own reason.
    /// O(instances).
    func checkBehind(_ all: [Counted], now: Instant) -> [String] {
        var faults: [String] = []
        var table = BehindTable()
        var active = 0
        table.advance(to: self.behind.second)
        for one in all {
            if one.isLive { table.countLive(one.kind, 1) }
            let number = self.resting[one.instance.index].active
            guard number != ActiveTable.rest else { continue }
            active += 1
            let owner = self.active[owner: number]
            if owner.instance != one.instance { faults.append("the active row of \(one.instance) is another's") }
            if self.active[number].behind != one.reason {
                faults.append("\(one.instance): behind \(String(describing: one.reason)), counted otherwise")
            }
            if (one.reason == nil) != (owner.since == 0) || Int64(owner.since) > now.seconds {
                faults.append("\(one.instance): behind since \(owner.since)")
            }
            if let reason = one.reason { table.add(one.kind, reason, since: owner.since) }
        }
        if !table.counts(sameAs: self.behind) { faults.append("those that are behind are miscounted") }
        if active != self.active.count {
            faults.append("\(self.active.count) active rows, \(active) of them instances'")
        }
        return faults
    }
}
