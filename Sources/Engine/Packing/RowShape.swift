import WidgetModel

/// What packed rows have in common, said once for all of them: how many bytes each field takes, a word for each group of
/// fields, and what is the same in many rows, such as their kind.
struct RowShape: Equatable, Sendable {
    static let wordsMax = 8

    /// In the order in which they are read. What they are says how many there are; those behind the last are zero.
    private(set) var words = InlineArray<8, UInt64>(repeating: 0)

    /// Precondition: below ``wordsMax``.
    @inline(__always)
    subscript(index: Int) -> UInt64 {
        get { self.words[index] }
        set { self.words[index] = newValue }
    }

    @inline(__always)
    static func == (left: RowShape, right: RowShape) -> Bool {
        var differences: UInt64 = 0
        for index in 0..<Self.wordsMax { differences |= left.words[index] ^ right.words[index] }
        return differences == 0
    }

    /// Under a seed. One multiplication for each word, none of which waits for another: strangers who make rows collide make a
    /// table slower, no more.
    @inline(__always)
    func hash(seed: UInt64) -> UInt64 {
        var sum = seed
        for index in 0..<Self.wordsMax {
            let factor = 0x9E37_79B9_7F4A_7C15 &* UInt64(truncatingIfNeeded: 2 &* index &+ 1)
            sum &+= (self.words[index] ^ seed) &* factor
        }
        return ByteHash.mix(sum)
    }
}

/// The shapes of a table's rows by number: those that came first, and as long as the table lives.
///
/// Rows that mean the same kind of widget have one of a few dozen shapes. A row whose shape has no number says itself what it is.
struct RowShapes: Sendable {
    /// How many shapes are numbered, two megabytes of them: all that two bytes tell apart from what else they say.
    static let countMax = 32_768

    private var shapes: [RowShape] = []
    private var index = SharedSlotIndex()
    /// The number that was asked for last: many rows are like the one before.
    private var latest = 0
    private let seed = ByteHash.processSeed()
    private let countMax: Int

    init(countMax: Int = Self.countMax) {
        self.countMax = countMax
    }

    /// Precondition: a number that was given.
    @inline(__always)
    subscript(number: Int) -> RowShape { self.shapes[number] }

    /// The number of a shape, a new one if it has none; nil if all were given.
    @inline(__always)
    mutating func number(of shape: RowShape) -> Int? {
        if self.latest < self.shapes.count, self.shapes[self.latest] == shape { return self.latest }
        return self.otherNumber(of: shape)
    }

    @inline(never)
    private mutating func otherNumber(of shape: RowShape) -> Int? {
        let hash = shape.hash(seed: self.seed)
        let found = self.index.find(hash) { self.shapes[Int($0)] == shape }
        if let found {
            self.latest = Int(found)
            return self.latest
        }
        guard self.shapes.count < self.countMax else { return nil }
        self.index.insert(hash, UInt32(self.shapes.count))
        self.shapes.append(shape)
        return self.shapes.count - 1
    }
}
