import WidgetModel

/// The decision about an instance's demand.
enum Plan: Equatable {
    /// Reload now: not charged for a reason, or charged, to the pushes' share or not.
    case issue(Exemption?, isPush: Bool)
    /// Wait until then, unless something else happens.
    case wait(until: Instant, DecisionReason)
}
