import IntentMatching
import WidgetModel

/// An accepted push, ready to be decided for each instance that it matches.
struct IncomingPush: Sendable {
    /// Its row in the ledger, and its place among the pushes by which repeats are recognised.
    var row: PushNumber
    var repeatSlot = -1
    let id: PushID
    let priority: Priority
    let expiresAt: Instant
    /// Reloads at its log instant or ends `expired`.
    let isOnce: Bool
    /// `.distantPast` if there is none or it has come already.
    let notBefore: Instant
    /// Until when it may not reload, by its not-before or since its sender is paused.
    let heldUntil: Instant
    /// 0 if it has no collapse id.
    let collapseTag: UInt32
    let digest: ContentDigest?
}

/// The audience of a push.
struct PushAudience {
    enum Reach {
        case nobody
        case host(HostNumber)
        case app(AppNumber)
    }

    /// The app that the target belongs to, if it is known.
    var app: AppNumber?
    var reach: Reach
    var kind: KindNumber?
    let pattern: MatchPattern?
    /// The attributes that instances' conditions are about.
    let attributes: Configuration
}
