import Foundation

/// Reads an event stream, and opens it again where it was whenever it ends.
struct EventReader {
    private let endpoint: Endpoint
    private let request: EndpointRequest
    /// How often the stream may be answered 404 before it opens for the first time.
    private let unknownMax: Int

    private var parser: EventParser
    private var body: AsyncThrowingStream<Data, any Error>.Iterator?
    private var events: [ServerSentEvent] = []
    private var unknown = 0
    /// Attempts since the last part came.
    private var attempts = 0

    /// - Parameter unknownMax: How often the gateway may know nothing of what the stream is about, before it opens for the first time.
    init(_ endpoint: Endpoint, _ path: [String], unknownMax: Int = 0) {
        self.endpoint = endpoint
        self.request = EndpointRequest("GET", path)
        self.unknownMax = unknownMax
        self.parser = EventParser(bytesMax: endpoint.answerBytesMax)
    }

    /// The next event. It waits for as long as there is none.
    ///
    /// - Throws: ``FreshetError`` if the gateway refuses the stream for good, or `CancellationError`.
    mutating func next() async throws -> ServerSentEvent {
        while self.events.isEmpty {
            do {
                if self.body == nil { try await self.open() }
                guard let part = try await self.body?.next(isolation: #isolation) else {
                    self.close()
                    try await self.pause(nil)
                    continue
                }
                self.attempts = 0
                self.events = try self.parser.read(part)
            } catch {
                self.close()
                let failure = Endpoint.failure(error)
                guard let failure = failure as? FreshetError, self.isWorthAnotherAttempt(failure) else { throw failure }
                try await self.pause(failure.retryAfter)
            }
        }
        return self.events.removeFirst()
    }

    /// Ends the request; what has come of an event that is not whole comes again.
    mutating func close() {
        self.body = nil
        self.parser.restart()
    }

    private mutating func open() async throws {
        self.attempts += 1
        var request = self.request
        if !self.parser.place.isEmpty { request.headers["last-event-id"] = self.parser.place }
        self.body = try await self.endpoint.open(request).makeAsyncIterator()
        self.unknown = self.unknownMax
    }

    private mutating func isWorthAnotherAttempt(_ failure: FreshetError) -> Bool {
        if case .refused(let refusal) = failure, refusal.status == 404, self.unknown < self.unknownMax {
            self.unknown += 1
            return true
        }
        return failure.isTransient
    }

    /// As long as the gateway asks for, as long as the stream said, or ever longer.
    private func pause(_ asked: Duration?) async throws {
        let retries = self.endpoint.retries
        let own = retries.wait(after: self.attempts, asked: nil) ?? retries.longestWait
        try await Task.sleep(for: asked ?? self.parser.retry ?? own)
    }
}
