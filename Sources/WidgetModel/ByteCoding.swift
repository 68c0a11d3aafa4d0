/// Appends values to a byte array in the project's one binary form.
///
/// Integers are LEB128 varints (signed ones zigzag first), fixed-width integers little-endian, strings and byte
/// arrays are preceded by their length. Every durable format (log records, snapshots, pattern bytes) is written
/// with this and read back with ``ByteReader``.
package struct ByteWriter: Sendable {
    package var bytes: [UInt8]

    package init(reserving capacity: Int = 0) {
        self.bytes = []
        if capacity > 0 { self.bytes.reserveCapacity(capacity) }
    }

    package mutating func write(byte: UInt8) {
        self.bytes.append(byte)
    }

    package mutating func write(_ value: Bool) {
        self.bytes.append(value ? 1 : 0)
    }

    package mutating func write(varint value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            self.bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        self.bytes.append(UInt8(truncatingIfNeeded: rest))
    }

    package mutating func write(count: Int) {
        self.write(varint: UInt64(count))
    }

    package mutating func write(signed value: Int64) {
        self.write(varint: UInt64(bitPattern: (value << 1) ^ (value >> 63)))
    }

    package mutating func write(fixed32 value: UInt32) {
        for shift in stride(from: UInt32(0), to: 32, by: 8) {
            self.bytes.append(UInt8(truncatingIfNeeded: value >> shift))
        }
    }

    package mutating func write(fixed64 value: UInt64) {
        self.bytes.append(addingCapacity: 8) { bytes in
            for shift in 0..<UInt64(8) { bytes.append(UInt8(truncatingIfNeeded: value >> (shift * 8))) }
        }
    }

    package mutating func write(_ value: Double) {
        self.write(fixed64: value.bitPattern)
    }

    package mutating func write(_ instant: Instant) {
        self.write(signed: instant.milliseconds)
    }

    package mutating func write(_ interval: Interval) {
        self.write(signed: interval.milliseconds)
    }

    package mutating func write(_ string: String) {
        self.write(string.utf8.span)
    }

    package mutating func write(_ bytes: [UInt8]) {
        self.write(count: bytes.count)
        self.bytes.append(contentsOf: bytes)
    }

    package mutating func write(_ bytes: Span<UInt8>) {
        self.write(count: bytes.count)
        self.bytes.append(copying: bytes)
    }

    /// Writes a presence byte and then, if there is a value, the value.
    package mutating func write<Value>(_ value: Value?, _ body: (inout ByteWriter, Value) -> Void) {
        guard let value else { return self.write(false) }
        self.write(true)
        body(&self, value)
    }

    /// Writes a count and then each element.
    package mutating func write<Element>(each elements: [Element], _ body: (inout ByteWriter, Element) -> Void) {
        self.write(count: elements.count)
        for element in elements { body(&self, element) }
    }
}

extension [UInt8] {
    /// The bytes of a span.
    package init(copying span: Span<UInt8>) {
        self.init()
        self.append(copying: span)
    }

    /// Appends the bytes of a span.
    package mutating func append(copying span: Span<UInt8>) {
        self.append(addingCapacity: span.count) { output in
            for index in span.indices { output.append(span[index]) }
        }
    }
}

/// Reads the bytes of a ``ByteWriter``.
///
/// Every read is bounds-checked and throws ``ByteFault``; a reader never traps on damaged input.
package struct ByteReader: Sendable {
    package let bytes: [UInt8]
    /// The index of the next byte to read.
    package private(set) var offset: Int
    /// One past the last byte that may be read.
    package let end: Int

    package init(_ bytes: [UInt8]) {
        self.init(bytes, in: 0..<bytes.count)
    }

    /// A reader of `range` of `bytes`. Precondition: the range lies within the bytes.
    package init(_ bytes: [UInt8], in range: Range<Int>) {
        precondition(range.lowerBound >= 0 && range.upperBound <= bytes.count)
        self.bytes = bytes
        self.offset = range.lowerBound
        self.end = range.upperBound
    }

    package var isAtEnd: Bool { self.offset == self.end }
    package var remaining: Int { self.end - self.offset }

    package mutating func readByte() throws(ByteFault) -> UInt8 {
        guard self.offset < self.end else { throw .truncated(offset: self.offset) }
        defer { self.offset += 1 }
        return self.bytes[self.offset]
    }

    /// Skips `count` bytes if all of them are zero, else none: for fields that are nearly always zero.
    package mutating func skipZeroes(_ count: Int) -> Bool {
        guard count <= self.remaining else { return false }
        var bits: UInt8 = 0
        for index in 0..<count { bits |= self.bytes[self.offset &+ index] }
        guard bits == 0 else { return false }
        self.offset += count
        return true
    }

    package mutating func readBool() throws(ByteFault) -> Bool {
        switch try self.readByte() {
        case 0: return false
        case 1: return true
        default: throw .invalid(offset: self.offset - 1)
        }
    }

    package mutating func readVarint() throws(ByteFault) -> UInt64 {
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
    package mutating func readCount() throws(ByteFault) -> Int {
        let start = self.offset
        let value = try self.readVarint()
        guard value <= UInt64(self.remaining) else { throw .invalid(offset: start) }
        return Int(value)
    }

    package mutating func readSigned() throws(ByteFault) -> Int64 {
        let value = try self.readVarint()
        return Int64(bitPattern: value >> 1) ^ -Int64(bitPattern: value & 1)
    }

    /// A number within bounds that its meaning sets, so that sums and products of it fit.
    package mutating func readSigned(in bounds: ClosedRange<Int64>) throws(ByteFault) -> Int64 {
        let start = self.offset
        let value = try self.readSigned()
        guard bounds.contains(value) else { throw .invalid(offset: start) }
        return value
    }

    package mutating func readFixed32() throws(ByteFault) -> UInt32 {
        guard self.remaining >= 4 else { throw .truncated(offset: self.offset) }
        var value: UInt32 = 0
        for index in 0..<4 { value |= UInt32(self.bytes[self.offset + index]) << UInt32(8 * index) }
        self.offset += 4
        return value
    }

    package mutating func readFixed64() throws(ByteFault) -> UInt64 {
        guard self.remaining >= 8 else { throw .truncated(offset: self.offset) }
        var value: UInt64 = 0
        for index in 0..<8 { value |= UInt64(self.bytes[self.offset + index]) << UInt64(8 * index) }
        self.offset += 8
        return value
    }

    package mutating func readDouble() throws(ByteFault) -> Double {
        Double(bitPattern: try self.readFixed64())
    }

    package mutating func readInstant() throws(ByteFault) -> Instant {
        Instant(milliseconds: try self.readSigned())
    }

    package mutating func readInterval() throws(ByteFault) -> Interval {
        Interval(milliseconds: try self.readSigned())
    }

    /// An interval that is not below zero.
    package mutating func readLength() throws(ByteFault) -> Interval {
        let start = self.offset
        let interval = try self.readInterval()
        guard interval >= .zero else { throw .invalid(offset: start) }
        return interval
    }

    package mutating func readBytes() throws(ByteFault) -> [UInt8] {
        Array(self.bytes[try self.readByteRange()])
    }

    /// The place of a length-prefixed run of bytes in ``bytes``, for readers that do not want a copy.
    package mutating func readByteRange() throws(ByteFault) -> Range<Int> {
        let count = try self.readCount()
        defer { self.offset += count }
        return self.offset..<(self.offset + count)
    }

    package mutating func readString() throws(ByteFault) -> String {
        let start = self.offset
        let range = try self.readByteRange()
        do {
            return String(copying: try UTF8Span(validating: self.bytes.span.extracting(range)))
        } catch {
            throw .invalid(offset: start)
        }
    }

    /// Reads an optional that ``ByteWriter/write(_:_:)`` wrote.
    package mutating func readOptional<Value>(
        _ body: (inout ByteReader) throws(ByteFault) -> Value
    ) throws(ByteFault) -> Value? {
        try self.readBool() ? try body(&self) : nil
    }

    /// Reads a list that ``ByteWriter/write(each:_:)`` wrote.
    package mutating func readEach<Element>(
        _ body: (inout ByteReader) throws(ByteFault) -> Element
    ) throws(ByteFault) -> [Element] {
        let count = try self.readCount()
        var elements: [Element] = []
        elements.reserveCapacity(count)
        for _ in 0..<count { elements.append(try body(&self)) }
        return elements
    }
}

/// Why bytes could not be read back.
package enum ByteFault: Error, Hashable, Sendable {
    /// The bytes end before the value does.
    case truncated(offset: Int)
    /// A byte at this offset cannot stand there.
    case invalid(offset: Int)
}
