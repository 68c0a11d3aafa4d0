import WidgetModel

/// One description of a row for both ways: each method gives back its value, which a writer was given and a reader has
/// read in its place.
///
/// So what is written and what is read cannot drift apart: `Row(host: try coder.slot(self.host), …)` names every field
/// once. The order of the calls is the format.
protocol StateCoder {
    mutating func number(_ value: UInt64) throws(ByteFault) -> UInt64
    mutating func fixed(_ value: UInt64) throws(ByteFault) -> UInt64
    mutating func byte(_ value: UInt8) throws(ByteFault) -> UInt8
    /// A value that has an encoding of its own.
    mutating func value<Value>(
        _ value: Value,
        _ encode: (Value, inout ByteWriter) -> Void,
        _ decode: (inout ByteReader) throws(ByteFault) -> Value
    ) throws(ByteFault) -> Value
    /// For a value that was read and cannot stand there.
    func fault() -> ByteFault
}

extension StateCoder {
    /// A number that fits the field it is for.
    mutating func number<Value: FixedWidthInteger>(_ value: Value) throws(ByteFault) -> Value {
        guard let value = Value(exactly: try self.number(UInt64(value))) else { throw self.fault() }
        return value
    }

    /// A number that may be below zero.
    mutating func signed(_ value: Int64) throws(ByteFault) -> Int64 {
        let zigzag = try self.number(UInt64(bitPattern: (value << 1) ^ (value >> 63)))
        return Int64(bitPattern: zigzag >> 1) ^ -Int64(bitPattern: zigzag & 1)
    }

    /// Milliseconds, where the two ends of the range stand for "never" and are the most frequent: a byte each.
    mutating func date(_ value: Int64) throws(ByteFault) -> Int64 {
        let tag: UInt8 = value == .max ? 0 : value == .min ? 1 : 2
        switch try self.byte(tag) {
        case 0: return .max
        case 1: return .min
        case 2: return try self.signed(value)
        default: throw self.fault()
        }
    }

    /// A row's number, of which the greatest stands for none: a byte.
    mutating func slot(_ value: UInt32) throws(ByteFault) -> UInt32 {
        let next = try self.number(UInt64(value &+ 1))
        guard let slot = UInt32(exactly: next) else { throw self.fault() }
        return slot &- 1
    }

    mutating func flag(_ value: Bool) throws(ByteFault) -> Bool {
        switch try self.byte(value ? 1 : 0) {
        case 0: return false
        case 1: return true
        default: throw self.fault()
        }
    }

    mutating func instant(_ value: Instant) throws(ByteFault) -> Instant {
        Instant(milliseconds: try self.signed(value.milliseconds))
    }

    mutating func interval(_ value: Interval) throws(ByteFault) -> Interval {
        Interval(milliseconds: try self.signed(value.milliseconds))
    }

    mutating func position(_ value: LogPosition) throws(ByteFault) -> LogPosition {
        LogPosition(try self.number(value.rawValue))
    }

    mutating func push(_ value: PushID) throws(ByteFault) -> PushID {
        let high = try self.fixed(value.high)
        return PushID(high: high, low: try self.fixed(value.low))
    }

    mutating func text(_ value: String) throws(ByteFault) -> String {
        try self.value(value, { $1.write($0) }, { (reader) throws(ByteFault) in try reader.readString() })
    }

    mutating func bytes(_ value: [UInt8]) throws(ByteFault) -> [UInt8] {
        try self.value(value, { $1.write($0) }, { (reader) throws(ByteFault) in try reader.readBytes() })
    }

    mutating func token(_ value: DeviceToken) throws(ByteFault) -> DeviceToken {
        DeviceToken(bytes: try self.bytes(value.bytes))
    }

    /// One of the cases of an enumeration whose raw values are part of the format.
    mutating func choice<Value: RawRepresentable<UInt8>>(_ value: Value) throws(ByteFault) -> Value {
        guard let value = Value(rawValue: try self.byte(value.rawValue)) else { throw self.fault() }
        return value
    }

    /// A value that may be missing.
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - blank: Any value, to be read over.
    ///   - body: Codes the value.
    mutating func optional<Value>(
        _ value: Value?,
        _ blank: @autoclosure () -> Value,
        _ body: (inout Self, Value) throws(ByteFault) -> Value
    ) throws(ByteFault) -> Value? {
        guard try self.flag(value != nil) else { return nil }
        return try body(&self, value ?? blank())
    }

    /// A list.
    mutating func list<Value>(
        _ values: [Value],
        _ blank: @autoclosure () -> Value,
        _ body: (inout Self, Value) throws(ByteFault) -> Value
    ) throws(ByteFault) -> [Value] {
        let count: Int = try self.number(values.count)
        var coded: [Value] = []
        // Not reserved: a count that is damaged must not ask for memory that its elements do not fill.
        for index in 0..<count { coded.append(try body(&self, index < values.count ? values[index] : blank())) }
        return coded
    }

    /// Counters in a fixed number.
    mutating func counters<let count: Int, Value: FixedWidthInteger>(
        _ values: InlineArray<count, Value>
    ) throws(ByteFault) -> InlineArray<count, Value> {
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

    mutating func value<Value>(
        _ value: Value,
        _ encode: (Value, inout ByteWriter) -> Void,
        _ decode: (inout ByteReader) throws(ByteFault) -> Value
    ) -> Value {
        encode(value, &self.writer)
        return value
    }

    func fault() -> ByteFault { .invalid(offset: self.writer.bytes.count) }
}

/// Reads rows back.
struct StateReader: StateCoder {
    var reader: ByteReader

    mutating func number(_ value: UInt64) throws(ByteFault) -> UInt64 { try self.reader.readVarint() }
    mutating func fixed(_ value: UInt64) throws(ByteFault) -> UInt64 { try self.reader.readFixed64() }
    mutating func byte(_ value: UInt8) throws(ByteFault) -> UInt8 { try self.reader.readByte() }

    mutating func value<Value>(
        _ value: Value,
        _ encode: (Value, inout ByteWriter) -> Void,
        _ decode: (inout ByteReader) throws(ByteFault) -> Value
    ) throws(ByteFault) -> Value {
        try decode(&self.reader)
    }

    func fault() -> ByteFault { .invalid(offset: self.reader.offset) }
}
