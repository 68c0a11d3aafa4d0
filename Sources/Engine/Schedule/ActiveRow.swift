import WidgetModel

/// An instance's fields while a cause waits for it or a reload is outstanding. At rest it has no such row, and all fields are as at first.
struct ActiveRow: Sendable {
    /// The pushes that wait.
    var pending = MatchList()
    /// How many of them have priority 10 and 5.
    var high: UInt32 = 0
    var normal: UInt32 = 0
    /// The causes beside pushes that wait.
    var waiting = ReloadCauses(rawValue: 0)
    /// Why the waiting causes wait.
    var reason = DecisionReason.waitsForAnother
    /// The reason under which the ``BehindTable`` counts it; nil if it is not behind. It follows from the rest of the row, and is no part
    /// of the state.
    var behind: BehindReason?
    /// When the waiting causes are decided next.
    var decidesAt = Instant.distantFuture
    /// The earliest end of a waiting push.
    var minExpiry = Instant.distantFuture
    /// Until when a waiting policy reload is held, because its widget is not seen; `.distantPast` if it is not.
    var heldUntil = Instant.distantPast
    var outstanding = ReloadList()

    /// Whether anything waits.
    @inline(__always)
    var isWaiting: Bool { self.pending.count > 0 || !self.waiting.isEmpty }

    /// Whether the instance is at rest.
    @inline(__always)
    var isBlank: Bool {
        !self.isWaiting && self.outstanding.isEmpty && self.decidesAt == .distantFuture
            && self.minExpiry == .distantFuture && self.heldUntil == .distantPast
    }

    /// Notes until when the waiting causes are not decided, and why.
    @inline(__always)
    mutating func wait(until: Instant, _ reason: DecisionReason) {
        self.decidesAt = until
        self.reason = reason
    }

    /// Notes that nothing waits to be decided.
    @inline(__always)
    mutating func endWaiting() { self.wait(until: .distantFuture, .waitsForAnother) }

    /// Counts a push in or out of its class.
    @inline(__always)
    mutating func count(_ priority: Priority, _ change: Int32) {
        switch priority {
        case .high: self.high = UInt32(Int32(self.high) + change)
        case .normal: self.normal = UInt32(Int32(self.normal) + change)
        case .low: break
        }
    }

    /// Takes all waiting pushes out.
    @inline(__always)
    mutating func takePending() -> MatchList {
        var taken = MatchList()
        swap(&taken, &self.pending)
        self.high = 0
        self.normal = 0
        self.minExpiry = .distantFuture
        return taken
    }
}
