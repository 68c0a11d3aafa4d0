package import HTTP2
package import NIOCore

/// Lets one asynchronous function answer requests, one task each: for listeners that are not on the hot path.
///
/// The task is cancelled when its stream or connection goes. Requests beyond a limit never get to the function; they
/// are answered with 408, 413 or 431 here.
package final class AsyncRequestHandler: RequestBatchHandler {
    private struct Key: Hashable {
        let connection: UInt64
        let stream: Int32
    }

    private let eventLoop: any EventLoop
    private let respond: @Sendable (HTTPRequest) async -> HTTPResponse
    private let refuse: @Sendable (_ status: Int, _ title: String) -> HTTPResponse
    private let verdict: @Sendable (HTTPRequest) -> HTTPHeadVerdict
    private let answerAtOnce: @Sendable (HTTPRequest) -> HTTPResponse?
    private var streams: [Key: AsyncResponseStream] = [:]

    /// - Parameters:
    ///   - refuse: makes the answers to requests beyond a limit; by default a problem detail (RFC 9457).
    ///   - judge: judges a request whose body has not come, by its head; by default all pass. Does not wait.
    ///   - answerAtOnce: answers requests that are to wait for no task, on the event loop; nil for all others.
    ///   - respond: answers a request.
    package init(
        eventLoop: any EventLoop,
        refuse: @escaping @Sendable (_ status: Int, _ title: String) -> HTTPResponse = AsyncRequestHandler.problem,
        judge: @escaping @Sendable (HTTPRequest) -> HTTPHeadVerdict = { _ in .accepted(bodyBytesMax: nil) },
        answerAtOnce: @escaping @Sendable (HTTPRequest) -> HTTPResponse? = { _ in nil },
        respond: @escaping @Sendable (HTTPRequest) async -> HTTPResponse
    ) {
        self.eventLoop = eventLoop
        self.refuse = refuse
        self.verdict = judge
        self.answerAtOnce = answerAtOnce
        self.respond = respond
    }

    /// A problem detail without a code of its own.
    package static func problem(status: Int, title: String) -> HTTPResponse {
        HTTPResponse(
            status: status,
            headers: ["content-type": "application/problem+json", "cache-control": "no-store"],
            body: .bytes(Array("{\"type\":\"about:blank\",\"title\":\"\(title)\",\"status\":\(status)}".utf8))
        )
    }

    package func receive(_ batch: borrowing RequestBatch, from connection: HTTPConnection) {
        for index in batch.requests.indices {
            let received = batch.requests[index]
            let stream = Self.stream(received, in: batch, connection)
            if let refusal = self.refusal(received.flags) {
                stream.respond(refusal)
                continue
            }
            let request = Self.request(received, in: batch, connection)
            if let response = self.answerAtOnce(request) {
                stream.respond(response)
                continue
            }
            let key = Key(connection: connection.id, stream: received.streamID)
            self.streams[key] = stream
            self.run(request, stream, key)
        }
    }

    package func judge(_ heads: borrowing RequestBatch, from connection: HTTPConnection) {
        for index in heads.requests.indices {
            let head = heads.requests[index]
            switch self.verdict(Self.request(head, in: heads, connection)) {
            case .refused(let response):
                connection.paceByCredentials()
                Self.stream(head, in: heads, connection).respond(response)
            case .accepted(let bodyBytesMax?): connection.limitBody(of: head.streamID, to: bodyBytesMax)
            case .accepted(nil): break
            }
        }
    }

    private static func stream(
        _ received: RequestBatch.Request,
        in batch: borrowing RequestBatch,
        _ connection: HTTPConnection
    ) -> AsyncResponseStream {
        let isHead = batch.string(received.method) == "HEAD"
        return AsyncResponseStream(connection: connection, streamID: received.streamID, isHead: isHead)
    }

    private static func request(
        _ received: RequestBatch.Request,
        in batch: borrowing RequestBatch,
        _ connection: HTTPConnection
    ) -> HTTPRequest {
        var request = HTTPRequest(
            method: batch.string(received.method),
            target: batch.string(received.path),
            body: Array(batch.bytes[received.body.indices]),
            authority: batch.string(received.authority),
            peerCertificate: connection.peerCertificate,
            remoteAddress: connection.remoteAddress,
            version: connection.version,
            refusedCredentials: connection.refusedCredentials
        )
        for field in received.fields {
            let place = batch.fields[Int(field)]
            request.headers.append(batch.string(place.name), batch.string(place.value))
        }
        return request
    }

    package func connectionClosed(_ connection: HTTPConnection) {
        for (key, stream) in self.streams where key.connection == connection.id {
            self.streams[key] = nil
            stream.close()
        }
    }

    package func streamClosed(_ streamID: Int32, on connection: HTTPConnection) {
        self.streams.removeValue(forKey: Key(connection: connection.id, stream: streamID))?.close()
    }

    package func streamWritable(_ streamID: Int32, on connection: HTTPConnection) {
        self.streams[Key(connection: connection.id, stream: streamID)]?.becameWritable()
    }

    private func refusal(_ flags: RequestBatch.Flags) -> HTTPResponse? {
        if flags.contains(.headersTooLarge) { return self.refuse(431, "Request Header Fields Too Large") }
        if flags.contains(.bodyTooLarge) { return self.refuse(413, "Content Too Large") }
        if flags.contains(.timedOut) { return self.refuse(408, "Request Timeout") }
        return nil
    }

    private func run(_ request: HTTPRequest, _ stream: AsyncResponseStream, _ key: Key) {
        let eventLoop = self.eventLoop
        let respond = self.respond
        let bound = NIOLoopBound(stream, eventLoop: eventLoop)
        let handler = NIOLoopBound(self, eventLoop: eventLoop)
        stream.task = Task {
            let response = await respond(request)
            eventLoop.execute { handler.value.answer(response, bound.value, key) }
        }
    }

    private func answer(_ response: HTTPResponse, _ stream: AsyncResponseStream, _ key: Key) {
        stream.connection.paceByCredentials()
        guard case .stream(let produce) = response.body else {
            self.streams[key] = nil
            return stream.respond(response)
        }
        guard stream.begin(response) else { return }
        let eventLoop = self.eventLoop
        let bound = NIOLoopBound(stream, eventLoop: eventLoop)
        let handler = NIOLoopBound(self, eventLoop: eventLoop)
        // A task of its own: else the memory that the answer took of the other would stay for as long as the stream
        // does.
        stream.task = Task {
            do {
                try await produce(HTTPBodyWriter(bound))
                eventLoop.execute {
                    handler.value.streams[key] = nil
                    bound.value.finish()
                }
            } catch {
                eventLoop.execute {
                    handler.value.streams[key] = nil
                    bound.value.breakOff()
                }
            }
        }
    }
}
