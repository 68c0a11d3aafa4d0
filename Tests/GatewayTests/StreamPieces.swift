import NIOCore
import NIOPosix
import Testing
import TransportSupport

@testable import HTTPTransport

/// The content of a streamed answer, piece by piece, until it ends.
enum StreamPieces {
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
            connection.backend = RecordedConnection { continuation.yield($0) }
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
