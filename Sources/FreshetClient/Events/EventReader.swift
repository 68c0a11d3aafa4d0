import Foundation

/// Reads an event stream, and opens it again at its last position whenever it ends.
struct EventReader {
    private let endpoint: Endpoint
    private let request: EndpointRequest
    /// How often the gateway may answer 404 before the stream opens for the first time.
    private let unknownMax: Int

    private var parser: EventParser
    private var body: AsyncThrowingStream<Data, any Error>.Iterator?
    private var events: [ServerSentEvent] = []
    private var unknown = 0
    /// Attempts since the last part arrived.
    private var attempts = 0

    /// - Parameter unknownMax: How often the gateway may answer 404 before the stream opens for the first time.
    init(_ endpoint: Endpoint, _ path: [String], unknownMax: Int = 0) {
        self.endpoint = endpoint
        self.request = EndpointRequest("GET", path)
        self.unknownMax = unknownMax
        self.parser = EventParser(bytesMax: endpoint.answerBytesMax)
    }

    /// The next event. It waits until there is one.
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

    /// Ends the request. An incomplete event comes again.
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

    /// The wait that the gateway asks for, or that of the stream, or a growing one.
    private func pause(_ asked: Duration?) async throws {
        let retries = self.endpoint.retries
        let own = retries.wait(after: self.attempts, asked: nil) ?? retries.longestWait
        try await Task.sleep(for: asked ?? self.parser.retry ?? own)
    }
}
