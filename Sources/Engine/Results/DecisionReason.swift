package import WidgetModel

/// Why a decision came out as it did. Raw values are part of the on-disk format.
package enum DecisionReason: UInt8, NamedCase {
    /// The budget allows it.
    case conforms = 0
    /// Not charged; the decision's exemption says why.
    case exempt = 1
    /// The pace of the budget: not so soon after the reloads before.
    case pace = 2
    /// Less than the minimum interval after another reload.
    case minimumInterval = 3
    /// The window's allowance, or the share of it that pushes may use, is used up.
    case allowance = 4
    /// `not-before` is still to come.
    case notBefore = 5
    /// A policy reload is due within minutes, and this joins it.
    case joinsPolicy = 6
    /// Priority 1: waits for any other reload.
    case waitsForAnother = 7
    /// Less than 15 s after another exempt reload.
    case exemptInterval = 8
    /// Joined another reload.
    case joined = 9
    /// A later push with the same collapse id took its place.
    case collapseID = 10
    /// The instance shows this digest already.
    case sameDigest = 11
    /// The expiration came first.
    case expiration = 12
    /// The instance is gone, or has another kind or family.
    case instanceRemoved = 13
    /// The host is gone, or its lease ran out.
    case hostRemoved = 14
    /// The host, or a timeline that names the reload, says so.
    case acknowledged = 15
    /// No acknowledgement of the reload came in time.
    case unacknowledged = 16
    /// The host refused the reload.
    case refused = 17
    /// Too many pushes wait for this instance already.
    case pendingLimit = 18
    /// The instance is not visible: its policy reload is held until it is.
    case hidden = 19
    /// The system has just reloaded the instance by itself.
    case systemChange = 20
    /// The app, the kind or the sender is paused.
    case paused = 21
    /// An operator or the sender took the push back.
    case cancelled = 22
    /// A push for another widget with the same token reloads this one, too; its budget allows that.
    case collateral = 23
    /// The same, and its budget does not.
    case collateralOver = 24
    /// Its host is reached through pushes alone, and the instance is not push-enabled.
    case notPushEnabled = 25
    /// Its push token belongs to the other of APNs' environments than the app does now.
    case otherEnvironment = 26
    /// Its host is in low power, which makes the timeline's own reloads further apart.
    case lowPower = 27

    package static let names = CaseNames<DecisionReason>()
}

/// Why a push failed for an instance. Raw values are part of the on-disk format.
package enum FailureReason: UInt8, NamedCase {
    case unacknowledged = 0
    case refused = 1
    case pendingLimit = 2

    package static let names = CaseNames<FailureReason>()
}

/// Why a push ended in a partition before it was decided for any instance. Raw values are part of the on-disk format.
package enum PushFailure: UInt8, NamedCase {
    /// It matched more instances than it may.
    case tooMany = 1

    package static let names = CaseNames<PushFailure>()
}
