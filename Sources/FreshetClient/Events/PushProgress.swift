/// The outcomes of a push: its state now, then each change, until nothing can change any more.
///
/// The stream is opened when you ask for the first state, and again whenever it ends early. A push may wait for hours.
public struct PushProgress: AsyncSequence, Sendable {
    let endpoint: Endpoint
    let path: [String]

    /// Begins with the present state.
    public func makeAsyncIterator() -> AsyncIterator {
        // The gateway knows a push once it has applied all earlier records.
        AsyncIterator(EventReader(self.endpoint, self.path, unknownMax: self.endpoint.retries.attemptsMax))
    }

    /// Reads the states one by one.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private var reader: EventReader
        private var last: PushStatus?

        fileprivate init(_ reader: EventReader) {
            self.reader = reader
        }

        /// The next state; nil after the final one.
        ///
        /// - Throws: ``FreshetError/refused(_:)`` if the gateway does not know the push, or the credential may not see
        ///   it; `CancellationError` with its task.
        public mutating func next() async throws -> PushStatus? {
            while self.last?.isComplete != true {
                let event = try await self.reader.next()
                guard event.name == "progress" || event.name == "complete" else { continue }
                let status = try WireJSON.decode(PushStatus.self, from: event.data)
                // A stream that is opened again begins with a known state.
                guard status != self.last else { continue }
                self.last = status
                if status.isComplete { self.reader.close() }
                return status
            }
            return nil
        }
    }
}
