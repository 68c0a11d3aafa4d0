package import NIOCore

/// How a client connection behaves.
package struct HTTP2ClientConfiguration: Hashable, Sendable {
    /// For TCP, TLS and the server's SETTINGS together. Default 10 s.
    package var connectTimeout: TimeAmount = .seconds(10)
    /// Bytes of one response's body. Default 4 MiB; above it the request fails.
    package var responseBodyBytesMax = 4_194_304
    /// Requests in work and waiting for their turn before `send` refuses more. Default 10,000.
    package var requestsMax = 10_000

    package init() {}
}
