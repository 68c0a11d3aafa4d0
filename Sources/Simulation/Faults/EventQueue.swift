/// What is going to happen, by instant; of several at one instant, in the order in which they were put in.
struct EventQueue<Event: Sendable>: Sendable {
    private struct Item: Sendable {
        let at: Int64
        let number: Int
        let event: Event

        static func isBefore(_ left: Item, _ right: Item) -> Bool {
            (left.at, left.number) < (right.at, right.number)
        }
    }

    /// A binary heap.
    private var items: [Item] = []
    private var number = 0

    var isEmpty: Bool { self.items.isEmpty }
    var count: Int { self.items.count }
    /// When the next one happens.
    var next: Int64? { self.items.first?.at }

    mutating func put(_ event: Event, at: Int64) {
        self.items.append(Item(at: at, number: self.number, event: event))
        self.number += 1
        var child = self.items.count - 1
        while child > 0 {
            let parent = (child - 1) / 2
            guard Item.isBefore(self.items[child], self.items[parent]) else { break }
            self.items.swapAt(child, parent)
            child = parent
        }
    }

    mutating func take() -> (at: Int64, event: Event)? {
        guard let first = self.items.first else { return nil }
        self.items.swapAt(0, self.items.count - 1)
        self.items.removeLast()
        var parent = 0
        while true {
            var least = parent
            for child in [2 * parent + 1, 2 * parent + 2] where child < self.items.count {
                if Item.isBefore(self.items[child], self.items[least]) { least = child }
            }
            guard least != parent else { break }
            self.items.swapAt(parent, least)
            parent = least
        }
        return (first.at, first.event)
    }
}
