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
/// Appending, removing and moving a whole chain to a reload are O(1).
struct PendingCauses: ~Copyable, Sendable {
    struct Node: Sendable {
        /// The push's row in the ledger.
        let push: PushNumber
        var next = CauseNumber.none
        var previous = CauseNumber.none
        /// A hash of the collapse id, 0 if the push has none.
        let collapseTag: UInt32
        /// Milliseconds; the cause ends then if it still waits.
        let expiresAt: Int64
        let priority: Priority
        /// Whether its not-before was still to come when it was accepted.
        let isScheduled: Bool
    }

    private(set) var nodes = Table<NumberTag.Cause, Node>()

    /// No causes.
    init() {}

    /// Causes that were read back.
    init(nodes: consuming Table<NumberTag.Cause, Node>) {
        self.nodes = nodes
    }

    /// The same causes under the same numbers. O(causes).
    func duplicate() -> PendingCauses { PendingCauses(nodes: self.nodes.duplicate()) }

    var count: Int { self.nodes.count }

    @inline(__always)
    subscript(node: CauseNumber) -> Node {
        _read { yield self.nodes[node] }
    }

    mutating func append(_ node: Node, to list: inout CauseList) {
        var node = node
        node.previous = list.tail
        let slot = self.nodes.insert(node)
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
        var node = node
        node.next = self.nodes[slot].next
        node.previous = self.nodes[slot].previous
        self.nodes[slot] = node
    }

    /// Releases the nodes of a chain that nothing refers to any more.
    mutating func release(_ list: CauseList) {
        var slot = list.head
        while !slot.isNone {
            let next = self.nodes[slot].next
            self.nodes.release(slot)
            slot = next
        }
    }
}
