package import WidgetModel

/// The results of deliveries since the start, for one way of delivering.
package struct DeliveryCounters: Hashable, Sendable {
    /// Tries, every repeat included.
    package var tries = 0
    /// Requests that were delivered; one may carry several reloads.
    package var delivered = 0
    /// Requests that were refused for good.
    package var refused = 0
    /// Push tokens that an upstream called invalid.
    package var gone = 0
    /// Tries that decided nothing.
    package var again = 0
    /// Answers about the gateway's own credentials.
    package var troubles = 0
    /// Reloads that were not delivered before their expiration.
    package var expired = 0
    /// Reloads that were not wanted any more when their turn came.
    package var dropped = 0
    /// Reloads that were not taken into memory at once, for want of room; the log has them.
    package var deferred = 0
    /// The last answer that an operator must look at. It stays when the trouble is over.
    package var lastTrouble: Note?
    package var lastRefusal: Note?

    /// An answer's reason, and when it came.
    package struct Note: Hashable, Sendable {
        package let reason: String
        package let at: Instant

        package init(_ reason: String, at instant: Instant) { (self.reason, self.at) = (reason, instant) }
    }

    package init() {}
}
