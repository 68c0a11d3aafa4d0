package import NIOCore

/// How a client connection behaves.
package struct HTTP2ClientConfiguration: Hashable, Sendable {
    /// For the name's addresses and TCP together, over all addresses. Default 10 s.
    package var connectTimeout: TimeAmount = .seconds(10)
    /// From TCP's connection to the server's SETTINGS. Default 10 s.
    package var handshakeTimeout: TimeAmount = .seconds(10)
    /// With requests in work and nothing heard for so long, a PING asks whether the server is there. Default 10 s.
    package var pingAfterSilence: TimeAmount = .seconds(10)
    /// Without requests, a PING so often keeps the connection and notices when it has gone. Default 1 h, as Apple advises.
    package var pingWhenIdle: TimeAmount = .hours(1)
    /// A server that says nothing for so long after a PING is given up. Default 10 s.
    package var pingTimeout: TimeAmount = .seconds(10)
    /// Bytes of one response's body. Default 4 MiB; above it the request fails.
    package var responseBodyBytesMax = 4_194_304
    /// Requests in work and waiting for their turn before `send` refuses more. Default 10,000.
    package var requestsMax = 10_000

    package init() {}
}
