/// The completed responses of one wakeup of a client session, as bytes and ranges.
package struct ResponseBatch: Sendable {
    package struct Response: Hashable, Sendable {
        package var streamID: Int32
        package var status: Int
        /// Its fields in ``ResponseBatch/fields``, in the order sent.
        package var fields: Range<Int32>
        package var body: ByteRange
        /// The body or the header list passed its limit; the part before the limit is here.
        package var isTooLarge: Bool
    }

    /// A piece of the body of a response that is read as it comes.
    package struct Piece: Hashable, Sendable {
        package var streamID: Int32
        package var bytes: ByteRange
    }

    package var bytes: [UInt8] = []
    package var responses: [Response] = []
    /// Pieces of streamed responses, in the order in which they came. A streamed response itself comes at its end,
    /// without a body.
    package var pieces: [Piece] = []
    package var fields: [RequestBatch.Field] = []

    package init() {}

    package var isEmpty: Bool { self.responses.isEmpty && self.pieces.isEmpty }

    /// Forgets the responses and keeps the storage.
    package mutating func removeAll() {
        self.responses.removeAll(keepingCapacity: true)
        self.pieces.removeAll(keepingCapacity: true)
        self.fields.removeAll(keepingCapacity: true)
        self.bytes.removeAll(keepingCapacity: true)
    }

    package func string(_ range: ByteRange) -> String {
        String(decoding: self.bytes[range.indices], as: UTF8.self)
    }
}
