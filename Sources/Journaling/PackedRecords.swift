package import WidgetModel

/// Records of one partition in a row: each is a varint length and its bytes.
///
/// Only well-formed frames are accepted, so a reader can walk them without checks.
package struct PackedRecords: Hashable, Sendable {
    package private(set) var bytes: [UInt8]
    /// How many records there are.
    package private(set) var count: Int

    /// No records.
    package init() {
        self.bytes = []
        self.count = 0
    }

    /// One record.
    package init(_ record: [UInt8]) {
        self.init()
        self.append(record)
    }

    /// The records that stored bytes hold. O(records).
    ///
    /// - Parameter bytes: Bytes of another value of this type, perhaps damaged since.
    /// - Throws: ``ByteError`` if they are not frames from end to end.
    package init(validating bytes: [UInt8]) throws(ByteError) {
        var reader = ByteReader(bytes)
        var count = 0
        while !reader.isAtEnd {
            _ = try reader.readByteRange()
            count += 1
        }
        self.bytes = bytes
        self.count = count
    }

    /// Appends one record. An empty record is a record too.
    package mutating func append(_ record: [UInt8]) {
        self.append { $0.bytes.append(contentsOf: record) }
    }

    /// Appends the record that `body` writes.
    @inline(__always)
    package mutating func append(_ body: (inout ByteWriter) -> Void) {
        var writer = ByteWriter()
        swap(&writer.bytes, &self.bytes)
        // The length stands before the record and is known after it: one byte is kept for it, enough for nearly all.
        let start = writer.bytes.count
        writer.write(byte: 0)
        body(&writer)
        let length = writer.bytes.count - start - 1
        if length < 0x80 {
            writer.bytes[start] = UInt8(truncatingIfNeeded: length)
        } else {
            var prefix = ByteWriter()
            prefix.write(count: length)
            writer.bytes.replaceSubrange(start...start, with: prefix.bytes)
        }
        swap(&writer.bytes, &self.bytes)
        self.count += 1
    }

    /// Appends all of another's records.
    package mutating func append(contentsOf other: PackedRecords) {
        self.bytes.append(contentsOf: other.bytes)
        self.count += other.count
    }

    /// The records since the last call; there are none afterwards.
    package mutating func takeAll() -> PackedRecords {
        var taken = PackedRecords()
        swap(&taken, &self)
        return taken
    }

    /// Where each record is in ``bytes``, in order.
    package var ranges: Ranges { Ranges(bytes: self.bytes) }

    package struct Ranges: Sequence, Sendable {
        fileprivate let bytes: [UInt8]

        package func makeIterator() -> Iterator { Iterator(reader: ByteReader(self.bytes)) }

        package struct Iterator: IteratorProtocol, Sendable {
            fileprivate var reader: ByteReader

            package mutating func next() -> Range<Int>? {
                guard !self.reader.isAtEnd else { return nil }
                guard let range = try? self.reader.readByteRange() else {
                    preconditionFailure("packed records are checked when they are made")
                }
                return range
            }
        }
    }
}
