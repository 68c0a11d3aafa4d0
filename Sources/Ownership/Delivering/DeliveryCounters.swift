/// The results of deliveries since the start, for one way of delivering.
package struct DeliveryCounters: Hashable, Sendable {
    /// Tries, every repeat included.
    package var tries = 0
    package var delivered = 0
    package var refused = 0
    /// Push tokens that an upstream called invalid.
    package var gone = 0
    /// Tries that decided nothing.
    package var again = 0
    /// Answers about the gateway's own credentials.
    package var troubles = 0
    /// Not delivered before their expiration.
    package var expired = 0
    /// Not wanted any more when their turn came.
    package var dropped = 0
    /// Not taken into memory at once, for want of room; the log has them.
    package var deferred = 0
    /// The text of the last answer that an operator must look at.
    package var lastTrouble: String?
    package var lastRefusal: String?

    package init() {}
}
