import Storage
import WidgetModel

/// A chain of pushes in the order of their acceptance: those that wait for an instance, or those that a reload serves.
struct CauseList: Sendable {
    var head = CauseNumber.none
    var tail = CauseNumber.none
    var count: UInt32 = 0
}

/// The pushes that wait or are in flight, one node for each instance a push matched: a table threaded by ``CauseList``s.
///
/// The nodes of one push that wait are threaded, too, so that its sender can be told why. Their order is no part of the state:
/// another engine with the same state may have another.
///
/// Appending, removing and moving a node are O(1).
struct PendingCauses: ~Copyable, Sendable {
    struct Node: Sendable {
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

    private(set) var nodes = Table<NumberTag.Cause, Node>()
    /// By the number of a push: the first of its nodes that wait.
    private var waiting = Column<CauseNumber>()

    /// No causes.
    init() {}

    /// Causes that were read back, without their neighbours of the same push. O(causes).
    init(nodes: consuming Table<NumberTag.Cause, Node>) {
        self.nodes = nodes
        for slot in self.nodes.usedNumbers() where !self.nodes[slot].instance.isNone { self.join(slot) }
    }

    /// The same causes under the same numbers. O(causes).
    func duplicate() -> PendingCauses {
        var copy = PendingCauses()
        copy.nodes = self.nodes.duplicate()
        copy.waiting = self.waiting.duplicate()
        return copy
    }

    var count: Int { self.nodes.count }

    @inline(__always)
    subscript(node: CauseNumber) -> Node {
        _read { yield self.nodes[node] }
    }

    /// The first of a push's nodes that wait; none if none of it waits.
    func firstWaiting(of push: PushNumber) -> CauseNumber {
        push.index < self.waiting.count ? self.waiting[push.index] : .none
    }

    /// Makes a node that waits a neighbour of those of its push.
    private mutating func join(_ slot: CauseNumber) {
        let push = self.nodes[slot].push.index
        if push >= self.waiting.count {
            self.waiting.append(repeating: .none, count: push + 1 - self.waiting.count)
        }
        let first = self.waiting[push]
        self.nodes[slot].nextOfPush = first
        self.nodes[slot].previousOfPush = .none
        if !first.isNone { self.nodes[first].previousOfPush = slot }
        self.waiting[push] = slot
    }

    /// Notes that a node does not wait any more. Does nothing for one that a reload serves.
    mutating func endWaiting(_ slot: CauseNumber) {
        let node = self.nodes[slot]
        guard !node.instance.isNone else { return }
        if node.previousOfPush.isNone {
            self.waiting[node.push.index] = node.nextOfPush
        } else {
            self.nodes[node.previousOfPush].nextOfPush = node.nextOfPush
        }
        if !node.nextOfPush.isNone { self.nodes[node.nextOfPush].previousOfPush = node.previousOfPush }
        self.nodes[slot].instance = .none
    }

    /// Adds a node that waits at the end of a list.
    mutating func append(_ node: Node, to list: inout CauseList) {
        var node = node
        node.previous = list.tail
        let slot = self.nodes.insert(node)
        self.join(slot)
        if list.tail.isNone { list.head = slot } else { self.nodes[list.tail].next = slot }
        list.tail = slot
        list.count += 1
    }

    /// Takes a node out of its list, without releasing it.
    private mutating func unlink(_ slot: CauseNumber, from list: inout CauseList) {
        let (previous, next) = (self.nodes[slot].previous, self.nodes[slot].next)
        if previous.isNone { list.head = next } else { self.nodes[previous].next = next }
        if next.isNone { list.tail = previous } else { self.nodes[next].previous = previous }
        list.count -= 1
    }

    mutating func remove(_ slot: CauseNumber, from list: inout CauseList) {
        self.endWaiting(slot)
        self.unlink(slot, from: &list)
        self.nodes.release(slot)
    }

    /// Moves a node from the list it is in to the end of another.
    mutating func move(_ slot: CauseNumber, from list: inout CauseList, to other: inout CauseList) {
        self.unlink(slot, from: &list)
        self.nodes[slot].next = .none
        self.nodes[slot].previous = other.tail
        if other.tail.isNone { other.head = slot } else { self.nodes[other.tail].next = slot }
        other.tail = slot
        other.count += 1
    }

    /// Puts another push in a node's place in its list.
    mutating func replace(_ slot: CauseNumber, with node: Node) {
        self.endWaiting(slot)
        var node = node
        node.next = self.nodes[slot].next
        node.previous = self.nodes[slot].previous
        self.nodes[slot] = node
        self.join(slot)
    }

    /// Releases the nodes of a chain that nothing refers to any more.
    mutating func release(_ list: CauseList) {
        var slot = list.head
        while !slot.isNone {
            let next = self.nodes[slot].next
            self.endWaiting(slot)
            self.nodes.release(slot)
            slot = next
        }
    }
}
