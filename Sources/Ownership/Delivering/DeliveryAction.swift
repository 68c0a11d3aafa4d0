package import Engine
package import WidgetModel

/// What a ``DeliveryMachine`` wants done next.
package enum DeliveryAction: Hashable, Sendable {
    /// Ask a partition for the committed reloads that are out and not delivered by a stream, of instances with this number or a
    /// higher one, the lowest first and so many of them, and give them to ``DeliveryMachine/takeUndelivered(_:of:now:)``.
    case findUndelivered(PartitionID, from: InstanceNumber, limit: Int)
    /// Ask the host's engine what to send for these, and give it to ``DeliveryMachine/takePushes(_:for:now:)``.
    case findPushes(DeliveryNumber, HostKey, [ReloadID])
    /// Send it, and give what comes of it to ``DeliveryMachine/takeAnswer(_:to:try:now:)``.
    case send(DeliveryRequest)
    /// Log records about a host, and tell ``DeliveryMachine/logged(_:isLogged:)`` once they are applied.
    case log(DeliveryNumber, HostKey, [Record])
    /// The log did not take them: call ``DeliveryMachine/retryLog(_:)`` after a while.
    case awaitLog(DeliveryNumber)
    /// An app's upstream calls its provider token expired: the next one is to be another.
    case renewProviderToken(BundleID)
    /// These are over, or are left to the log.
    case forget([ReloadID])
    /// People should know that something has happened to a destination, before whose hold nothing is sent.
    case tellHealth(TargetHealth.Change, Destination, heldUntil: Instant?)
    /// People should know that an upstream calls a push token invalid.
    case tellInvalidToken(BundleID, DeviceToken, reason: String)
}
