/// Appends values to a byte array in the project's one binary form.
///
/// Integers are LEB128 varints (signed ones zigzag first), fixed-width integers little-endian, strings and byte
/// arrays are preceded by their length. Every durable format (log records, snapshots, pattern bytes) is written
/// with this and read back with ``ByteReader``.
///
/// Public, since Swift 6.3 does not inline declarations with package access into other targets, nor specialise generic ones there.
public struct ByteWriter: Sendable {
    /// The written bytes.
    public var bytes: [UInt8]

    /// An empty writer with room for so many bytes.
    @inlinable
    public init(reserving capacity: Int = 0) {
        self.bytes = []
        if capacity > 0 { self.bytes.reserveCapacity(capacity) }
    }

    /// Writes one byte.
    @inlinable
    public mutating func write(byte: UInt8) {
        self.bytes.append(byte)
    }

    /// Writes a byte, 1 or 0.
    @inlinable
    public mutating func write(_ value: Bool) {
        self.bytes.append(value ? 1 : 0)
    }

    /// Writes a LEB128 varint of one to ten bytes.
    @inlinable
    public mutating func write(varint value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            self.bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        self.bytes.append(UInt8(truncatingIfNeeded: rest))
    }

    /// Writes a count. Precondition: it is not negative.
    @inlinable
    public mutating func write(count: Int) {
        self.write(varint: UInt64(count))
    }

    /// Writes a number of either sign, zigzag and as a varint.
    @inlinable
    public mutating func write(signed value: Int64) {
        self.write(varint: UInt64(bitPattern: (value << 1) ^ (value >> 63)))
    }

    /// Writes four bytes, little-endian.
    @inlinable
    public mutating func write(fixed32 value: UInt32) {
        for shift in stride(from: UInt32(0), to: 32, by: 8) {
            self.bytes.append(UInt8(truncatingIfNeeded: value >> shift))
        }
    }

    /// Writes eight bytes, little-endian.
    @inlinable
    public mutating func write(fixed64 value: UInt64) {
        self.bytes.append(addingCapacity: 8) { $0.append(fixed64: value) }
    }

    /// Writes the bit pattern in eight bytes.
    @inlinable
    public mutating func write(_ value: Double) {
        self.write(fixed64: value.bitPattern)
    }

    /// Writes the milliseconds of an instant.
    @inlinable
    public mutating func write(_ instant: Instant) {
        self.write(signed: instant.milliseconds)
    }

    /// Writes the milliseconds of an interval.
    @inlinable
    public mutating func write(_ interval: Interval) {
        self.write(signed: interval.milliseconds)
    }

    /// Writes a length and the UTF-8 of a string.
    @inlinable
    public mutating func write(_ string: String) {
        self.write(string.utf8.span)
    }

    /// Writes a length and bytes.
    @inlinable
    public mutating func write(_ bytes: [UInt8]) {
        self.write(count: bytes.count)
        self.bytes.append(contentsOf: bytes)
    }

    /// Writes a length and bytes.
    @inlinable
    public mutating func write(_ bytes: Span<UInt8>) {
        self.write(count: bytes.count)
        self.bytes.append(copying: bytes)
    }

    /// Writes a presence byte and then, if there is a value, the value.
    @inlinable
    public mutating func write<Value>(_ value: Value?, _ body: (inout ByteWriter, Value) -> Void) {
        guard let value else { return self.write(false) }
        self.write(true)
        body(&self, value)
    }

    /// Writes a count and then each element.
    @inlinable
    public mutating func write<Element>(each elements: [Element], _ body: (inout ByteWriter, Element) -> Void) {
        self.write(count: elements.count)
        for element in elements { body(&self, element) }
    }
}

extension [UInt8] {
    /// The bytes of a span.
    @inlinable
    public init(copying span: Span<UInt8>) {
        self.init()
        self.append(copying: span)
    }

    /// Appends the bytes of a span.
    @inlinable
    public mutating func append(copying span: Span<UInt8>) {
        // Without it the library writes a count of zero into the storage that all empty arrays share.
        guard !span.isEmpty else { return }
        self.append(addingCapacity: span.count) { $0.append(copying: span) }
    }
}

/// Reads the bytes of a ``ByteWriter``.
///
/// Every read is bounds-checked and throws ``ByteError``; a reader never traps on damaged input.
public struct ByteReader: Sendable {
    /// The bytes to read.
    public let bytes: [UInt8]
    /// The index of the next byte to read.
    @inlinable
    public var offset: Int { self.next }
    @usableFromInline var next: Int
    /// One past the last byte that may be read.
    public let end: Int

    /// A reader of all bytes.
    @inlinable
    public init(_ bytes: [UInt8]) {
        self.init(bytes, in: 0..<bytes.count)
    }

    /// A reader of `range` of `bytes`. Precondition: the range lies within the bytes.
    @inlinable
    public init(_ bytes: [UInt8], in range: Range<Int>) {
        precondition(range.lowerBound >= 0 && range.upperBound <= bytes.count)
        self.bytes = bytes
        self.next = range.lowerBound
        self.end = range.upperBound
    }

    /// Whether nothing is left.
    @inlinable
    public var isAtEnd: Bool { self.offset == self.end }
    /// How many bytes are left.
    @inlinable
    public var remaining: Int { self.end - self.offset }

    /// Reads one byte.
    @inlinable
    public mutating func readByte() throws(ByteError) -> UInt8 {
        guard self.offset < self.end else { throw .truncated(offset: self.offset) }
        defer { self.next += 1 }
        return self.bytes[self.offset]
    }

    /// Skips `count` bytes if all of them are zero, else none: for fields that are nearly always zero.
    @inlinable
    public mutating func skipZeroes(_ count: Int) -> Bool {
        guard count <= self.remaining else { return false }
        var bits: UInt8 = 0
        for index in 0..<count { bits |= self.bytes[self.offset &+ index] }
        guard bits == 0 else { return false }
        self.next += count
        return true
    }

    /// Reads a byte that is 1 or 0.
    @inlinable
    public mutating func readBool() throws(ByteError) -> Bool {
        switch try self.readByte() {
        case 0: return false
        case 1: return true
        default: throw .invalid(offset: self.offset - 1)
        }
    }

    /// Reads a varint that fits 64 bits.
    @inlinable
    public mutating func readVarint() throws(ByteError) -> UInt64 {
        var value: UInt64 = 0
        var shift: UInt64 = 0
        while true {
            let byte = try self.readByte()
            guard shift < 63 || byte <= 1 else { throw .invalid(offset: self.offset - 1) }
            value |= UInt64(byte & 0x7F) << shift
            if byte < 0x80 { return value }
            shift += 7
        }
    }

    /// A count of elements that take at least one byte each, so that a damaged count cannot ask for gigabytes.
    @inlinable
    public mutating func readCount() throws(ByteError) -> Int {
        let start = self.offset
        let value = try self.readVarint()
        guard value <= UInt64(self.remaining) else { throw .invalid(offset: start) }
        return Int(value)
    }

    /// Reads a number of either sign.
    @inlinable
    public mutating func readSigned() throws(ByteError) -> Int64 {
        let value = try self.readVarint()
        return Int64(bitPattern: value >> 1) ^ -Int64(bitPattern: value & 1)
    }

    /// A number within bounds that its meaning sets, so that sums and products of it fit.
    @inlinable
    public mutating func readSigned(in bounds: ClosedRange<Int64>) throws(ByteError) -> Int64 {
        let start = self.offset
        let value = try self.readSigned()
        guard bounds.contains(value) else { throw .invalid(offset: start) }
        return value
    }

    /// Reads four bytes, little-endian.
    @inlinable
    public mutating func readFixed32() throws(ByteError) -> UInt32 {
        guard self.remaining >= 4 else { throw .truncated(offset: self.offset) }
        var value: UInt32 = 0
        for index in 0..<4 { value |= UInt32(self.bytes[self.offset + index]) << UInt32(8 * index) }
        self.next += 4
        return value
    }

    /// Reads eight bytes, little-endian.
    @inlinable
    public mutating func readFixed64() throws(ByteError) -> UInt64 {
        guard self.remaining >= 8 else { throw .truncated(offset: self.offset) }
        var value: UInt64 = 0
        for index in 0..<8 { value |= UInt64(self.bytes[self.offset + index]) << UInt64(8 * index) }
        self.next += 8
        return value
    }

    /// Reads a number by its bit pattern.
    @inlinable
    public mutating func readDouble() throws(ByteError) -> Double {
        Double(bitPattern: try self.readFixed64())
    }

    /// Reads an instant.
    @inlinable
    public mutating func readInstant() throws(ByteError) -> Instant {
        Instant(milliseconds: try self.readSigned())
    }

    /// Reads an interval.
    @inlinable
    public mutating func readInterval() throws(ByteError) -> Interval {
        Interval(milliseconds: try self.readSigned())
    }

    /// An interval that is not below zero.
    @inlinable
    public mutating func readLength() throws(ByteError) -> Interval {
        let start = self.offset
        let interval = try self.readInterval()
        guard interval >= .zero else { throw .invalid(offset: start) }
        return interval
    }

    /// Reads a length and so many bytes.
    @inlinable
    public mutating func readBytes() throws(ByteError) -> [UInt8] {
        Array(self.bytes[try self.readByteRange()])
    }

    /// The place of a length-prefixed run of bytes in ``bytes``, for readers that do not want a copy.
    @inlinable
    public mutating func readByteRange() throws(ByteError) -> Range<Int> {
        let count = try self.readCount()
        defer { self.next += count }
        return self.offset..<(self.offset + count)
    }

    /// Reads a length and so many bytes of valid UTF-8.
    @inlinable
    public mutating func readString() throws(ByteError) -> String {
        let start = self.offset
        let range = try self.readByteRange()
        guard let text = String(utf8: self.bytes.span.extracting(range)) else { throw .invalid(offset: start) }
        return text
    }

    /// Reads a case by its raw value, a byte.
    @inlinable
    public mutating func readCase<Case: RawRepresentable<UInt8>>() throws(ByteError) -> Case {
        let start = self.offset
        guard let value = Case(rawValue: try self.readByte()) else { throw .invalid(offset: start) }
        return value
    }

    /// Reads an optional that ``ByteWriter/write(_:_:)`` wrote.
    @inlinable
    public mutating func readOptional<Value>(
        _ body: (inout ByteReader) throws(ByteError) -> Value
    ) throws(ByteError) -> Value? {
        try self.readBool() ? try body(&self) : nil
    }

    /// Reads a list that ``ByteWriter/write(each:_:)`` wrote.
    @inlinable
    public mutating func readEach<Element>(
        _ body: (inout ByteReader) throws(ByteError) -> Element
    ) throws(ByteError) -> [Element] {
        let count = try self.readCount()
        var elements: [Element] = []
        elements.reserveCapacity(count)
        for _ in 0..<count { elements.append(try body(&self)) }
        return elements
    }
}

/// Why bytes could not be read back.
@frozen public enum ByteError: Error, Hashable, Sendable {
    /// The bytes end before the value does.
    case truncated(offset: Int)
    /// A byte at this offset cannot stand there.
    case invalid(offset: Int)
}
