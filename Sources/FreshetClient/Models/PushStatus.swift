public import Foundation

/// The outcomes of a push so far. At every moment ``matched`` is the sum of ``outcomes``.
public struct PushStatus: Sendable, Hashable, Decodable {
    /// The push's id.
    public let id: UUID
    /// The team that sent it.
    public let team: String
    /// Its app; nil if the configuration does not have it any more.
    public let app: String?
    /// How urgent it is.
    public let priority: Priority
    /// When the gateway accepted it.
    public let acceptedAt: Date
    /// Until when it may wait.
    public let expiresAt: Date
    /// The number of instances that it matches.
    public let matched: Int
    /// The number of instances for each outcome; an outcome without instances is absent.
    public let outcomes: [Outcome: Int]
    /// The reasons of failed instances, with their numbers.
    public let failures: [String: Int]?
    /// Why the push as a whole was given up: with `tooMany` it matched more instances than it may when it was applied.
    public let failure: String?
    /// Whether no outcome can change any more.
    public let isComplete: Bool
    /// How often it was repeated.
    public let repeats: Int
    /// The number of partitions that have decided it. Until all have, ``matched`` may grow.
    public let appliedBy: Int
    /// The number of partitions that the push is for: all of the gateway for a push to an app's widgets, one for a push to a device.
    public let partitions: Int
}

/// The outcome of a push for one matched instance.
///
/// Later versions of the gateway may have more outcomes.
public struct Outcome: RawRepresentable, Sendable, Hashable, Codable, CodingKeyRepresentable {
    /// The gateway's name for it.
    public let rawValue: String

    /// An outcome by the gateway's name.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// It waits for the budget, for a date, or for a reload to join. Not final.
    public static let deferred = Outcome(rawValue: "deferred")
    /// The reload is issued, and the host has not acknowledged it. Not final.
    public static let issued = Outcome(rawValue: "issued")
    /// The host has reloaded for this push.
    public static let reloaded = Outcome(rawValue: "reloaded")
    /// The host has reloaded, and its budget was not charged.
    public static let exempt = Outcome(rawValue: "exempt")
    /// It joined a reload that was issued for another cause.
    public static let coalesced = Outcome(rawValue: "coalesced")
    /// A later push with the same collapse id replaced it.
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

/// The instances that a push would reach, and the decisions about them. A dry run changes nothing.
public struct DryRun: Sendable, Hashable, Decodable {
    /// How many instances match.
    public let matched: Int
    /// Whether more instances match than were decided.
    public let sampled: Bool
    /// How many instances were decided.
    public let decided: Int
    /// The log's time of this answer.
    public let asOf: Date
    /// The decisions about the decided instances.
    public let decisions: [Decision]
    /// Some of the decided instances, at most ten.
    public let sample: [Instance]

    /// A decision, with the number of its instances.
    public struct Decision: Sendable, Hashable, Decodable {
        /// The kind of the instances.
        public let kind: String
        /// The decision: `reload`, or the name of an ``Outcome``.
        public let decision: String
        /// The number of instances.
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
