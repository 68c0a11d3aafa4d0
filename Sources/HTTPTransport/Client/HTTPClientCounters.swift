/// A client's counts since it was made, over all its targets.
package struct HTTPClientCounters: Hashable, Sendable {
    /// Targets with connections or requests now.
    package var targets = 0
    /// Connections that are open now.
    package var connections = 0
    /// Requests that wait for a stream or an answer now.
    package var requestsInWork = 0
    package var requests = 0
    package var responses = 0
    package var connectionsOpened = 0
    package var connectsFailed = 0
    /// PINGs sent to see whether a server is there.
    package var pings = 0
    /// GOAWAYs from servers.
    package var goAways = 0
    /// Requests that a server refused without acting on them.
    package var refused = 0
    /// Requests that were sent again.
    package var resent = 0
    /// Requests that were on a connection that broke.
    package var broken = 0
    /// How often a limit or a deadline of the configuration was met.
    package var limits = Tally<HTTPClientLimit>()

    package init() {}
}

/// The limits and deadlines of a client that are counted where they bite.
package enum HTTPClientLimit: String, CaseIterable, Hashable, Sendable {
    case maxTargets
    case maxQueue
    case maxResends
    case maxResponseBytes
    /// A request's own deadline.
    case request
    case connect
    case handshake
    case ping
    case idle
    /// Addresses that a target's rule refused.
    case address
}
