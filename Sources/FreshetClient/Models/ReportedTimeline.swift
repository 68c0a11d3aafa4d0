public import Foundation

/// A timeline that a host has made, without the content of its entries.
public struct ReportedTimeline: Sendable, Hashable, Encodable {
    /// Its reload, which it acknowledges; nil if the host reloaded by itself.
    public var reload: String?
    /// Names the state of the content.
    public var digest: String?
    /// When the next timeline is due.
    public var policy: ReloadPolicy
    /// The entries, in any order.
    public var entries: [ReportedEntry]
    /// The bytes of content of all entries; nil to send no number.
    public var contentBytes: Int?

    /// Makes a timeline.
    public init(
        of reload: String? = nil,
        digest: String? = nil,
        policy: ReloadPolicy = .atEnd,
        entries: [ReportedEntry],
        contentBytes: Int? = nil
    ) {
        self.reload = reload
        self.digest = digest
        self.policy = policy
        self.entries = entries
        self.contentBytes = contentBytes
    }
}

/// The start of an entry, and its relevance.
public struct ReportedEntry: Sendable, Hashable, Codable {
    /// The date from which the widget shows it.
    public var date: Date
    /// Its relevance.
    public var relevance: Relevance?

    /// Makes an entry.
    public init(date: Date, relevance: Relevance? = nil) {
        self.date = date
        self.relevance = relevance
    }
}

/// An entry with its content.
public struct ContentEntry: Sendable, Hashable, Codable {
    /// The date from which the widget shows it.
    public var date: Date
    /// Its relevance.
    public var relevance: Relevance?
    /// The content to draw, in the timeline provider's own form.
    public var content: JSONValue

    /// Makes an entry.
    public init(date: Date, relevance: Relevance? = nil, content: JSONValue) {
        self.date = date
        self.relevance = relevance
        self.content = content
    }
}

/// The relevance of an entry, relative to the others of its timeline.
public struct Relevance: Sendable, Hashable, Codable {
    /// The score: a higher one is more relevant, 0 is not relevant.
    public var score: Double
    /// The number of seconds, up to 366 days; nil for as long as the entry is shown.
    public var duration: Double?

    /// Makes a relevance.
    public init(score: Double, duration: Double? = nil) {
        self.score = score
        self.duration = duration
    }
}

/// When a widget's next timeline is due.
public enum ReloadPolicy: Sendable, Hashable, Encodable {
    /// After the last entry.
    case atEnd
    /// After the next push only.
    case never
    /// At that date.
    case after(Date)

    private enum CodingKeys: String, CodingKey { case after }

    /// Writes WidgetKit's name for it.
    public func encode(to encoder: any Encoder) throws {
        switch self {
        case .atEnd, .never:
            var container = encoder.singleValueContainer()
            try container.encode(self == .atEnd ? "atEnd" : "never")
        case .after(let date):
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(date, forKey: .after)
        }
    }
}

/// A finding about a timeline. The gateway has accepted the timeline unchanged.
public struct Finding: Sendable, Hashable, Decodable {
    /// A code for programs: `tooClose`, `empty` and others.
    public let code: String
    /// A text for people.
    public let message: String
}

/// A timeline provider's answer about one widget.
public struct TimelineAnswer: Sendable, Hashable, Encodable {
    /// The id of the request.
    public let id: String
    /// Why there is no timeline, at most 1,000 bytes.
    public let error: String?
    /// The timeline.
    public let timeline: ProvidedTimeline?

    /// The requested timeline.
    public init(id: String, timeline: ProvidedTimeline) {
        self.id = id
        self.timeline = timeline
        self.error = nil
    }

    /// The timeline is missing, with a reason. The gateway asks again until the reload expires.
    public init(id: String, error: String) {
        self.id = id
        self.timeline = nil
        self.error = error
    }
}

/// A timeline with the content of its entries.
public struct ProvidedTimeline: Sendable, Hashable, Encodable {
    /// Names the state of the content; nil for a hash of it.
    public var digest: String?
    /// When the next timeline is due.
    public var policy: ReloadPolicy
    /// In any order.
    public var entries: [ContentEntry]

    /// Makes a timeline.
    public init(digest: String? = nil, policy: ReloadPolicy = .atEnd, entries: [ContentEntry]) {
        self.digest = digest
        self.policy = policy
        self.entries = entries
    }
}
