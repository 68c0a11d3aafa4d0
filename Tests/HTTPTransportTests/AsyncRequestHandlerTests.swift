import HTTP2
import NIOCore
import NIOEmbedded
import Testing
import TransportSupport

@testable import HTTPTransport

/// Answers that an asynchronous handler gives on its event loop, without a task.
@Suite struct AsyncRequestHandlerTests {
    private static func batch(_ path: String) -> RequestBatch {
        var batch = RequestBatch()
        batch.bytes = Array("GET\(path)".utf8)
        batch.requests = [
            RequestBatch.Request(
                streamID: 7,
                method: ByteRange(offset: 0, length: 3),
                path: ByteRange(offset: 3, length: UInt32(path.utf8.count))
            )
        ]
        return batch
    }

    @Test func `what is answered at once waits for no task`() async throws {
        let loop = NIOAsyncTestingEventLoop()
        let (asked, ask) = AsyncStream.makeStream(of: String.self)
        try await loop.executeInContext {
            let backend = RecordedConnection()
            let connection = HTTPConnection(id: 1, remoteAddress: "", eventLoop: loop, version: .http2)
            connection.backend = backend
            let handler = AsyncRequestHandler(
                eventLoop: loop,
                answerAtOnce: { $0.path == ["livez"] ? HTTPResponse(status: 200) : nil },
                respond: { request in
                    ask.yield(request.target)
                    return HTTPResponse(status: 204)
                }
            )
            handler.receive(Self.batch("/livez"), from: connection)
            #expect(backend.answers == ["7 200"])
            handler.receive(Self.batch("/other"), from: connection)
            #expect(backend.answers == ["7 200"])
        }
        var iterator = asked.makeAsyncIterator()
        #expect(await iterator.next() == "/other")
        await loop.shutdownGracefully()
    }

    @Test func `a head is judged on the event loop`() async throws {
        let loop = NIOAsyncTestingEventLoop()
        try await loop.executeInContext {
            let backend = RecordedConnection()
            let connection = HTTPConnection(id: 1, remoteAddress: "", eventLoop: loop, version: .http2)
            connection.backend = backend
            let handler = AsyncRequestHandler(
                eventLoop: loop,
                judge: { head in
                    switch head.target {
                    case "/refused": .refused(HTTPResponse(status: 401))
                    case "/bounded": .accepted(bodyBytesMax: 9)
                    default: .accepted(bodyBytesMax: nil)
                    }
                },
                respond: { _ in HTTPResponse(status: 204) }
            )
            for path in ["/refused", "/bounded", "/other"] { handler.judge(Self.batch(path), from: connection) }
            #expect(backend.answers == ["7 401"])
            #expect(backend.bodyLimits == [9])
        }
        await loop.shutdownGracefully()
    }
}
