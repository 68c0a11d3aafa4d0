import Storage
import WidgetModel

/// A chain of pushes in the order of their acceptance: those that wait for an instance, or those that a reload serves.
struct CauseList: Sendable {
    var head = CauseNumber.none
    var tail = CauseNumber.none
    var count: UInt32 = 0
}

/// The pushes that wait or are served, one cause for each instance that a push matched, threaded by ``CauseList``s.
///
/// The causes of one push that wait are threaded, too, so that its sender can be told why. Their order is no part of the state:
/// another engine with the same state may have another.
extension Reloads {
    struct Cause: Sendable {
        /// The push's row in the ledger.
        let push: PushNumber
        /// The instance that it waits for; none once a reload serves it.
        var instance: InstanceNumber
        var next = CauseNumber.none
        var previous = CauseNumber.none
        /// The neighbours among those of the same push that wait.
        var nextOfPush = CauseNumber.none
        var previousOfPush = CauseNumber.none
        /// A hash of the collapse id, 0 if the push has none.
        let collapseTag: UInt32
        /// The cause ends then if it still waits.
        let expiresAt: Instant
        let priority: Priority
        /// Whether its not-before was still to come when it was accepted.
        let isScheduled: Bool
    }

    @inline(__always)
    subscript(cause: CauseNumber) -> Cause {
        _read { yield self.causes[cause] }
    }

    /// Walks a list that does not change meanwhile, the oldest first.
    @inline(__always)
    func forEach(in list: CauseList, _ body: (CauseNumber, Cause) -> Void) {
        var cause = list.head
        while !cause.isNone {
            let row = self.causes[cause]
            body(cause, row)
            cause = row.next
        }
    }

    /// The highest priority on a list; nil if that is empty.
    func highestPriority(in list: CauseList) -> Priority? {
        var highest: Priority?
        self.forEach(in: list) { _, row in
            if row.priority.rawValue > highest?.rawValue ?? 0 { highest = row.priority }
        }
        return highest
    }

    /// Fetches a cause that is about to be read.
    @inline(__always)
    func prefetch(_ cause: CauseNumber) { self.causes.prefetch(cause) }

    /// The first of the causes of a push that wait; ``Cause/nextOfPush`` leads to the others. O(1).
    func firstWaiting(of push: PushNumber) -> CauseNumber {
        push.index < self.waiting.count ? self.waiting[push.index] : .none
    }

    /// Makes a cause that waits a neighbour of those of its push.
    private mutating func join(_ cause: CauseNumber) {
        let push = self.causes[cause].push.index
        if push >= self.waiting.count {
            self.waiting.append(repeating: .none, count: push + 1 - self.waiting.count)
        }
        let first = self.waiting[push]
        self.causes[cause].nextOfPush = first
        self.causes[cause].previousOfPush = .none
        if !first.isNone { self.causes[first].previousOfPush = cause }
        self.waiting[push] = cause
    }

    /// Joins all causes that wait, as after they were read back. O(causes).
    mutating func joinAll() {
        for cause in self.causes.usedNumbers() where !self.causes[cause].instance.isNone { self.join(cause) }
    }

    /// Notes that a reload serves a cause from now on. Does nothing for one that a reload serves already. O(1).
    mutating func endWaiting(_ cause: CauseNumber) {
        let row = self.causes[cause]
        guard !row.instance.isNone else { return }
        if row.previousOfPush.isNone {
            self.waiting[row.push.index] = row.nextOfPush
        } else {
            self.causes[row.previousOfPush].nextOfPush = row.nextOfPush
        }
        if !row.nextOfPush.isNone { self.causes[row.nextOfPush].previousOfPush = row.previousOfPush }
        self.causes[cause].instance = .none
    }

    /// Adds a cause that waits at the end of a list. O(1).
    mutating func append(_ row: Cause, to list: inout CauseList) {
        let cause = self.causes.insert(row)
        self.join(cause)
        self.thread(cause, behind: &list)
    }

    /// Takes a cause out of its list and forgets it. O(1).
    mutating func remove(_ cause: CauseNumber, from list: inout CauseList) {
        self.endWaiting(cause)
        self.unlink(cause, from: &list)
        self.causes.release(cause)
    }

    /// Moves a cause from its list to the end of another. O(1).
    mutating func move(_ cause: CauseNumber, from list: inout CauseList, to other: inout CauseList) {
        self.unlink(cause, from: &list)
        self.thread(cause, behind: &other)
    }

    /// Puts another push in a cause's place in its list. O(1).
    mutating func replace(_ cause: CauseNumber, with other: Cause) {
        self.endWaiting(cause)
        var other = other
        other.next = self.causes[cause].next
        other.previous = self.causes[cause].previous
        self.causes[cause] = other
        self.join(cause)
    }

    /// Forgets the causes of a list that nothing refers to any more. O(causes).
    mutating func release(_ list: CauseList) {
        var cause = list.head
        while !cause.isNone {
            let next = self.causes[cause].next
            self.endWaiting(cause)
            self.causes.release(cause)
            cause = next
        }
    }

    private mutating func thread(_ cause: CauseNumber, behind list: inout CauseList) {
        self.causes[cause].next = .none
        self.causes[cause].previous = list.tail
        if list.tail.isNone { list.head = cause } else { self.causes[list.tail].next = cause }
        list.tail = cause
        list.count += 1
    }

    private mutating func unlink(_ cause: CauseNumber, from list: inout CauseList) {
        let (previous, next) = (self.causes[cause].previous, self.causes[cause].next)
        if previous.isNone { list.head = next } else { self.causes[previous].next = next }
        if next.isNone { list.tail = previous } else { self.causes[next].previous = previous }
        list.count -= 1
    }
}
