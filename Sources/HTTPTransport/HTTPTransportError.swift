package import HTTP2

/// Why a listener, a connection or an exchange did not work.
package struct HTTPTransportError: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Code: Hashable, Sendable {
        /// The address could not be bound.
        case listen
        /// No connection came about: name not found, refused, no route.
        case connect
        /// The server did not answer in time to the attempt to connect.
        case connectTimeout
        /// TLS failed; the message says whether a certificate was not trusted and what to pass.
        case tls
        /// The server speaks TLS but not HTTP/2.
        case applicationProtocol
        /// The connection ended before the exchange did.
        case connectionClosed
        /// The server takes no more requests on this connection, for this reason.
        case goAway(HTTP2ErrorCode)
        /// The stream was reset by the peer or by a limit.
        case streamReset(HTTP2ErrorCode)
        /// A response larger than the client takes.
        case responseTooLarge
        /// Nothing came in time.
        case timeout
        /// More requests wait than may: let some end before the next.
        case queueFull
        /// The server's address is one that requests of this kind may not go to.
        case addressRefused
        /// The request cannot be sent as it is.
        case request
    }

    package let code: Code
    /// The operation that failed, its object, and the error of the layer below; never a header value or a body.
    package let message: String
    /// True if the server surely did not act on the request, so that it may be sent again elsewhere.
    package let isUnprocessed: Bool

    package init(_ code: Code, _ message: String, isUnprocessed: Bool = false) {
        self.code = code
        self.message = message
        self.isUnprocessed = isUnprocessed
    }

    static let cancelled = HTTPTransportError(.streamReset(.cancel), "the request was cancelled")

    package var description: String { self.message }
}
