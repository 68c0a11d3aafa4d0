import Storage
import WidgetModel

/// One description of a row for both ways: each method returns the value: a writer returns the value that it was given,
/// and a reader the value that it has read instead.
///
/// So writing and reading cannot drift apart: `Row(host: try coder.slot(self.host), …)` names every field once. The
/// order of the calls is the format.
protocol StateCoder {
    mutating func number(_ value: UInt64) throws(ByteError) -> UInt64
    mutating func fixed(_ value: UInt64) throws(ByteError) -> UInt64
    mutating func byte(_ value: UInt8) throws(ByteError) -> UInt8
    /// A value that has a binary form of its own.
    mutating func value<Value: ByteCoded>(_ value: Value) throws(ByteError) -> Value
    mutating func bytes(_ value: [UInt8]) throws(ByteError) -> [UInt8]
    mutating func text(_ value: String) throws(ByteError) -> String
    mutating func configuration(_ value: Configuration) throws(ByteError) -> Configuration
    /// Whether a frame goes on: frames of earlier programs end before the fields that came later.
    func goesOn(_ isWritten: Bool) -> Bool
    /// For a value that was read and cannot stand there.
    func fault() -> ByteError
}

extension StateCoder {
    /// A number that fits the field it is for.
    @inline(__always)
    mutating func number<Value: FixedWidthInteger>(_ value: Value) throws(ByteError) -> Value {
        guard let value = Value(exactly: try self.number(UInt64(value))) else { throw self.fault() }
        return value
    }

    /// A number that may be below zero.
    @inline(__always)
    mutating func signed(_ value: Int64) throws(ByteError) -> Int64 {
        Zigzag.decode(try self.number(Zigzag.encode(value)))
    }

    /// An instant, where the two ends of the range stand for "never" and are the most frequent: a byte each.
    @inline(__always)
    mutating func date(_ value: Instant) throws(ByteError) -> Instant {
        let tag: UInt8 = value == .distantFuture ? 0 : value == .distantPast ? 1 : 2
        switch try self.byte(tag) {
        case 0: return .distantFuture
        case 1: return .distantPast
        case 2: return try self.instant(value)
        default: throw self.fault()
        }
    }

    /// A row's number, or none: a byte.
    @inline(__always)
    mutating func slot<Tag>(_ value: Number<Tag>) throws(ByteError) -> Number<Tag> {
        let next = try self.number(UInt64(value.raw &+ 1))
        guard let slot = UInt32(exactly: next) else { throw self.fault() }
        return Number(raw: slot &- 1)
    }

    /// The number of a row that there is.
    @inline(__always)
    mutating func number<Tag>(_ value: Number<Tag>) throws(ByteError) -> Number<Tag> {
        Number(raw: try self.number(value.raw))
    }

    @inline(__always)
    mutating func flag(_ value: Bool) throws(ByteError) -> Bool {
        switch try self.byte(value ? 1 : 0) {
        case 0: return false
        case 1: return true
        default: throw self.fault()
        }
    }

    @inline(__always)
    mutating func instant(_ value: Instant) throws(ByteError) -> Instant {
        Instant(milliseconds: try self.signed(value.milliseconds))
    }

    mutating func interval(_ value: Interval) throws(ByteError) -> Interval {
        Interval(milliseconds: try self.signed(value.milliseconds))
    }

    @inline(__always)
    mutating func position(_ value: LogPosition) throws(ByteError) -> LogPosition {
        LogPosition(try self.number(value.rawValue))
    }

    mutating func push(_ value: PushID) throws(ByteError) -> PushID {
        let high = try self.fixed(value.high)
        return PushID(high: high, low: try self.fixed(value.low))
    }

    /// One of the cases of an enumeration whose raw values are part of the format.
    @inline(__always)
    mutating func choice<Value: RawRepresentable<UInt8>>(_ value: Value) throws(ByteError) -> Value {
        guard let value = Value(rawValue: try self.byte(value.rawValue)) else { throw self.fault() }
        return value
    }

    /// A case that may be missing.
    @inline(__always)
    mutating func optional<Value: RawRepresentable<UInt8>>(choice value: Value?) throws(ByteError) -> Value? {
        guard try self.flag(value != nil) else { return nil }
        guard let value = Value(rawValue: try self.byte(value?.rawValue ?? 0)) else { throw self.fault() }
        return value
    }

    /// A row that may be missing. Any row is blank enough to be read over.
    mutating func optional<Row: Coded>(_ row: Row?, _ blank: @autoclosure () -> Row) throws(ByteError) -> Row? {
        try self.flag(row != nil) ? try (row ?? blank()).coded(by: &self) : nil
    }

    /// A list of rows.
    mutating func list<Row: Coded>(_ rows: [Row], _ blank: @autoclosure () -> Row) throws(ByteError) -> [Row] {
        let count: Int = try self.number(rows.count)
        var coded: [Row] = []
        // Not reserved: a count that is damaged must not ask for memory that its elements do not fill.
        for index in 0..<count { coded.append(try (index < rows.count ? rows[index] : blank()).coded(by: &self)) }
        return coded
    }

    /// Counters in a fixed number.
    mutating func counters<let count: Int, Value: FixedWidthInteger>(
        _ values: InlineArray<count, Value>
    ) throws(ByteError) -> InlineArray<count, Value> {
        var coded = values
        for index in values.indices { coded[index] = try self.number(values[index]) }
        return coded
    }

    /// As many counters as there are here.
    mutating func counters(_ values: [Int]) throws(ByteError) -> [Int] {
        guard try self.number(values.count) == values.count else { throw self.fault() }
        var coded = values
        for index in values.indices { coded[index] = try self.number(values[index]) }
        return coded
    }
}

/// Writes rows.
struct StateWriter: StateCoder {
    var writer = ByteWriter()

    mutating func number(_ value: UInt64) -> UInt64 {
        self.writer.write(varint: value)
        return value
    }

    mutating func fixed(_ value: UInt64) -> UInt64 {
        self.writer.write(fixed64: value)
        return value
    }

    mutating func byte(_ value: UInt8) -> UInt8 {
        self.writer.write(byte: value)
        return value
    }

    mutating func value<Value: ByteCoded>(_ value: Value) -> Value {
        value.encode(into: &self.writer)
        return value
    }

    mutating func bytes(_ value: [UInt8]) -> [UInt8] {
        self.writer.write(value)
        return value
    }

    mutating func text(_ value: String) -> String {
        self.writer.write(value)
        return value
    }

    mutating func configuration(_ value: Configuration) -> Configuration {
        value.encode(into: &self.writer)
        return value
    }

    func goesOn(_ isWritten: Bool) -> Bool { isWritten }

    func fault() -> ByteError { .invalid(offset: self.writer.bytes.count) }

    /// Writes a row behind its length in four bytes, so that a reader that wants another row can step over it.
    mutating func row(_ body: (inout StateWriter) throws(ByteError) -> Void) throws(ByteError) {
        let start = self.writer.bytes.count
        self.writer.write(fixed32: 0)
        try body(&self)
        let length = self.writer.bytes.count - start - 4
        for index in 0..<4 { self.writer.bytes[start + index] = UInt8(truncatingIfNeeded: length >> (8 * index)) }
    }
}

/// Reads rows back. Most numbers are a byte each, and are read where they stand.
struct StateReader: StateCoder {
    private let bytes: [UInt8]
    /// The index of the next byte to read.
    private(set) var offset = 0
    /// The configurations that were read before, also in earlier frames: a caller that reads several frames hands the
    /// cache on.
    var configurations = ConfigurationCache()

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    var isAtEnd: Bool { self.offset == self.bytes.count }

    func goesOn(_ isWritten: Bool) -> Bool { !self.isAtEnd }

    @inline(__always)
    mutating func byte() throws(ByteError) -> UInt8 {
        guard self.offset < self.bytes.count else { throw .truncated(offset: self.offset) }
        defer { self.offset &+= 1 }
        return self.bytes[self.offset]
    }

    @inline(__always)
    mutating func number() throws(ByteError) -> UInt64 {
        let first = try self.byte()
        return first < 0x80 ? UInt64(first) : try self.longNumber(first)
    }

    /// Eight bytes at once where they hold all of the number: their sevens of bits are moved together in three steps.
    @inline(never)
    private mutating func longNumber(_ first: UInt8) throws(ByteError) -> UInt64 {
        let start = self.offset - 1
        if self.bytes.count - start >= 8 {
            let word = self.bytes.span.word(at: start)
            let ends = ~word & 0x8080_8080_8080_8080
            if ends != 0 {
                let bits = ends.trailingZeroBitCount
                var value = word & (UInt64.max >> UInt64(63 - bits)) & 0x7F7F_7F7F_7F7F_7F7F
                value = (value & 0x007F_007F_007F_007F) | (value & 0x7F00_7F00_7F00_7F00) >> 1
                value = (value & 0x0000_3FFF_0000_3FFF) | (value & 0x3FFF_0000_3FFF_0000) >> 2
                value = (value & 0x0000_0000_0FFF_FFFF) | (value & 0x0FFF_FFFF_0000_0000) >> 4
                self.offset = start + bits / 8 + 1
                return value
            }
        }
        return try self.longestNumber(first)
    }

    @inline(never)
    private mutating func longestNumber(_ first: UInt8) throws(ByteError) -> UInt64 {
        var value = UInt64(first & 0x7F)
        var shift: UInt64 = 7
        while true {
            let byte = try self.byte()
            guard shift < 63 || byte <= 1 else { throw .invalid(offset: self.offset - 1) }
            value |= UInt64(byte & 0x7F) << shift
            if byte < 0x80 { return value }
            shift += 7
        }
    }

    @inline(__always)
    mutating func number(_ value: UInt64) throws(ByteError) -> UInt64 { try self.number() }

    @inline(__always)
    mutating func byte(_ value: UInt8) throws(ByteError) -> UInt8 { try self.byte() }

    mutating func fixed(_ value: UInt64) throws(ByteError) -> UInt64 {
        guard self.bytes.count - self.offset >= 8 else { throw .truncated(offset: self.offset) }
        defer { self.offset &+= 8 }
        return self.bytes.span.word(at: self.offset)
    }

    mutating func value<Value: ByteCoded>(_ value: Value) throws(ByteError) -> Value {
        try self.read { (reader) throws(ByteError) in try Value(from: &reader) }
    }

    mutating func bytes(_ value: [UInt8]) throws(ByteError) -> [UInt8] {
        try self.read { (reader) throws(ByteError) in try reader.readBytes() }
    }

    @inline(__always)
    mutating func text(_ value: String) throws(ByteError) -> String {
        let start = self.offset
        let count: UInt64 = try self.number()
        guard count <= UInt64(self.bytes.count - self.offset) else { throw .invalid(offset: start) }
        let range = self.offset..<self.offset + Int(count)
        guard let text = String(utf8: self.bytes.span.extracting(range)) else { throw .invalid(offset: start) }
        self.offset = range.upperBound
        return text
    }

    /// Steps over a text.
    @inline(__always)
    mutating func skipText() throws(ByteError) {
        let start = self.offset
        let count: UInt64 = try self.number()
        guard count <= UInt64(self.bytes.count - self.offset) else { throw .invalid(offset: start) }
        self.offset += Int(count)
    }

    mutating func configuration(_ value: Configuration) throws(ByteError) -> Configuration {
        var reader = ByteReader(self.bytes, in: self.offset..<self.bytes.count)
        let value = try self.configurations.read(&reader)
        self.offset = reader.offset
        return value
    }

    @inline(__always)
    private mutating func read<Value>(
        _ decode: (inout ByteReader) throws(ByteError) -> Value
    ) throws(ByteError) -> Value {
        var reader = ByteReader(self.bytes, in: self.offset..<self.bytes.count)
        let value = try decode(&reader)
        self.offset = reader.offset
        return value
    }

    /// Where the row ends whose length stands here, see ``StateWriter/row(_:)``.
    mutating func rowEnd() throws(ByteError) -> Int {
        guard self.bytes.count - self.offset >= 4 else { throw .truncated(offset: self.offset) }
        var length = 0
        for index in 0..<4 { length |= Int(self.bytes[self.offset + index]) << (8 * index) }
        guard length <= self.bytes.count - self.offset - 4 else { throw .truncated(offset: self.offset) }
        self.offset += 4
        return self.offset + length
    }

    /// The number of the row that begins here.
    ///
    /// - Parameters:
    ///   - expected: The number that it has if none is left out: the one behind the frame's last row.
    ///   - least: The number that it has at least, since rows come in their order.
    ///   - end: The number must be below it.
    @inline(__always)
    mutating func rowNumber<Tag>(expected: Int, least: Int, below end: Int) throws(ByteError) -> Number<Tag> {
        let skipped: UInt64 = try self.number()
        guard skipped < UInt64(end), expected + Int(skipped) < end, expected + Int(skipped) >= least else {
            throw self.fault()
        }
        return Number(expected + Int(skipped))
    }

    /// Goes on elsewhere. Precondition: a place between the first byte and the end.
    mutating func move(to offset: Int) {
        precondition(offset >= 0 && offset <= self.bytes.count)
        self.offset = offset
    }

    func fault() -> ByteError { .invalid(offset: self.offset) }
}

/// Small numbers of both signs as small ones without.
private enum Zigzag {
    @inline(__always)
    static func encode(_ value: Int64) -> UInt64 { UInt64(bitPattern: (value << 1) ^ (value >> 63)) }

    @inline(__always)
    static func decode(_ code: UInt64) -> Int64 { Int64(bitPattern: code >> 1) ^ -Int64(bitPattern: code & 1) }
}
