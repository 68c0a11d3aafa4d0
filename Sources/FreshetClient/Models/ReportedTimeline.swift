public import Foundation

/// A timeline that a host has made, without what its entries show.
public struct ReportedTimeline: Sendable, Hashable, Encodable {
    /// The reload that it is of, which it acknowledges; nil if the host reloaded by itself.
    public var reload: String?
    /// Names the state of the content.
    public var digest: String?
    /// When the next timeline is due.
    public var policy: ReloadPolicy
    /// In any order.
    public var entries: [ReportedEntry]
    /// How many bytes all entries take that the host draws; nil to keep it.
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

/// From when on a widget shows something, and how relevant that is.
public struct ReportedEntry: Sendable, Hashable, Codable {
    /// From when on.
    public var date: Date
    /// How relevant it is.
    public var relevance: Relevance?

    /// Makes an entry.
    public init(date: Date, relevance: Relevance? = nil) {
        self.date = date
        self.relevance = relevance
    }
}

/// An entry with what it shows.
public struct ContentEntry: Sendable, Hashable, Codable {
    /// From when on it is shown.
    public var date: Date
    /// How relevant it is.
    public var relevance: Relevance?
    /// What the host draws, in the timeline provider's own form.
    public var content: JSONValue

    /// Makes an entry.
    public init(date: Date, relevance: Relevance? = nil, content: JSONValue) {
        self.date = date
        self.relevance = relevance
        self.content = content
    }
}

/// How relevant an entry is beside the others of its timeline.
public struct Relevance: Sendable, Hashable, Codable {
    /// More is more relevant; 0 is not at all.
    public var score: Double
    /// For how many seconds, up to 366 days; nil for as long as the entry is shown.
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
    /// At the next push only.
    case never
    /// Then.
    case after(Date)

    private enum CodingKeys: String, CodingKey { case after }

    /// Writes WidgetKit's word for it.
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

/// Something peculiar about a timeline. The gateway has taken it as it is.
public struct Finding: Sendable, Hashable, Decodable {
    /// For programs: `tooClose`, `empty` and the like.
    public let code: String
    /// For people.
    public let message: String
}

/// A timeline provider's answer about one widget that it was asked for.
public struct TimelineAnswer: Sendable, Hashable, Encodable {
    /// The id of the request.
    public let id: String
    /// Why there is no timeline, at most 1,000 bytes.
    public let error: String?
    /// The timeline.
    public let timeline: ProvidedTimeline?

    /// The timeline that was asked for.
    public init(id: String, timeline: ProvidedTimeline) {
        self.id = id
        self.timeline = timeline
        self.error = nil
    }

    /// There is none, and why. It is asked for again, until the reload's time is over.
    public init(id: String, error: String) {
        self.id = id
        self.timeline = nil
        self.error = error
    }
}

/// A timeline with what its entries show.
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
