import HTTP2
import NIOCore
import NIOPosix
import Testing

@testable import HTTPTransport

/// What a streamed answer says, piece by piece, until it ends.
enum StreamPieces {
    /// The other end of a connection, which takes whatever comes.
    private final class Reader: HTTPConnectionBackend {
        private let pieces: AsyncStream<String>.Continuation

        init(_ pieces: AsyncStream<String>.Continuation) { self.pieces = pieces }

        func write(_ streamID: Int32, _ bytes: Span<UInt8>) -> StreamWrite {
            self.pieces.yield(String(decoding: bytes.indices.map { bytes[$0] }, as: UTF8.self))
            return .accepted
        }

        func respond(_ streamID: Int32, status: Int, fields: borrowing ResponseFields, body: Span<UInt8>) -> Bool {
            true
        }
        func limitBody(of streamID: Int32, to bytes: Int) {}
        func approach(_ streamIDs: Span<Int32>) {}
        func beginStreaming(_ streamID: Int32, status: Int, fields: borrowing ResponseFields) -> Bool { true }
        func finish(_ streamID: Int32) {}
        func reset(_ streamID: Int32, _ code: HTTP2ErrorCode) {}
        func flush() {}
        func goAway(_ code: HTTP2ErrorCode, debug: String) {}
        func end(for limit: HTTPListenerLimit, _ reason: String) {}
        func setMaxConcurrentStreams(_ limit: UInt32) {}
        var unacknowledgedSettings: Int { 0 }
        func closeNow() {}
    }

    /// Reads a stream in a task of its own, which ends with it.
    static func of(_ response: HTTPResponse) async throws -> AsyncStream<String> {
        guard case .stream(let body) = response.body else {
            Issue.record("no stream, but \(response.status)")
            return AsyncStream { $0.finish() }
        }
        let (pieces, continuation) = AsyncStream.makeStream(of: String.self)
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let writer = try await loop.submit {
            let connection = HTTPConnection(id: 1, remoteAddress: "", eventLoop: loop, version: .http2)
            connection.backend = Reader(continuation)
            let stream = AsyncResponseStream(connection: connection, streamID: 1, isHead: false)
            return HTTPBodyWriter(NIOLoopBound(stream, eventLoop: loop))
        }.get()
        let reading = Task {
            // A stream that is cut short and one that comes to its end say no more, both of them.
            try? await body(writer)
            continuation.finish()
        }
        continuation.onTermination = { _ in reading.cancel() }
        return pieces
    }
}
