/// The header fields of a response, packed for reuse.
///
/// Keep one per loop: `removeAll()`, `append` the fields of the answer, hand it to `respond`, which copies. `:status` is
/// not part of it.
///
/// Names are written in lower case by the caller, as HTTP/2 wants them (RFC 9113, 8.2.1).
package struct ResponseFields: Sendable {
    struct Entry: Sendable {
        var offset: UInt32
        var nameLength: UInt16
        var isIndexed: Bool
        var valueLength: UInt32
    }

    private(set) var bytes: [UInt8] = []
    private(set) var entries: [Entry] = []

    package init() {}

    package var count: Int { self.entries.count }

    /// Forgets the fields and keeps the storage.
    package mutating func removeAll() {
        self.bytes.removeAll(keepingCapacity: true)
        self.entries.removeAll(keepingCapacity: true)
    }

    /// Adds a field.
    ///
    /// - Parameter indexed: whether HPACK may put the field into its dynamic table. False for values that never come
    ///   again, such as `apns-id`: they would push everything useful out of the peer's table.
    package mutating func append(name: StaticString, value: Span<UInt8>, indexed: Bool = true) {
        let offset = self.append(name)
        // Sound: the span's bytes are copied during the call.
        unsafe value.withUnsafeBufferPointer { unsafe self.bytes.append(contentsOf: $0) }
        self.close(offset: offset, nameLength: name.utf8CodeUnitCount, isIndexed: indexed)
    }

    /// Adds a field whose value is text.
    package mutating func append(name: StaticString, value: String, indexed: Bool = true) {
        let offset = self.append(name)
        self.bytes.append(contentsOf: value.utf8)
        self.close(offset: offset, nameLength: name.utf8CodeUnitCount, isIndexed: indexed)
    }

    /// Adds a field whose value is known when compiling.
    package mutating func append(name: StaticString, value: StaticString) {
        let offset = self.append(name)
        self.append(value)
        self.close(offset: offset, nameLength: name.utf8CodeUnitCount, isIndexed: true)
    }

    /// Adds a field whose name is only known at run time; the name is made lower case.
    package mutating func append(name: String, value: String, indexed: Bool = true) {
        let offset = self.bytes.count
        for byte in name.utf8 {
            self.bytes.append(byte >= 0x41 && byte <= 0x5A ? byte | 0x20 : byte)
        }
        let nameLength = self.bytes.count - offset
        self.bytes.append(contentsOf: value.utf8)
        self.close(offset: offset, nameLength: nameLength, isIndexed: indexed)
    }

    /// Gives the last field another value of the same length, for answers that differ in nothing else.
    package mutating func replaceLastValue(_ value: Span<UInt8>) {
        self.replaceValue(at: self.entries.count - 1, value)
    }

    /// Gives a field another value of the same length: for requests that differ in little, and are many.
    package mutating func replaceValue(at index: Int, _ value: Span<UInt8>) {
        let entry = self.entries[index]
        precondition(Int(entry.valueLength) == value.count, "a value is replaced by one of another length")
        let start = Int(entry.offset) + Int(entry.nameLength)
        // Sound: the entry's value lies within the bytes and is as long as the new one, which is copied during the call.
        unsafe value.withUnsafeBufferPointer { value in
            guard let source = value.baseAddress else { return }
            unsafe self.bytes.withUnsafeMutableBufferPointer { bytes in
                unsafe (bytes.baseAddress! + start).update(from: source, count: value.count)
            }
        }
    }

    /// The name of a field, as text.
    package func name(at index: Int) -> String {
        let entry = self.entries[index]
        let start = Int(entry.offset)
        return String(decoding: self.bytes[start..<start + Int(entry.nameLength)], as: UTF8.self)
    }

    /// The value of a field, as text.
    package func value(at index: Int) -> String {
        let entry = self.entries[index]
        let start = Int(entry.offset) + Int(entry.nameLength)
        return String(decoding: self.bytes[start..<start + Int(entry.valueLength)], as: UTF8.self)
    }

    @discardableResult
    private mutating func append(_ text: StaticString) -> Int {
        let offset = self.bytes.count
        // Sound: the buffer is the literal itself, which lives as long as the program, and is only read.
        text.withUTF8Buffer { unsafe self.bytes.append(contentsOf: $0) }
        return offset
    }

    private mutating func close(offset: Int, nameLength: Int, isIndexed: Bool) {
        self.entries.append(
            Entry(
                offset: UInt32(offset),
                nameLength: UInt16(nameLength),
                isIndexed: isIndexed,
                valueLength: UInt32(self.bytes.count - offset - nameLength)
            )
        )
    }
}
