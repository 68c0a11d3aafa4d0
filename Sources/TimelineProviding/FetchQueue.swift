/// A binary heap: what comes first by its own order is taken first. O(log count).
///
/// The order has to be total, so that what comes out is a function of what went in, whatever the order of that.
struct FetchQueue<Element: Sendable>: Sendable {
    private var elements: [Element] = []
    private let isBefore: @Sendable (Element, Element) -> Bool

    init(isBefore: @escaping @Sendable (Element, Element) -> Bool) {
        self.isBefore = isBefore
    }

    var count: Int { self.elements.count }
    var first: Element? { self.elements.first }

    mutating func insert(_ element: Element) {
        self.elements.append(element)
        var place = self.elements.count - 1
        while place > 0 {
            let parent = (place - 1) / 2
            guard self.isBefore(self.elements[place], self.elements[parent]) else { return }
            self.elements.swapAt(place, parent)
            place = parent
        }
    }

    mutating func popFirst() -> Element? {
        guard let last = self.elements.popLast() else { return nil }
        guard !self.elements.isEmpty else { return last }
        let first = self.elements[0]
        self.elements[0] = last
        var place = 0
        while true {
            var least = place
            for child in [2 * place + 1, 2 * place + 2] where child < self.elements.count {
                if self.isBefore(self.elements[child], self.elements[least]) { least = child }
            }
            guard least != place else { return first }
            self.elements.swapAt(place, least)
            place = least
        }
    }
}
