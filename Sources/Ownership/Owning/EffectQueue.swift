package import Engine

/// Effects in their order, kept in the arrays in which they came: none is copied, and those that have gone give their memory
/// back before the others go.
package struct EffectQueue: Sendable {
    private var chunks: ArraySlice<[Effect]> = []
    /// Where the first effect is in the first chunk.
    private var place = 0
    package private(set) var count = 0

    package init() {}

    package var isEmpty: Bool { self.count == 0 }
    package var first: Effect? { self.chunks.first.map { $0[self.place] } }

    /// All of them. O(effects).
    package var all: [Effect] { Array(self.chunks.joined().dropFirst(self.place)) }

    package mutating func append(_ effects: [Effect]) {
        guard !effects.isEmpty else { return }
        self.chunks.append(effects)
        self.count += effects.count
    }

    package mutating func append(_ other: EffectQueue) {
        precondition(other.place == 0, "effects were taken from the appended queue")
        self.chunks.append(contentsOf: other.chunks)
        self.count += other.count
    }

    /// Takes the first one out. Precondition: there is one.
    package mutating func removeFirst() -> Effect {
        precondition(!self.isEmpty, "no effect is left")
        let effect = self.chunks[self.chunks.startIndex][self.place]
        self.place += 1
        self.count -= 1
        if self.place == self.chunks[self.chunks.startIndex].count {
            // The slice keeps its removed elements.
            self.chunks[self.chunks.startIndex] = []
            self.chunks.removeFirst()
            self.place = 0
        }
        return effect
    }

    package mutating func removeFirst(_ number: Int) {
        for _ in 0..<number { _ = self.removeFirst() }
    }
}
