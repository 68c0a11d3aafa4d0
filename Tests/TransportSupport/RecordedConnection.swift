package import HTTP2
package import HTTPTransport

/// The other end of a connection: it takes every call, and keeps the answers.
package final class RecordedConnection: HTTPConnectionBackend {
    /// Stream and status of each whole answer.
    package private(set) var answers: [String] = []
    /// How much of a body may come, of each head that was judged.
    package private(set) var bodyLimits: [Int] = []
    private let written: (String) -> Void

    /// - Parameter written: Gets the streamed body, piece by piece.
    package init(written: @escaping (String) -> Void = { _ in }) { self.written = written }

    package func respond(
        _ streamID: Int32,
        status: Int,
        fields: borrowing ResponseFields,
        body: Span<UInt8>
    ) -> Bool {
        self.answers.append("\(streamID) \(status)")
        return true
    }

    package func write(_ streamID: Int32, _ bytes: Span<UInt8>) -> StreamWrite {
        self.written(String(decoding: bytes.indices.map { bytes[$0] }, as: UTF8.self))
        return .accepted
    }

    package func limitBody(of streamID: Int32, to bytes: Int) { self.bodyLimits.append(bytes) }

    package var unacknowledgedSettings: Int { 0 }

    package func prefetch(_ streamIDs: Span<Int32>) {}
    package func beginStreaming(_ streamID: Int32, status: Int, fields: borrowing ResponseFields) -> Bool { true }
    package func finish(_ streamID: Int32) {}
    package func reset(_ streamID: Int32, _ code: HTTP2ErrorCode) {}
    package func flush() {}
    package func goAway(_ code: HTTP2ErrorCode, debug: String) {}
    package func end(for limit: HTTPListenerLimit, _ reason: String) {}
    package func setMaxConcurrentStreams(_ limit: UInt32) {}
    package func closeNow() {}
}
