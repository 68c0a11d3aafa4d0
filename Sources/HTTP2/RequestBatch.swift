/// A place in a batch's byte arena.
package struct ByteRange: Hashable, Sendable {
    package var offset: UInt32
    package var length: UInt32

    /// The empty place, of a field that did not come.
    package static let empty = ByteRange(offset: 0, length: 0)

    package init(offset: UInt32, length: UInt32) {
        self.offset = offset
        self.length = length
    }

    package var isEmpty: Bool { self.length == 0 }

    /// The same place as array indices.
    package var indices: Range<Int> { Int(self.offset)..<Int(self.offset) + Int(self.length) }
}

/// The completed requests of one wakeup, as bytes and ranges.
///
/// One batch is one value: its receiver reads it with safe code, and the transport reuses its storage for the next
/// wakeup. Ranges are valid for as long as the value they came with; a receiver that answers later copies the bytes that it
/// needs.
///
/// Requests stand in the order in which they completed.
package struct RequestBatch: Sendable {
    /// One header field; neither a pseudo-header nor a trailer.
    package struct Field: Hashable, Sendable {
        /// Lower case, always.
        package var name: ByteRange
        package var value: ByteRange

        package init(name: ByteRange, value: ByteRange) {
            self.name = name
            self.value = value
        }
    }

    /// The faults of a request; empty for nearly all.
    package struct Flags: OptionSet, Hashable, Sendable {
        package let rawValue: UInt8

        package init(rawValue: UInt8) {
            self.rawValue = rawValue
        }

        /// The body passed the listener's limit: `body` holds the bytes before the limit, the rest is thrown away.
        /// Answer 413.
        package static let bodyTooLarge = Flags(rawValue: 1)
        /// The header list passed its limits: `fields` holds the fields before them. Answer 431.
        package static let headersTooLarge = Flags(rawValue: 2)
        /// The rest of the request did not arrive within its deadline. Answer 408.
        package static let timedOut = Flags(rawValue: 4)
    }

    package struct Request: Hashable, Sendable {
        /// The stream to answer on.
        package var streamID: Int32
        package var flags: Flags
        package var method: ByteRange
        /// As sent: with the query, percent-encoded.
        package var path: ByteRange
        /// `:authority`, or the `host` field of a client that sends no `:authority`.
        package var authority: ByteRange
        /// Its fields in ``RequestBatch/fields``, in the order sent; a repeated field stands there twice.
        package var fields: Range<Int32>
        package var body: ByteRange

        package init(
            streamID: Int32,
            flags: Flags = [],
            method: ByteRange = .empty,
            path: ByteRange = .empty,
            authority: ByteRange = .empty,
            fields: Range<Int32> = 0..<0,
            body: ByteRange = .empty
        ) {
            self.streamID = streamID
            self.flags = flags
            self.method = method
            self.path = path
            self.authority = authority
            self.fields = fields
            self.body = body
        }
    }

    /// All names, values and bodies.
    package var bytes: [UInt8] = []
    package var requests: [Request] = []
    package var fields: [Field] = []

    package init() {}

    package var isEmpty: Bool { self.requests.isEmpty }

    /// Forgets the requests and keeps the storage.
    package mutating func removeAll() {
        self.requests.removeAll(keepingCapacity: true)
        self.fields.removeAll(keepingCapacity: true)
        self.bytes.removeAll(keepingCapacity: true)
    }

    /// The bytes at a place, as text; for logs and for paths that are not hot.
    package func string(_ range: ByteRange) -> String {
        String(decoding: self.bytes[range.indices], as: UTF8.self)
    }
}
