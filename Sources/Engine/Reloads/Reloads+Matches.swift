import Storage
import WidgetModel

/// A chain of pushes in the order of their acceptance: those that wait for an instance, or those that a reload serves.
struct MatchList: Sendable {
    var head = MatchNumber.none
    var tail = MatchNumber.none
    var count: UInt32 = 0
}

/// The pushes that wait or are served, one match for each instance that a push matched, threaded by ``MatchList``s.
///
/// The matches of one push that wait are threaded, too, so that its sender can be told why. Their order is no part of the state:
/// another engine with the same state may have another.
extension Reloads {
    struct Match: Sendable {
        /// The push's row in the ledger.
        let push: PushNumber
        /// The instance that it waits for; none once a reload serves it.
        var instance: InstanceNumber
        var next = MatchNumber.none
        var previous = MatchNumber.none
        /// The neighbours among those of the same push that wait.
        var nextOfPush = MatchNumber.none
        var previousOfPush = MatchNumber.none
        /// A hash of the collapse id, 0 if the push has none.
        let collapseTag: UInt32
        /// The match ends then if it still waits.
        let expiresAt: Instant
        let priority: Priority
        /// Whether its not-before was still to come when it was accepted.
        let isScheduled: Bool
    }

    @inline(__always)
    subscript(match: MatchNumber) -> Match {
        _read { yield self.matches[match] }
    }

    /// Walks a list that does not change meanwhile, the oldest first.
    @inline(__always)
    func forEach(in list: MatchList, _ body: (MatchNumber, Match) -> Void) {
        var match = list.head
        while !match.isNone {
            let row = self.matches[match]
            body(match, row)
            match = row.next
        }
    }

    /// The highest priority on a list; nil if that is empty.
    func highestPriority(in list: MatchList) -> Priority? {
        var highest: Priority?
        self.forEach(in: list) { _, row in
            if row.priority.rawValue > highest?.rawValue ?? 0 { highest = row.priority }
        }
        return highest
    }

    /// Fetches a match that is about to be read.
    @inline(__always)
    func prefetch(_ match: MatchNumber) { self.matches.prefetch(match) }

    /// The first of the matches of a push that wait; ``Match/nextOfPush`` leads to the others. O(1).
    func firstWaiting(of push: PushNumber) -> MatchNumber {
        push.index < self.waiting.count ? self.waiting[push.index] : .none
    }

    /// Makes a match that waits a neighbour of those of its push.
    private mutating func join(_ match: MatchNumber) {
        let push = self.matches[match].push.index
        if push >= self.waiting.count {
            self.waiting.append(repeating: .none, count: push + 1 - self.waiting.count)
        }
        let first = self.waiting[push]
        self.matches[match].nextOfPush = first
        self.matches[match].previousOfPush = .none
        if !first.isNone { self.matches[first].previousOfPush = match }
        self.waiting[push] = match
    }

    /// Joins all matches that wait, as after they were read back. O(matches).
    mutating func joinAll() {
        for match in self.matches.usedNumbers() where !self.matches[match].instance.isNone { self.join(match) }
    }

    /// Takes a match out of the waiting ones of its push. Does nothing if it does not wait. O(1).
    mutating func stopWaiting(_ match: MatchNumber) {
        let row = self.matches[match]
        guard !row.instance.isNone else { return }
        if row.previousOfPush.isNone {
            self.waiting[row.push.index] = row.nextOfPush
        } else {
            self.matches[row.previousOfPush].nextOfPush = row.nextOfPush
        }
        if !row.nextOfPush.isNone { self.matches[row.nextOfPush].previousOfPush = row.previousOfPush }
        self.matches[match].instance = .none
    }

    /// Adds a match that waits at the end of a list. O(1).
    mutating func append(_ row: Match, to list: inout MatchList) {
        let match = self.matches.insert(row)
        self.join(match)
        self.thread(match, behind: &list)
    }

    /// Takes a match out of its list and forgets it. O(1).
    mutating func remove(_ match: MatchNumber, from list: inout MatchList) {
        self.stopWaiting(match)
        self.unlink(match, from: &list)
        self.matches.release(match)
    }

    /// Moves a match from its list to the end of another. It waits as before, until ``stopWaiting(_:)``. O(1).
    mutating func move(_ match: MatchNumber, from list: inout MatchList, to other: inout MatchList) {
        self.unlink(match, from: &list)
        self.thread(match, behind: &other)
    }

    /// Puts another push in a match's place in its list. O(1).
    mutating func replace(_ match: MatchNumber, with other: Match) {
        self.stopWaiting(match)
        var other = other
        other.next = self.matches[match].next
        other.previous = self.matches[match].previous
        self.matches[match] = other
        self.join(match)
    }

    /// Forgets the matches of a list that nothing refers to any more. O(matches).
    mutating func release(_ list: MatchList) {
        var match = list.head
        while !match.isNone {
            let next = self.matches[match].next
            self.stopWaiting(match)
            self.matches.release(match)
            match = next
        }
    }

    private mutating func thread(_ match: MatchNumber, behind list: inout MatchList) {
        self.matches[match].next = .none
        self.matches[match].previous = list.tail
        if list.tail.isNone { list.head = match } else { self.matches[list.tail].next = match }
        list.tail = match
        list.count += 1
    }

    private mutating func unlink(_ match: MatchNumber, from list: inout MatchList) {
        let (previous, next) = (self.matches[match].previous, self.matches[match].next)
        if previous.isNone { list.head = next } else { self.matches[previous].next = next }
        if next.isNone { list.tail = previous } else { self.matches[next].previous = previous }
        list.count -= 1
    }
}
