/// One description of a row for both ways, as a ``StateCoder`` is for snapshots: each method gives back its value, which a
/// writer was given and a reader has read in its place.
///
/// A field takes as many bytes as its value needs, none where it is what it mostly is. How many those are, three bits for each of
/// a group, is part of the row's ``RowShape``, which is kept once for all rows that have the same.
protocol FieldCoder {
    /// Begins a group of at most 21 fields.
    mutating func begin()
    /// A number that is mostly small.
    mutating func field(_ value: UInt64) -> UInt64
    /// A number that is one of few in all rows: it becomes a part of the shape, and takes no byte of the row.
    mutating func common(_ value: UInt64) -> UInt64
}

/// What windows begin near, in minutes since the epoch: the beginning of 2026. Within sixteen years of it they take a byte less
/// than seen from the epoch.
let usualWindowMinute: Int64 = 29_453_760

extension FieldCoder {
    /// A number that is mostly, or nearly, another one.
    @inline(__always)
    mutating func number<Value: FixedWidthInteger>(_ value: Value, near usual: Value = 0) -> Value {
        let distance = Int64(truncatingIfNeeded: value &- usual)
        // From a distance that wraps at the field's own width: what is far apart comes back all the same.
        let width = UInt64(64 - Value.bitWidth)
        let extended = (distance << width) >> width
        return usual &+ Value(truncatingIfNeeded: Zigzag.decode(self.field(Zigzag.encode(extended))))
    }

    /// A number that is mostly as many whole units away from another one. Two fields.
    @inline(__always)
    mutating func number(_ value: Int64, near usual: Int64, in unit: Int64) -> Int64 {
        let (units, rest) = (value &- usual).quotientAndRemainder(dividingBy: unit)
        return usual &+ self.number(units) &* unit &+ self.number(rest)
    }

    /// A number of which one stands for none; else it is mostly near another one.
    @inline(__always)
    mutating func optional(_ value: UInt32, none: UInt32, near usual: UInt32 = 0) -> UInt32 {
        let distance = Int64(value) - Int64(usual)
        let coded = self.field(value == none ? 0 : Zigzag.encode(distance) + 1)
        return coded == 0 ? none : UInt32(truncatingIfNeeded: Int64(usual) &+ Zigzag.decode(coded - 1))
    }

    /// Milliseconds, which are mostly near others; the two ends of the range stand for "never".
    @inline(__always)
    mutating func date(_ value: Int64, near usual: Int64) -> Int64 {
        let ends = DateEnds(seenFrom: usual)
        return ends.date(self.field(ends.code(value)))
    }

    /// As ``date(_:near:)``, for what is mostly `.min` and then takes no byte.
    @inline(__always)
    mutating func past(_ value: Int64, near usual: Int64) -> Int64 { ~self.date(~value, near: ~usual) }
}

/// Small numbers of both signs as small ones without.
enum Zigzag {
    @inline(__always)
    static func encode(_ value: Int64) -> UInt64 { UInt64(bitPattern: (value << 1) ^ (value >> 63)) }

    @inline(__always)
    static func decode(_ code: UInt64) -> Int64 { Int64(bitPattern: code >> 1) ^ -Int64(bitPattern: code & 1) }
}

/// Dates as codes: 0 and 1 for the two ends of the range, then by their distance from a date.
///
/// Every number of milliseconds has a code of its own: those of the ends are left out further up, where nobody's date is.
struct DateEnds {
    private let origin: Int64
    /// The ends' codes by distance, the smaller first.
    private let lower: UInt64
    private let upper: UInt64

    @inline(__always)
    init(seenFrom origin: Int64) {
        let ends = (Zigzag.encode(Int64.max &- origin), Zigzag.encode(Int64.min &- origin))
        self.origin = origin
        self.lower = min(ends.0, ends.1)
        self.upper = max(ends.0, ends.1)
    }

    @inline(__always)
    func code(_ date: Int64) -> UInt64 {
        if date == .max { return 0 }
        if date == .min { return 1 }
        let code = Zigzag.encode(date &- self.origin)
        return code < self.lower ? code + 2 : code < self.upper ? code + 1 : code
    }

    @inline(__always)
    func date(_ code: UInt64) -> Int64 {
        if code == 0 { return .max }
        if code == 1 { return .min }
        if code - 2 < self.lower { return self.origin &+ Zigzag.decode(code - 2) }
        return self.origin &+ Zigzag.decode(code - 1 < self.upper ? code - 1 : code)
    }
}

/// What a row is packed into.
struct PackedBytes: Sendable {
    /// Rows that have more are not packed.
    static let countMax = 128
    /// How many bytes the number of a shape takes.
    static let numberCount = 2
    fileprivate static let wordMask = Self.countMax / 8 - 1

    /// Two words more than there is room for, since each is written with what comes next.
    fileprivate(set) var words = InlineArray<18, UInt64>(repeating: 0)
    /// In bytes; more than there is room for if it was not enough. A row begins behind the number of its shape.
    fileprivate(set) var count = PackedBytes.numberCount

    /// In words of four bytes.
    @inline(__always)
    var wordCount: Int { (self.count &+ 3) &>> 2 }

    /// How many bytes a code of three bits stands for: 0 to 6, or 8.
    @inline(__always)
    fileprivate static func length(_ code: UInt64) -> Int { Int(truncatingIfNeeded: code &+ (code &+ 1) &>> 3) }
}

/// Packs rows.
struct FieldWriter: FieldCoder {
    /// Whole once ``finish(_:)`` was called.
    private(set) var packed = PackedBytes()
    private var shape = RowShape()
    private var shapeCount = 0
    /// The word that is being filled; nothing of it is in `packed` that is not in it.
    private var word: UInt64 = 0
    /// Of the group's fields so far: three bits each, where the next ones go, and which word of the shape they are.
    private var lengths: UInt64 = 0
    private var shift: UInt64 = 0
    private var lengthsAt = 0

    @inline(__always)
    mutating func begin() {
        if self.shapeCount > 0 { self.shape[self.lengthsAt] |= self.lengths }
        (self.lengths, self.shift, self.lengthsAt) = (0, 0, self.shapeCount)
        self.shapeCount &+= 1
    }

    @inline(__always)
    mutating func common(_ value: UInt64) -> UInt64 {
        self.shape[self.shapeCount] = value
        self.shapeCount &+= 1
        return value
    }

    @inline(__always)
    mutating func field(_ value: UInt64) -> UInt64 {
        assert(self.shift < 63, "a group has at most 21 fields")
        // The same fields are zero in most rows: that much the processor guesses.
        guard value != 0 else {
            self.shift &+= 3
            return 0
        }
        let code = UInt64(truncatingIfNeeded: min(7, (71 &- value.leadingZeroBitCount) &>> 3))
        self.lengths |= code &<< self.shift
        self.shift &+= 3
        self.append(value, PackedBytes.length(code))
        return value
    }

    /// Writes bytes behind the last field of all.
    @inline(__always)
    mutating func append(_ text: Span<UInt8>) {
        var place = 0
        while place &+ 8 <= text.count {
            self.append(ByteHash.word(text, at: place), 8)
            place &+= 8
        }
        var rest: UInt64 = 0
        for offset in place..<text.count { rest |= UInt64(text[offset]) &<< UInt64((offset &- place) &* 8) }
        self.append(rest, text.count &- place)
    }

    /// Writes bytes behind the last, without asking whether a word is full: it is written each time.
    @inline(__always)
    private mutating func append(_ value: UInt64, _ count: Int) {
        let place = (self.packed.count &>> 3) & PackedBytes.wordMask
        let bits = UInt64(truncatingIfNeeded: self.packed.count & 7) &<< 3
        let filled = self.word | value &<< bits
        let next = (value &>> 1) &>> (63 &- bits)
        var words = self.packed.words.mutableSpan
        words[place] = filled
        words[place &+ 1] = next
        self.word = bits &+ UInt64(truncatingIfNeeded: count &* 8) >= 64 ? next : filled
        self.packed.count &+= count
    }

    /// Ends a row: its first bytes are the number of its shape, or where it says itself what that is.
    @inline(__always)
    mutating func finish(_ shapes: inout RowShapes) {
        self.begin()
        let number = shapes.number(of: self.shape) ?? self.appendShape()
        var words = self.packed.words.mutableSpan
        words[0] |= UInt64(truncatingIfNeeded: number)
    }

    /// Writes the shape behind all else: of each word how many bytes it takes, and those.
    ///
    /// - Returns: What the row begins with.
    @inline(never)
    private mutating func appendShape() -> Int {
        let place = self.packed.count
        for index in 0..<RowShape.wordsMax {
            let word = self.shape[index]
            let count = (71 &- word.leadingZeroBitCount) &>> 3
            self.append(UInt64(count), 1)
            if count > 0 { self.append(word, count) }
        }
        return RowShape.inRow | place
    }
}

/// Unpacks rows, from where they lie.
struct FieldReader: FieldCoder {
    private let row: RowBytes
    private let shape: RowShape
    private var shapeAt = 0
    private var offset = PackedBytes.numberCount
    private var lengths: UInt64 = 0

    @inline(__always)
    init(_ row: RowBytes, _ shapes: RowShapes) {
        self.row = row
        let number = Int(row[0] & 0xFFFF)
        self.shape =
            _fastPath(number < RowShape.inRow) ? shapes[number] : RowShape(in: row, at: number & ~RowShape.inRow)
    }

    @inline(__always)
    mutating func begin() { self.lengths = self.common(0) }

    @inline(__always)
    mutating func common(_ value: UInt64) -> UInt64 {
        defer { self.shapeAt &+= 1 }
        return self.shape[self.shapeAt]
    }

    @inline(__always)
    mutating func field(_ value: UInt64) -> UInt64 {
        let code = self.lengths & 7
        self.lengths &>>= 3
        return code == 0 ? 0 : self.bytes(PackedBytes.length(code))
    }

    /// Steps over bytes that stand behind the last field.
    mutating func skip(_ count: Int) { self.offset &+= count }

    /// Reads a text that stands behind the last field. Precondition: it is one.
    mutating func text(_ count: Int) -> String {
        var bytes = InlineArray<128, UInt8>(repeating: 0)
        var place = 0
        while place < count {
            let part = min(8, count - place)
            let word = self.bytes(part)
            for offset in 0..<part { bytes[place + offset] = UInt8(truncatingIfNeeded: word &>> UInt64(offset &* 8)) }
            place += part
        }
        guard let text = try? UTF8Span(validating: bytes.span.extracting(first: count)) else {
            preconditionFailure("what was packed as a text is none")
        }
        return String(copying: text)
    }

    /// The next bytes: a field's, or what stands behind the last one.
    ///
    /// - Parameter count: 1 to 8.
    @inline(__always)
    mutating func bytes(_ count: Int) -> UInt64 {
        defer { self.offset &+= count }
        return self.row[self.offset] & UInt64.max &>> UInt64(truncatingIfNeeded: 64 &- count &* 8)
    }
}

extension RowShape {
    /// A row that begins with so much, or more, says itself what its shape is, from so many bytes less than that on.
    fileprivate static let inRow = 0x8000

    /// Reads what ``FieldWriter`` wrote into the row.
    @inline(never)
    fileprivate init(in row: RowBytes, at place: Int) {
        self.init()
        var place = place
        for index in 0..<Self.wordsMax {
            let count = Int(row[place] & 0xFF)
            if count > 0 { self[index] = row[place &+ 1] & UInt64.max &>> UInt64(64 &- count &* 8) }
            place &+= count &+ 1
        }
    }
}
