/// The completed responses of one wakeup of a client session, as bytes and ranges.
package struct ResponseBatch: Sendable {
    package struct Response: Hashable, Sendable {
        package var streamID: Int32
        package var status: Int
        /// Its fields in ``ResponseBatch/fields``, in the order sent.
        package var fields: Range<Int32>
        package var body: ByteRange
        /// The body or the header list passed its limit; what came before it is here.
        package var isTooLarge: Bool
    }

    package var bytes: [UInt8] = []
    package var responses: [Response] = []
    package var fields: [RequestBatch.Field] = []

    package init() {}

    package var isEmpty: Bool { self.responses.isEmpty }

    /// Forgets the responses and keeps the storage.
    package mutating func removeAll() {
        self.responses.removeAll(keepingCapacity: true)
        self.fields.removeAll(keepingCapacity: true)
        self.bytes.removeAll(keepingCapacity: true)
    }

    package func string(_ range: ByteRange) -> String {
        String(decoding: self.bytes[range.indices], as: UTF8.self)
    }
}
