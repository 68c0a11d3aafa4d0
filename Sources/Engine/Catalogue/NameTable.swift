import Storage
import WidgetModel

/// Names by number and numbers by name, for few names that never go: teams and apps.
struct NameTable<Tag>: ~Copyable, Sendable {
    private(set) var names: [String] = []
    private var index = SlotIndex()
    private let seed: UInt64

    init(seed: UInt64) {
        self.seed = seed
    }

    subscript(number: Number<Tag>) -> String { self.names[number.index] }

    func find(_ name: String) -> Number<Tag>? {
        self.index.find(SeededHash.of(name.utf8.span, seed: self.seed)) { self[$0] == name }
    }

    @inline(__always)
    func find(_ bytes: [UInt8], in range: Range<Int>) -> Number<Tag>? {
        self.index.find(SeededHash.of(bytes.span.extracting(range), seed: self.seed)) { number in
            self[number].equals(bytes, in: range)
        }
    }

    /// The name's number, a new one if it has none yet.
    mutating func intern(_ name: String) -> Number<Tag> {
        if let slot = self.find(name) { return slot }
        self.names.append(name)
        let slot = Number<Tag>(self.names.count - 1)
        self.index.insert(slot, SeededHash.of(name.utf8.span, seed: self.seed))
        return slot
    }
}
