package import HTTP2
package import NIOCore
package import TLS

/// How one listener takes connections.
package struct HTTPListenerConfiguration: Sendable {
    /// The protocols that a listener speaks.
    package enum Protocols: Hashable, Sendable {
        /// HTTP/2 only. A client that speaks HTTP/1.1 gets a 505 that says so, if ALPN chose `http/1.1` or nothing.
        case http2
        /// HTTP/2 or HTTP/1.1, whichever ALPN chooses; HTTP/1.1 without ALPN.
        case http2AndHTTP1
    }

    /// How long a peer may take. Checked once a second, so each is kept to within a second.
    package struct Deadlines: Hashable, Sendable {
        /// For the TLS handshake. Default 10 s.
        package var handshake: TimeAmount = .seconds(10)
        /// From the handshake to the first request (HTTP/2: to the client's preface and SETTINGS). Default 10 s.
        package var firstRequest: TimeAmount = .seconds(10)
        /// For one header block to arrive whole on HTTP/2. Default 10 s; then GOAWAY.
        package var headers: TimeAmount = .seconds(10)
        /// For one request to arrive whole, from its first byte. Default 30 s; then it is answered 408.
        package var request: TimeAmount = .seconds(30)
        /// Without anything from the peer but acknowledged PINGs, and without a request in work. Default 1 h; then
        /// GOAWAY with the reason `IdleTimeout`.
        package var idle: TimeAmount = .hours(1)
        /// Between two requests on HTTP/1.1, the second one's head included. Default 75 s; then the connection closes.
        package var idleHTTP1: TimeAmount = .seconds(75)
        /// For a peer to take output that waits for it. Default 30 s; then the stream, or the connection, is closed.
        package var writeStall: TimeAmount = .seconds(30)
        /// Without a byte from the peer on HTTP/2, before it is sent a PING to see whether it is still there. Default 5 min.
        package var keepAlive: TimeAmount = .minutes(5)
        /// For a peer to say anything after that PING. Default 30 s; then the connection is closed.
        package var keepAliveAnswer: TimeAmount = .seconds(30)
        /// For a peer to acknowledge the PING between the two GOAWAYs of a drain. Default 2 s; then the second goes out.
        package var drainAnswer: TimeAmount = .seconds(2)

        package init() {}
    }

    /// The bounds of connections. They may become others while the listener is open.
    package struct Bounds: Hashable, Sendable {
        /// Also holds the limits of bodies and header lists on HTTP/1.1.
        package var limits = HTTP2Limits()
        package var deadlines = Deadlines()
        /// Connections at once. Default 10,000; more are closed as they are accepted.
        package var connectionsMax = 10_000
        /// Connections of one address at once; an IPv6 address counts as its first 64 bits. Default 1,000; more are closed
        /// as they are accepted.
        package var connectionsPerAddressMax = 1000
        /// Connections at once whose TLS handshake is not made yet. Default 1,000; the one that has taken longest makes
        /// room.
        package var handshakesMax = 1000
        /// Bytes that all connections may make the listener hold: requests that are not whole, answers that are not read.
        /// Default 1 GiB; above it the connection that holds the most ends.
        package var heldBytesMax = 1_073_741_824
        /// Credentials that one connection may have refused at once. Default 20; one more ends it.
        package var badCredentialsMax = 20
        /// How many more with every second after. Default 1.
        package var badCredentialsPerSecond = 1

        package init() {}
    }

    /// The listener's name in logs.
    package var name: String
    /// A numeric address. Default 127.0.0.1.
    package var address: String
    /// 0 lets the system choose; ``HTTPServer/port`` says which it was.
    package var port: Int
    /// Nil for a plain-text listener, which speaks HTTP/1.1 only: for health probes.
    package var tls: TLSContext?
    package var protocols: Protocols = .http2
    package var bounds = Bounds()
    /// The bound on connections that it shares with other listeners. Default: no bound.
    package var allowance = ConnectionAllowance(max: nil)
    /// How long the listener waits before it accepts again when the system has no descriptor left. Default 100 ms.
    package var acceptBackoff: TimeAmount = .milliseconds(100)
    /// Connections that the kernel holds before they are accepted. Default 1024.
    package var backlog: Int32 = 1024

    package init(name: String, address: String = "127.0.0.1", port: Int, tls: TLSContext?) {
        self.name = name
        self.address = address
        self.port = port
        self.tls = tls
    }
}
