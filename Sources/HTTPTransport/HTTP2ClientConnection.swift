package import HTTP2
package import Logging
package import NIOCore
import NIOPosix
package import TLS

/// One HTTP/2 connection to a server, from this side.
///
/// Any task may use it. Requests above the server's stream limit wait for their turn.
package final class HTTP2ClientConnection: Sendable {
    /// Connects, does the TLS handshake and waits for the server's SETTINGS.
    ///
    /// - Parameter serverName: the name in the certificate, if it is not `host`.
    package static func connect(
        host: String,
        port: Int,
        tls: TLSContext,
        serverName: String? = nil,
        on group: any EventLoopGroup,
        configuration: HTTP2ClientConfiguration = HTTP2ClientConfiguration()
    ) async throws -> HTTP2ClientConnection {
        preconditionFailure("written next")
    }

    /// Sends a request and waits for the whole response.
    package func send(_ request: HTTPClientRequest) async throws -> HTTPClientResponse {
        preconditionFailure("written next")
    }

    /// Sends a PING and returns the time until its acknowledgement.
    package func ping() async throws -> Duration {
        preconditionFailure("written next")
    }

    /// False once the connection has closed or the server said GOAWAY: new requests would fail.
    package var isUsable: Bool { preconditionFailure("written next") }

    /// Says GOAWAY and closes; requests in work fail.
    package func close() async {
        preconditionFailure("written next")
    }
}

/// How a client connection behaves.
package struct HTTP2ClientConfiguration: Hashable, Sendable {
    /// For TCP, TLS and the server's SETTINGS together. Default 10 s.
    package var connectTimeout: TimeAmount = .seconds(10)
    /// Bytes of one response's body. Default 4 MiB.
    package var responseBodyBytesMax = 4_194_304
    /// Requests that wait for their turn before `send` refuses more. Default 10,000.
    package var queueMax = 10_000

    package init() {}
}
