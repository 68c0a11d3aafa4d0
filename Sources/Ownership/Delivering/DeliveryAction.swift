package import Engine
package import WidgetModel

/// The next step that a ``DeliveryMachine`` asks for.
package enum DeliveryAction: Hashable, Sendable {
    /// Ask a partition for the committed, outstanding reloads that no stream delivers, of instances with this number or
    /// a higher one, the lowest first, at most `limit`, and pass them to
    /// ``DeliveryMachine/takeUndelivered(_:of:now:)``.
    case findUndelivered(PartitionID, from: InstanceNumber, limit: Int)
    /// Ask the host's engine for the pushes of these reloads, and pass them to
    /// ``DeliveryMachine/takePushes(_:for:now:)``.
    case findPushes(DeliveryNumber, HostKey, [ReloadID])
    /// Send it, and pass the result to ``DeliveryMachine/takeAnswer(_:to:try:now:)``.
    case send(DeliveryRequest)
    /// Log records about a host, and tell ``DeliveryMachine/logged(_:try:isLogged:)`` once they are applied.
    case log(DeliveryNumber, try: Int, HostKey, [Record])
    /// The log did not take them: call ``DeliveryMachine/retryLog(_:)`` after a while.
    case awaitLog(DeliveryNumber)
    /// An app's upstream calls its provider token expired: the next one is to be another.
    case renewProviderToken(BundleID)
    /// These are over, or are left to the log.
    case forget([ReloadID])
    /// Report a change of a destination's health, and the end of its hold.
    case tellHealth(TargetHealth.Change, Destination, heldUntil: Instant?)
    /// People should know that an upstream calls a push token invalid.
    case tellInvalidToken(BundleID, DeviceToken, reason: String)
}
