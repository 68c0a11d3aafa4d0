/// First in, first out; taking is constant time on average.
struct Queue<Element: Sendable>: Sendable {
    private var elements: [Element] = []
    private var head = 0

    var isEmpty: Bool { self.head == self.elements.count }
    var count: Int { self.elements.count - self.head }
    var first: Element? { self.isEmpty ? nil : self.elements[self.head] }

    mutating func append(_ element: Element) { self.elements.append(element) }

    mutating func removeFirst() -> Element? {
        guard let element = self.first else { return nil }
        self.head += 1
        if self.head > 1024, self.head * 2 > self.elements.count {
            self.elements.removeFirst(self.head)
            self.head = 0
        }
        return element
    }
}
