/// The limits of a listener that are counted where they bite, by the names of their keys in the configuration.
///
/// Those of the frames and requests of one connection are those of `HTTP2Limit`, some of which hold on HTTP/1.1 too.
package enum HTTPListenerLimit: String, CaseIterable, Hashable, Sendable {
    /// Connections of the listener.
    case maxConnections
    /// Connections of one address.
    case maxConnectionsPerAddress
    /// Connections whose TLS handshake is not made yet.
    case maxHandshakes
    /// The bytes that all connections make the listener hold.
    case maxListenerBytes
    /// Credentials of one connection that were refused.
    case maxBadCredentials

    /// The text for a connection that ends because of ``maxListenerBytes``.
    static var heldBytesReason: String { "the listener holds too many bytes, most of them for this connection" }
}

/// The deadlines of a listener, by the names of their keys in the configuration.
package enum HTTPListenerDeadline: String, CaseIterable, Hashable, Sendable {
    case handshake
    case firstRequest
    case headers
    case request
    case idle
    case idleHTTP1
    case writeStall
    case keepAliveAnswer
}
