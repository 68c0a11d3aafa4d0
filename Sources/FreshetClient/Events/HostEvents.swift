/// An event for a host's widgets.
public enum HostEvent: Sendable, Hashable {
    /// A widget must reload. The gateway sends the reload again, with the same id, until it is acknowledged.
    case reload(Reload)
    /// A widget that waits for its first entry shows this.
    case placeholder(Placeholder)
    /// A widget whose kind has a timeline provider shows this. Answer with ``Signal/entryShown(_:date:)``.
    case entry(Entry)
    /// A kind's relevance has changed: ask for it again.
    case relevance(Invalidation)
    /// A kind's recommendations have changed: ask for them again.
    case recommendations(Invalidation)
    /// Missed events are no longer known: read ``WidgetHost/state()``, then go on. No reload is lost.
    case gap

    /// The subject that is out of date.
    public struct Invalidation: Sendable, Hashable, Decodable {
        /// The app.
        public let app: String
        /// The kind.
        public let kind: String
        /// The host; nil for all hosts.
        public let host: String?
    }

    /// nil for an event of a later version of the gateway.
    init?(_ event: ServerSentEvent) throws {
        switch event.name {
        case "reload": self = .reload(try WireJSON.decode(Reload.self, from: event.data))
        case "placeholder": self = .placeholder(try WireJSON.decode(Placeholder.self, from: event.data))
        case "entry": self = .entry(try WireJSON.decode(Entry.self, from: event.data))
        case "relevance": self = .relevance(try WireJSON.decode(Invalidation.self, from: event.data))
        case "recommendations": self = .recommendations(try WireJSON.decode(Invalidation.self, from: event.data))
        case "gap": self = .gap
        default: return nil
        }
    }
}

/// The events of a host, or of all hosts of an app, for as long as you read them.
///
/// The stream is opened when you ask for the first event, and again at its last position whenever it ends. While the
/// gateway is away, the sequence waits. Reading ends with an error if the gateway refuses the stream:
/// ``FreshetError/refused(_:)``, with `unknown-host` for an unknown host, or `CancellationError` with its task.
public struct HostEvents: AsyncSequence, Sendable {
    let endpoint: Endpoint
    let path: [String]

    /// Begins with the outstanding reloads.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(EventReader(self.endpoint, self.path)) }

    /// Reads the events one by one.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private var reader: EventReader

        fileprivate init(_ reader: EventReader) {
            self.reader = reader
        }

        /// The next event; never nil.
        public mutating func next() async throws -> HostEvent? {
            while true {
                if let event = try HostEvent(try await self.reader.next()) { return event }
            }
        }
    }
}
