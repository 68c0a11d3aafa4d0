import HTTP2
import NIOCore

/// One exchange of an ``AsyncRequestHandler``, on its loop: where the task's answer goes out.
final class AsyncResponseStream {
    let connection: HTTPConnection
    private let streamID: Int32
    private let isHead: Bool
    /// Set by the handler as soon as the task exists.
    var task: Task<Void, Never>?
    /// A writer that waits for room.
    private var waiting: EventLoopPromise<Void>?
    private var isClosed = false

    init(connection: HTTPConnection, streamID: Int32, isHead: Bool) {
        self.connection = connection
        self.streamID = streamID
        self.isHead = isHead
    }

    /// Sends a whole answer.
    func respond(_ response: HTTPResponse) {
        guard !self.isClosed else { return }
        var fields = Self.fields(response)
        var body: [UInt8] = []
        if case .bytes(let bytes) = response.body {
            let hasLength = response.status >= 200 && response.status != 204 && response.status != 304
            if hasLength, response.headers["content-length"] == nil {
                fields.append(name: "content-length", value: String(bytes.count))
            }
            body = self.isHead ? [] : bytes
        }
        self.connection.respond(self.streamID, status: response.status, fields: fields, body: body.span)
        self.connection.flush()
    }

    /// Sends the head of a streamed answer; false if there will be no body to stream.
    func begin(_ response: HTTPResponse) -> Bool {
        guard !self.isClosed else { return false }
        guard !self.isHead else {
            self.respond(response)
            return false
        }
        let begun = self.connection.beginStreaming(
            self.streamID,
            status: response.status,
            fields: Self.fields(response)
        )
        self.connection.flush()
        return begun
    }

    /// Sends a piece; the result comes when there is room for the next one.
    func write(_ bytes: [UInt8]) -> EventLoopFuture<Void> {
        let eventLoop = self.connection.eventLoop
        guard !self.isClosed, self.waiting == nil else { return eventLoop.makeFailedFuture(Self.gone) }
        let taken = self.connection.write(self.streamID, bytes.span)
        self.connection.flush()
        switch taken {
        case .accepted:
            return eventLoop.makeSucceededVoidFuture()
        case .closed:
            return eventLoop.makeFailedFuture(Self.gone)
        case .full where self.isWritableAgain:
            self.isWritableAgain = false
            return eventLoop.makeSucceededVoidFuture()
        case .full:
            let promise = eventLoop.makePromise(of: Void.self)
            self.waiting = promise
            return promise.futureResult
        }
    }

    /// The flush after a write may already have made room.
    private var isWritableAgain = false

    func becameWritable() {
        guard let waiting else {
            self.isWritableAgain = true
            return
        }
        self.waiting = nil
        waiting.succeed()
    }

    func finish() {
        guard !self.isClosed else { return }
        self.connection.finish(self.streamID)
        self.connection.flush()
    }

    /// Ends a streamed answer that cannot be completed.
    func breakOff() {
        guard !self.isClosed else { return }
        self.connection.reset(self.streamID)
        self.connection.flush()
    }

    /// The stream has gone: the work for it may stop.
    func close() {
        self.isClosed = true
        self.waiting?.fail(Self.gone)
        self.waiting = nil
        self.task?.cancel()
    }

    private static var gone: HTTPTransportError {
        HTTPTransportError(.streamReset(.cancel), "the peer left while the response was being written")
    }

    private static func fields(_ response: HTTPResponse) -> ResponseFields {
        var fields = ResponseFields()
        for field in response.headers.all {
            fields.append(name: field.name, value: field.value)
        }
        return fields
    }
}
