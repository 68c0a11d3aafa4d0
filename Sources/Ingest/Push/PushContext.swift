package import APNSWire
package import HTTP2
package import HTTPTransport
import Partitions
package import WidgetModel

/// A request of the push listener on its way from its bytes to its answer, with its connection and time.
///
/// Every step of ``PushHandler`` borrows it. It points into the batch that the request came in and cannot outlive it; an answer that comes
/// later needs a ``PendingAnswer``. The requests of a batch are read into it one after the other, so that only one takes hold of the
/// connection.
package struct PushContext: ~Copyable, ~Escapable {
    package private(set) var request: RequestBatch.Request
    /// Its place in the batch, for values that were read of all requests at once; nil if it came alone.
    private(set) var number: Int?
    /// Where its parts are in ``bytes``.
    private(set) var head: PushRequestHead
    let bytes: Span<UInt8>
    /// Of all requests of the batch.
    private let batchFields: Span<RequestBatch.Field>
    let connection: HTTPConnection
    /// The remembered state of the connection.
    let state: PushConnection
    let now: Instant
    /// nil if it is not traced.
    var trace: TracedSpan?

    /// A request that came alone.
    @_lifetime(copy bytes)
    package init(
        _ request: RequestBatch.Request,
        head: PushRequestHead,
        in bytes: Span<UInt8>,
        from connection: HTTPConnection,
        _ state: PushConnection,
        at now: Instant
    ) {
        self.request = request
        self.number = nil
        self.head = head
        self.bytes = bytes
        self.batchFields = Span()
        self.connection = connection
        self.state = state
        self.now = now
        self.trace = nil
    }

    /// For the requests of a batch; no request is read yet.
    @_lifetime(borrow batch)
    init(
        of batch: borrowing RequestBatch,
        from connection: HTTPConnection,
        _ state: PushConnection,
        at now: Instant
    ) {
        self.request = RequestBatch.Request(streamID: 0)
        self.number = nil
        self.head = PushRequestHead()
        self.bytes = batch.bytes.span
        self.batchFields = batch.fields.span
        self.connection = connection
        self.state = state
        self.now = now
        self.trace = nil
    }

    /// Becomes a request of the batch.
    @inline(__always)
    mutating func read(_ request: RequestBatch.Request, _ number: Int) {
        self.request = request
        self.number = number
        self.head = PushRequestHead(request, self.fields, in: self.bytes)
        self.trace = nil
    }

    /// Is judged as a request for another path from now on.
    mutating func move(to path: APNSWire.ByteRange) { self.head = self.head.moved(to: path) }

    /// Its header fields.
    var fields: Span<RequestBatch.Field> {
        @_lifetime(copy self)
        get {
            let range = self.request.fields
            return self.batchFields.extracting(Int(range.lowerBound)..<Int(range.upperBound))
        }
    }

    var body: Span<UInt8> {
        @_lifetime(copy self)
        get { self.bytes.extracting(self.request.body.indices) }
    }

    /// The length of the body; `.max` if there was more of it than the listener takes.
    var bodyBytes: Int { self.request.flags.contains(.bodyTooLarge) ? .max : self.request.body.indices.count }

    /// A part of the head, for values that outlive the request.
    func copy(of range: APNSWire.ByteRange) -> [UInt8] { Array(copying: self.bytes.extracting(range.bounds)) }

    /// The bytes at a place, as text; for paths that are not hot.
    func text(_ range: HTTP2.ByteRange) -> String { String(decoding: self.copy(of: range.wire), as: UTF8.self) }
}

/// The place and the id of an answer, for when the request's bytes are gone.
struct PendingAnswer {
    let connection: HTTPConnection
    let streamID: Int32
    /// The characters of `apns-id`, or of a channel's `apns-request-id`.
    let id: [UInt8]
    let trace: TracedSpan?

    init(_ push: borrowing PushContext, id: [UInt8]) {
        self.connection = push.connection
        self.streamID = push.request.streamID
        self.id = id
        self.trace = push.trace
    }

    init(_ push: borrowing PushContext, _ id: AnswerID) {
        self.init(push, id: id.text(push.bytes))
    }
}

extension PushRequestHead {
    private static let methodName = Array(":method".utf8)
    private static let pathName = Array(":path".utf8)

    @inline(__always)
    fileprivate init(_ request: RequestBatch.Request, _ fields: Span<RequestBatch.Field>, in bytes: Span<UInt8>) {
        self.init()
        self.receive(name: Self.methodName.span, value: request.method.wire, in: bytes)
        self.receive(name: Self.pathName.span, value: request.path.wire, in: bytes)
        for index in fields.indices {
            let field = fields[index]
            self.receive(name: bytes.extracting(field.name.indices), value: field.value.wire, in: bytes)
        }
    }
}

extension HTTP2.ByteRange {
    /// The same place, in the words of the target that reads it.
    var wire: APNSWire.ByteRange { APNSWire.ByteRange(offset: self.offset, count: self.length) }
}
