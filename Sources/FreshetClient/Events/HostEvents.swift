/// What happens to a host's widgets.
public enum HostEvent: Sendable, Hashable {
    /// A widget is to reload. It is offered again, with the same id, until it is acknowledged.
    case reload(Reload)
    /// A widget that waits for its first entry is to show this.
    case placeholder(Placeholder)
    /// A widget whose kind has a timeline provider is to show this. Answer it with ``Signal/entryShown(_:date:)``.
    case entry(Entry)
    /// What is relevant of a kind is to be asked for anew.
    case relevance(Invalidation)
    /// What is recommended of a kind is to be asked for anew.
    case recommendations(Invalidation)
    /// What was missed is not known any more: read ``WidgetHost/state()``, then go on. No reload is lost.
    case gap

    /// What is out of date.
    public struct Invalidation: Sendable, Hashable, Decodable {
        /// The app.
        public let app: String
        /// The kind.
        public let kind: String
        /// The host; nil where it is about all of them.
        public let host: String?
    }

    /// nil for an event that a later version of the gateway has.
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

/// The events of a host, or of all hosts of an app, for as long as they are read.
///
/// The stream is opened when the first event is asked for, and again whenever it ends, from where it was. The gateway is waited for
/// while it is away. Reading ends with an error where the gateway refuses the stream: ``FreshetError/refused(_:)``, as `unknown-host` for
/// a host that it does not know, or `CancellationError` with its task.
public struct HostEvents: AsyncSequence, Sendable {
    let endpoint: Endpoint
    let path: [String]

    /// Begins with what is outstanding.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(EventReader(self.endpoint, self.path)) }

    /// Reads the events one by one.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private var reader: EventReader

        fileprivate init(_ reader: EventReader) {
            self.reader = reader
        }

        /// The next event. It never is nil.
        public mutating func next() async throws -> HostEvent? {
            while true {
                if let event = try HostEvent(try await self.reader.next()) { return event }
            }
        }
    }
}
