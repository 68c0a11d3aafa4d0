package import IntentMatching
package import WidgetModel

/// The outcomes of one push in one partition: `GET /v1/pushes/<apns-id>`.
package struct PushView: Hashable, Sendable {
    package let id: PushID
    package let team: TeamID
    /// The app that it is for; nil if that is not configured any more.
    package let app: BundleID?
    /// Tells pushes apart that share an id: a hash of headers and body.
    package let contentHash: UInt64
    package let position: LogPosition
    package let acceptedAt: Instant
    package let priority: Priority
    /// When it ends `expired` if it still waits; equal to ``acceptedAt`` for a push that may not wait.
    package let expiresAt: Instant
    package let notBefore: Instant?
    /// How many instances matched: always ``OutcomeCounts/total``.
    package let matched: Int
    package let counts: OutcomeCounts
    /// How many repeats of it were answered.
    package let repeats: Int
    /// Whether it is for an app, so that every partition applies one like it.
    package let isForApp: Bool
    /// Whether it was decided for all that it matches; until then more may be matched.
    package let isApplied: Bool
    /// Why it was decided for no instance here; nil if it was decided.
    package let failure: PushFailure?
    /// Since when nothing of it can change here any more; nil while something can.
    package let completedAt: Instant?
    /// Why it waits; nil if it waits for no instance, and in lists.
    package internal(set) var waiting: PushWaiting?

    /// Whether nothing of it can change here any more.
    package var isComplete: Bool { self.completedAt != nil }
}

/// How many instances of a push are in each outcome, and why failures failed.
package struct OutcomeCounts: Hashable, Sendable {
    /// By the outcomes' raw values.
    private var counts: [Int]
    /// By the reasons' raw values; they add up to `failed`.
    private var failures: [Int]

    package subscript(outcome: PushOutcome) -> Int {
        get { self.counts[Int(outcome.rawValue)] }
        set { self.counts[Int(outcome.rawValue)] = newValue }
    }

    package subscript(reason: FailureReason) -> Int {
        get { self.failures[Int(reason.rawValue)] }
        set { self.failures[Int(reason.rawValue)] = newValue }
    }

    package var total: Int { self.counts.reduce(0, +) }

    /// Adds another partition's counts of the same push.
    package static func += (left: inout OutcomeCounts, right: OutcomeCounts) {
        for index in left.counts.indices { left.counts[index] += right.counts[index] }
        for index in left.failures.indices { left.failures[index] += right.failures[index] }
    }
}

extension OutcomeCounts: FieldCoded {
    package static let coding = Fields(Self.init, \.counts, \.failures)
    package var isPossible: Bool {
        self.counts.count == PushOutcome.allCases.count && self.failures.count == FailureReason.allCases.count
    }

    package init() {
        self.init(
            counts: Array(repeating: 0, count: PushOutcome.allCases.count),
            failures: Array(repeating: 0, count: FailureReason.allCases.count)
        )
    }
}

/// The instances that a push would reach, and the decision for each, if it were accepted now.
package struct DryRunView: Hashable, Sendable {
    package enum Decision: UInt8, NamedCase {
        /// Reloads at once, charged.
        case reload = 0
        /// Reloads at once, not charged.
        case exempt = 1
        case deferred = 2
        case unchanged = 3
        case expired = 4
        /// Fails, since too much waits already.
        case failed = 5

        package static let names = CaseNames<Decision>()
    }

    package struct Row: Hashable, Sendable {
        package let kind: WidgetKind
        package let decision: Decision
        package var count: Int
    }

    /// How many instances match, decided or not.
    package internal(set) var matched = 0
    /// Whether the push would be answered as a repeat, without any decision.
    package internal(set) var isRepeat = false
    /// Of the instances that were decided: sorted by kind, then decision; no row with a count of 0.
    package internal(set) var rows: [Row] = []
    /// Some of the instances that were decided, at most ``sampleMax``.
    package internal(set) var sample: [InstanceAddress] = []
    /// How they were found.
    package internal(set) var plans: [QueryPlan] = []
    /// The log's time of this answer.
    package let asOf: Instant

    /// For how many instances it was decided; fewer than match if there were more than may be decided.
    package var decided: Int { self.rows.reduce(0) { $0 + $1.count } }

    package static let sampleMax = 10
}
