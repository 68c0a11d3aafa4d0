import HeapModule

/// The events to come, by instant; those of one instant in the order in which they were put in.
struct EventQueue<Event: Sendable>: Sendable {
    private struct Item: Comparable, Sendable {
        let at: Int64
        let number: Int
        let event: Event

        static func < (left: Item, right: Item) -> Bool { (left.at, left.number) < (right.at, right.number) }
        static func == (left: Item, right: Item) -> Bool { left.number == right.number }
    }

    private var items = Heap<Item>()
    private var number = 0

    /// When the next one happens.
    var next: Int64? { self.items.min?.at }

    mutating func insert(_ event: Event, at: Int64) {
        self.items.insert(Item(at: at, number: self.number, event: event))
        self.number += 1
    }

    mutating func popFirst() -> (at: Int64, event: Event)? { self.items.popMin().map { ($0.at, $0.event) } }
}
