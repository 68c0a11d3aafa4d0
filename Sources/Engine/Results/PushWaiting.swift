package import WidgetModel

/// Why a push waits for instances, and until when.
package struct PushWaiting: Hashable, Sendable {
    /// By the reasons' raw values.
    private var counts: [Int]
    /// The first and the last instant at which it reloads an instance, as far as is known now; nil if unknown.
    ///
    /// Later events move them: other reloads take the push along earlier, pauses and charges delay it.
    package private(set) var earliest: Instant?
    package private(set) var latest: Instant?
    /// For how many instances it expires before that.
    package private(set) var expiring = 0
    /// Whether it waits for more instances than were looked at.
    package var isSampled = false

    /// For how many of the instances that were looked at it waits for a reason.
    package subscript(reason: DecisionReason) -> Int { self.counts[Int(reason.rawValue)] }

    /// Counts an instance.
    ///
    /// - Parameters:
    ///   - reason: Why the push waits for it.
    ///   - until: Until when; nil if no date is known.
    ///   - expiresAt: When the push ends there if it still waits.
    mutating func add(_ reason: DecisionReason, until: Instant?, expiresAt: Instant) {
        self.counts[Int(reason.rawValue)] += 1
        guard let until else { return }
        if until >= expiresAt { self.expiring += 1 } else { self.extend(until, until) }
    }

    private mutating func extend(_ earliest: Instant, _ latest: Instant) {
        self.earliest = min(self.earliest ?? earliest, earliest)
        self.latest = max(self.latest ?? latest, latest)
    }

    /// Adds another partition's instances of the same push.
    package static func += (left: inout PushWaiting, right: PushWaiting) {
        for index in left.counts.indices { left.counts[index] += right.counts[index] }
        left.expiring += right.expiring
        left.isSampled = left.isSampled || right.isSampled
        if let earliest = right.earliest, let latest = right.latest { left.extend(earliest, latest) }
    }
}

extension PushWaiting: FieldCoded {
    package static let coding = Fields(Self.init, \.counts, \.earliest, \.latest, \.expiring, \.isSampled)
    package var isPossible: Bool { self.counts.count == DecisionReason.allCases.count }

    package init() { self.init(counts: Array(repeating: 0, count: DecisionReason.allCases.count)) }
}
