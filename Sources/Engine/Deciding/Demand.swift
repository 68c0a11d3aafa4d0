import WidgetModel

/// The causes that want an instance to reload, as far as they may be decided now.
struct Demand {
    /// Pushes of priority 10 and 5 whose not-before, if any, has come.
    var high: Bool
    var normal: Bool
    /// The causes beside pushes.
    var waiting: ReloadCauses
    /// The earliest end of a push.
    var minExpiry: Instant
    /// The earliest instant that waiting causes are held back until: a not-before that is still to come, or the end
    /// of a hold.
    var heldUntil = Instant.distantFuture
    /// Why a policy reload is held; nil if none is.
    var hold: DecisionReason?
    /// Whether a push is held since its sender may be paused.
    var isPaused = false
}

extension Demand {
    /// Whether nothing may be decided now.
    @inline(__always)
    var isEmpty: Bool { !self.high && !self.normal && self.waiting.isEmpty }

    /// The plan while the demand is empty.
    var rest: Plan { .wait(until: self.heldUntil, self.reason) }

    /// Why nothing is decided now.
    private var reason: DecisionReason {
        if self.isPaused { return .paused }
        if let hold { return hold }
        return self.heldUntil == .distantFuture ? .waitsForAnother : .notBefore
    }
}
