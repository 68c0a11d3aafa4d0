public import Foundation

/// What became of a push, up to now. At every moment ``matched`` is the sum of ``outcomes``.
public struct PushStatus: Sendable, Hashable, Decodable {
    /// The push's id.
    public let id: UUID
    /// The team that sent it.
    public let team: String
    /// Its app; nil if that is not configured any more.
    public let app: String?
    /// How urgent it is.
    public let priority: Priority
    /// When the gateway took it.
    public let acceptedAt: Date
    /// Until when it may wait.
    public let expiresAt: Date
    /// How many instances it matches.
    public let matched: Int
    /// How many of them have come to what; what none has come to is absent.
    public let outcomes: [Outcome: Int]
    /// Why instances have failed, and how many.
    public let failures: [String: Int]?
    /// Why the push as a whole was given up: `tooMany`, it matched more than it may when it was applied.
    public let failure: String?
    /// Whether no outcome can change any more.
    public let isComplete: Bool
    /// How often it was sent again.
    public let repeats: Int
    /// How many partitions have decided it. Until all have, ``matched`` may grow.
    public let appliedBy: Int
    /// How many partitions the gateway has.
    public let partitions: Int
}

/// What became of a push for one instance that it matched.
///
/// Later versions of the gateway may have further ones.
public struct Outcome: RawRepresentable, Sendable, Hashable, Codable, CodingKeyRepresentable {
    /// The gateway's word for it.
    public let rawValue: String

    /// An outcome by the gateway's word.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// It waits for the budget, for a date, or for a reload to join. Not final.
    public static let deferred = Outcome(rawValue: "deferred")
    /// The reload is on its way, and the host has not acknowledged it. Not final.
    public static let issued = Outcome(rawValue: "issued")
    /// The host has reloaded for this push.
    public static let reloaded = Outcome(rawValue: "reloaded")
    /// The host has reloaded, and its budget was not charged.
    public static let exempt = Outcome(rawValue: "exempt")
    /// It joined a reload that was issued for another cause.
    public static let coalesced = Outcome(rawValue: "coalesced")
    /// A later push with the same collapse id took its place.
    public static let superseded = Outcome(rawValue: "superseded")
    /// Its expiration came first.
    public static let expired = Outcome(rawValue: "expired")
    /// The instance showed that digest already.
    public static let unchanged = Outcome(rawValue: "unchanged")
    /// The instance or its host is gone.
    public static let removed = Outcome(rawValue: "removed")
    /// It was withdrawn.
    public static let cancelled = Outcome(rawValue: "cancelled")
    /// It was given up; ``PushStatus/failures`` says why.
    public static let failed = Outcome(rawValue: "failed")
}

/// Whom a push would reach, and what would be decided. Nothing was changed.
public struct DryRun: Sendable, Hashable, Decodable {
    /// How many instances match.
    public let matched: Int
    /// Whether more match than were decided.
    public let sampled: Bool
    /// How many instances were decided.
    public let decided: Int
    /// The time of which this is the answer.
    public let asOf: Date
    /// The decisions about those that were decided.
    public let decisions: [Decision]
    /// Some of those that were decided, at most ten.
    public let sample: [Instance]

    /// How often something would be decided.
    public struct Decision: Sendable, Hashable, Decodable {
        /// The kind that it is about.
        public let kind: String
        /// What would become of the instances: `reload`, or the word of an ``Outcome``.
        public let decision: String
        /// How many instances.
        public let count: Int
    }

    /// A widget instance.
    public struct Instance: Sendable, Hashable, Decodable {
        /// The host that shows it.
        public let host: String
        /// Its id on that host.
        public let instance: String
    }
}
