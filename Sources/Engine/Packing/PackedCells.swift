/// Packed rows of all lengths, each in a cell of as many words of eight bytes as it needs.
///
/// Cells that are given back are used again by rows of the same length.
struct PackedCells: Sendable {
    /// The bits of a number that say where its cell begins; four more say how long it is, which leaves one to others.
    private static let startBits: UInt32 = 27
    private static let startMask: UInt32 = 1 << Self.startBits - 1
    /// The first number that no cell has.
    static let end = UInt32(1) << 31

    private struct Cells: Sendable {
        var words = RowChunks<UInt64>()
        var free: [UInt32] = []
    }

    /// As many words as have numbers, less a chunk of them, of which some are left out.
    static let wordsMax = 1 << 27 - 16_384

    /// By length in words, less one.
    private var cells = Array(repeating: Cells(), count: PackedBytes.countMax / 8)
    private let wordsMax: Int
    /// How many cells are in use.
    private(set) var count = 0

    /// None.
    ///
    /// - Parameter wordsMax: How many words the cells of one length may have; what comes then goes to longer ones.
    init(wordsMax: Int = Self.wordsMax) {
        self.wordsMax = wordsMax
    }

    /// Keeps a row.
    ///
    /// - Parameter packed: The row. Lent, not copied: what was written a word at a time is best read so.
    /// - Returns: The number of its cell; nil if the row is too long, or all cells of its length and longer ones are in use,
    ///   a gigabyte of each.
    mutating func insert(_ packed: inout PackedBytes) -> UInt32? {
        guard packed.count <= PackedBytes.countMax else { return nil }
        for length in max(1, packed.wordCount)...self.cells.count {
            guard let start = self.place(ofLength: length) else { continue }
            self.cells[length - 1].words.replace(from: Int(start), with: packed.words.span.extracting(first: length))
            self.count += 1
            return UInt32(length - 1) << Self.startBits | start
        }
        return nil
    }

    private mutating func place(ofLength length: Int) -> UInt32? {
        if let free = self.cells[length - 1].free.popLast() { return free }
        guard self.cells[length - 1].words.count + length <= self.wordsMax else { return nil }
        return UInt32(self.cells[length - 1].words.appendTogether(length))
    }

    /// Reads the row of a number.
    @inline(__always)
    func reader(of number: UInt32) -> FieldReader {
        let length = Int(number >> Self.startBits) + 1
        return FieldReader(self.cells[length - 1].words.bytes(from: Int(number & Self.startMask), length))
    }

    /// Gives a number back.
    mutating func release(_ number: UInt32) {
        self.cells[Int(number >> Self.startBits)].free.append(number & Self.startMask)
        self.count -= 1
    }

    /// Fetches a row that is about to be read, without waiting for it.
    @inline(__always)
    func prefetch(_ number: UInt32) {
        let length = Int(number >> Self.startBits) + 1
        let start = Int(number & Self.startMask)
        self.cells[length - 1].words.prefetch(start)
        self.cells[length - 1].words.prefetch(start + length - 1)
    }
}
