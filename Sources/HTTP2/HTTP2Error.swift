/// What ended an HTTP/2 session.
///
/// A GOAWAY for the peer is queued where it can still be sent: drain the session before closing the connection.
package struct HTTP2Error: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Code: Hashable, Sendable {
        /// The client speaks HTTP/1.x.
        case http1Request
        /// The bytes begin with something that is no HTTP/2 at all.
        case badPreface
        /// The peer passed one of ``HTTP2Limits``; the message names it.
        case limit
        /// The peer broke the protocol in a way that leaves no session.
        case protocolViolation
        /// The session had ended before; nothing more is read.
        case ended
    }

    package let code: Code
    package let message: String

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    package var description: String { self.message }
}
