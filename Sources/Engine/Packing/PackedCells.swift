/// Packed rows of all lengths, each in a cell that is as long as it needs, and their shapes.
///
/// Cells are one to twelve words of four bytes long, or 14, 16, 24 or 32. Those that are given back are used again by rows of
/// the same length.
struct PackedCells: Sendable {
    /// The bits of a number that say where its cell begins; four more say how long it is, which leaves one to others.
    private static let startBits: UInt32 = 27
    private static let startMask: UInt32 = 1 << Self.startBits - 1
    /// The first number that no cell has.
    static let end = UInt32(1) << 31

    private struct Cells: Sendable {
        var words = RowChunks<UInt32>()
        var free: [UInt32] = []
    }

    /// As many words as have numbers, less a chunk of them, of which some are left out.
    static let wordsMax = 1 << 27 - 16_384

    /// By which length they have.
    private var cells = Array(repeating: Cells(), count: 16)
    private var shapes: RowShapes
    private let wordsMax: Int
    /// How many cells are in use.
    private(set) var count = 0

    /// None.
    ///
    /// - Parameters:
    ///   - wordsMax: How many words the cells of one length may have; what comes then goes to longer ones.
    ///   - shapesMax: How many shapes are kept apart from the rows.
    init(wordsMax: Int = Self.wordsMax, shapesMax: Int = RowShapes.countMax) {
        self.wordsMax = wordsMax
        self.shapes = RowShapes(countMax: shapesMax)
    }

    /// How long the cells of a number are, in words.
    @inline(__always)
    private static func words(_ length: Int) -> Int {
        // 14, 16, 24 and 32, a byte of a number each.
        length < 12 ? length &+ 1 : (0x2018_100E &>> ((length &- 12) &* 8)) & 0xFF
    }

    /// The shortest cells that have room for so many words. Precondition: 1 to 32.
    @inline(__always)
    private static func length(for words: Int) -> Int {
        words <= 12 ? words &- 1 : words <= 14 ? 12 : words <= 16 ? 13 : words <= 24 ? 14 : 15
    }

    /// Keeps a row.
    ///
    /// - Parameter row: Has written the row. Lent, not copied: what was written a word at a time is best read so.
    /// - Returns: The number of its cell; nil if the row is too long, or all cells of its length and longer ones are in use,
    ///   half a gigabyte of each.
    mutating func insert(_ row: inout FieldWriter) -> UInt32? {
        row.finish(&self.shapes)
        guard row.packed.count <= PackedBytes.countMax else { return nil }
        let words = row.packed.wordCount
        for length in Self.length(for: words)..<self.cells.count {
            guard let start = self.place(ofLength: length) else { continue }
            self.cells[length].words.replace(from: Int(start), with: row.packed.words.span, count: words)
            self.count += 1
            return UInt32(length) << Self.startBits | start
        }
        return nil
    }

    private mutating func place(ofLength length: Int) -> UInt32? {
        if let free = self.cells[length].free.popLast() { return free }
        let words = Self.words(length)
        guard self.cells[length].words.count + words <= self.wordsMax else { return nil }
        return UInt32(self.cells[length].words.appendTogether(words))
    }

    /// Reads the row of a number.
    @inline(__always)
    func reader(of number: UInt32) -> FieldReader {
        let length = Int(number >> Self.startBits)
        let start = Int(number & Self.startMask)
        return FieldReader(self.cells[length].words.bytes(from: start, Self.words(length)), self.shapes)
    }

    /// Gives a number back.
    mutating func release(_ number: UInt32) {
        self.cells[Int(number >> Self.startBits)].free.append(number & Self.startMask)
        self.count -= 1
    }

    /// Fetches a row that is about to be read, without waiting for it.
    @inline(__always)
    func prefetch(_ number: UInt32) {
        let length = Int(number >> Self.startBits)
        let start = Int(number & Self.startMask)
        self.cells[length].words.prefetch(start)
        self.cells[length].words.prefetch(start &+ Self.words(length) &- 1)
    }
}
