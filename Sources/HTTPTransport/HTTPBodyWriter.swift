import NIOCore

/// Where a streamed response's body is written, piece by piece.
package struct HTTPBodyWriter: Sendable {
    private let stream: NIOLoopBound<AsyncResponseStream>

    init(_ stream: NIOLoopBound<AsyncResponseStream>) {
        self.stream = stream
    }

    /// Sends a piece and waits until the peer has room for more.
    ///
    /// Throws ``HTTPTransportError`` when the stream or its connection has gone; the task is cancelled then too.
    package func write(_ bytes: [UInt8]) async throws {
        let stream = self.stream
        try await stream.eventLoop.flatSubmit { stream.value.write(bytes) }.get()
    }

    /// As ``write(_:)``, for text.
    package func write(_ text: String) async throws {
        try await self.write(Array(text.utf8))
    }
}
