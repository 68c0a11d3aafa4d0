/// A value that has one binary form, in both directions.
package protocol ByteCoded {
    /// Appends the value.
    func encode(into writer: inout ByteWriter)
    /// Reads a value back; throws if there is none.
    init(from reader: inout ByteReader) throws(ByteError)
}

extension ByteCoded {
    /// The value's bytes alone.
    package var encoded: [UInt8] {
        var writer = ByteWriter()
        self.encode(into: &writer)
        return writer.bytes
    }

    /// The value that these bytes are, all of them.
    package init(encoded bytes: [UInt8]) throws(ByteError) {
        var reader = ByteReader(bytes)
        try self.init(from: &reader)
        guard reader.isAtEnd else { throw .invalid(offset: reader.offset) }
    }
}

/// A structure whose bytes are those of its fields, one after the other.
package protocol FieldCoded: ByteCoded {
    associatedtype Coding: FieldCoding<Self>
    /// Its fields in their order, and the initialiser that takes them: ``Fields``.
    static var coding: Coding { get }
    /// Whether the fields go together: what does not is not read back.
    var isPossible: Bool { get }
}

extension FieldCoded {
    package func encode(into writer: inout ByteWriter) { Self.coding.encode(self, into: &writer) }
    package init(from reader: inout ByteReader) throws(ByteError) {
        let start = reader.offset
        self = try Self.coding.read(from: &reader)
        guard self.isPossible else { throw .invalid(offset: start) }
    }
    package var isPossible: Bool { true }
}

/// The coding of a structure's fields, in both directions.
package protocol FieldCoding<Root>: Sendable {
    associatedtype Root
    func encode(_ root: Root, into writer: inout ByteWriter)
    func read(from reader: inout ByteReader) throws(ByteError) -> Root
}

/// One description of a structure's bytes for both directions, as in `Fields(Self.init, \.host, \.limit)`: writing and
/// reading cannot drift apart.
package struct Fields<Root, each Value: ByteCoded>: FieldCoding {
    private let make: @Sendable (repeat each Value) -> Root
    private let paths: (repeat any KeyPath<Root, each Value> & Sendable)

    /// - Parameters:
    ///   - make: Makes the structure of its fields.
    ///   - path: The fields, in the order in which `make` takes them.
    package init(
        _ make: @escaping @Sendable (repeat each Value) -> Root,
        _ path: repeat any KeyPath<Root, each Value> & Sendable
    ) {
        self.make = make
        self.paths = (repeat each path)
    }

    package func encode(_ root: Root, into writer: inout ByteWriter) {
        repeat (root[keyPath: each self.paths]).encode(into: &writer)
    }

    package func read(from reader: inout ByteReader) throws(ByteError) -> Root {
        self.make(repeat try (each Value)(from: &reader))
    }
}

// MARK: - The parts of fields

extension Bool: ByteCoded {
    package func encode(into writer: inout ByteWriter) { writer.write(self) }
    package init(from reader: inout ByteReader) throws(ByteError) { self = try reader.readBool() }
}

extension Int: ByteCoded {
    package func encode(into writer: inout ByteWriter) { writer.write(signed: Int64(self)) }
    package init(from reader: inout ByteReader) throws(ByteError) { self = Int(try reader.readSigned()) }
}

extension UInt8: ByteCoded {
    package func encode(into writer: inout ByteWriter) { writer.write(byte: self) }
    package init(from reader: inout ByteReader) throws(ByteError) { self = try reader.readByte() }
}

extension UInt16: ByteCoded {
    package func encode(into writer: inout ByteWriter) { writer.write(varint: UInt64(self)) }
    package init(from reader: inout ByteReader) throws(ByteError) { self = try reader.readNumber() }
}

extension UInt32: ByteCoded {
    package func encode(into writer: inout ByteWriter) { writer.write(varint: UInt64(self)) }
    package init(from reader: inout ByteReader) throws(ByteError) { self = try reader.readNumber() }
}

extension UInt64: ByteCoded {
    package func encode(into writer: inout ByteWriter) { writer.write(varint: self) }
    package init(from reader: inout ByteReader) throws(ByteError) { self = try reader.readVarint() }
}

extension Double: ByteCoded {
    package func encode(into writer: inout ByteWriter) { writer.write(self) }
    package init(from reader: inout ByteReader) throws(ByteError) { self = try reader.readDouble() }
}

extension String: ByteCoded {
    package func encode(into writer: inout ByteWriter) { writer.write(self) }
    package init(from reader: inout ByteReader) throws(ByteError) { self = try reader.readString() }
}

extension ByteReader {
    /// A number that fits its type.
    fileprivate mutating func readNumber<Value: FixedWidthInteger>() throws(ByteError) -> Value {
        let start = self.offset
        guard let value = Value(exactly: try self.readVarint()) else { throw .invalid(offset: start) }
        return value
    }
}

extension ByteWriter {
    /// A case's tag, and its value.
    package mutating func write(tag: UInt8, _ value: some ByteCoded) {
        self.write(byte: tag)
        value.encode(into: &self)
    }
}

extension Optional: ByteCoded where Wrapped: ByteCoded {
    package func encode(into writer: inout ByteWriter) { writer.write(self) { $1.encode(into: &$0) } }
    package init(from reader: inout ByteReader) throws(ByteError) {
        self = try reader.readOptional { (reader) throws(ByteError) in try Wrapped(from: &reader) }
    }
}

extension Array: ByteCoded where Element: ByteCoded {
    package func encode(into writer: inout ByteWriter) { writer.write(each: self) { $1.encode(into: &$0) } }
    package init(from reader: inout ByteReader) throws(ByteError) {
        self = try reader.readEach { (reader) throws(ByteError) in try Element(from: &reader) }
    }
}

/// Of a type whose raw values are part of the format it is enough to say that it is coded.
extension ByteCoded where Self: RawRepresentable, RawValue: ByteCoded {
    package func encode(into writer: inout ByteWriter) { self.rawValue.encode(into: &writer) }
    package init(from reader: inout ByteReader) throws(ByteError) {
        let start = reader.offset
        guard let value = Self(rawValue: try RawValue(from: &reader)) else { throw .invalid(offset: start) }
        self = value
    }
}

extension Instant: ByteCoded {
    package func encode(into writer: inout ByteWriter) { writer.write(self) }
    package init(from reader: inout ByteReader) throws(ByteError) { self = try reader.readInstant() }
}

extension Interval: ByteCoded {
    package func encode(into writer: inout ByteWriter) { writer.write(self) }
    package init(from reader: inout ByteReader) throws(ByteError) { self = try reader.readInterval() }
}

extension LogPosition: ByteCoded {
    package func encode(into writer: inout ByteWriter) { writer.write(varint: self.rawValue) }
    package init(from reader: inout ByteReader) throws(ByteError) { self.init(try reader.readVarint()) }
}

extension Number: ByteCoded {
    package func encode(into writer: inout ByteWriter) { writer.write(varint: UInt64(self.raw)) }
    package init(from reader: inout ByteReader) throws(ByteError) {
        let start = reader.offset
        guard let raw = UInt32(exactly: try reader.readVarint()) else { throw .invalid(offset: start) }
        self.init(raw: raw)
    }
}

extension PartitionID: ByteCoded {
    package func encode(into writer: inout ByteWriter) { self.rawValue.encode(into: &writer) }
    package init(from reader: inout ByteReader) throws(ByteError) { self.init(try UInt16(from: &reader)) }
}

extension PushID: ByteCoded {
    package func encode(into writer: inout ByteWriter) {
        writer.write(fixed64: self.high)
        writer.write(fixed64: self.low)
    }

    package init(from reader: inout ByteReader) throws(ByteError) {
        let high = try reader.readFixed64()
        self.init(high: high, low: try reader.readFixed64())
    }
}

extension DeviceToken: ByteCoded {
    package func encode(into writer: inout ByteWriter) { writer.write(self.bytes) }
    package init(from reader: inout ByteReader) throws(ByteError) { self.init(bytes: try reader.readBytes()) }
}

/// A name or an id that is text.
package protocol CodedName: ByteCoded {
    var rawValue: String { get }
    init(_ rawValue: String)
}

extension CodedName {
    package func encode(into writer: inout ByteWriter) { writer.write(self.rawValue) }
    package init(from reader: inout ByteReader) throws(ByteError) { self.init(try reader.readString()) }
}

extension BundleID: CodedName {}
extension TeamID: CodedName {}
extension WidgetKind: CodedName {}
extension HostID: CodedName {}
extension InstanceID: CodedName {}
extension ChannelID: CodedName {}
extension HostKey: ByteCoded {}
extension InstanceAddress: ByteCoded {}

extension Configuration: ByteCoded {}
extension ParameterValue: ByteCoded {}

extension Exemption: ByteCoded {}
extension Priority: ByteCoded {}
extension PushEnvironment: ByteCoded {}
extension PushOutcome: ByteCoded {}
extension ReloadCause: ByteCoded {}
extension ReloadCauses: ByteCoded {}
extension WidgetFamily: ByteCoded {}

extension CollapseID: ByteCoded {
    package func encode(into writer: inout ByteWriter) { writer.write(self.bytes) }
    package init(from reader: inout ByteReader) throws(ByteError) {
        let start = reader.offset
        guard let id = CollapseID(bytes: try reader.readBytes()) else { throw .invalid(offset: start) }
        self = id
    }
}
