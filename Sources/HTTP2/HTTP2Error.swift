/// The error that ended an HTTP/2 session.
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
        /// The peer left something unfinished for too long.
        case late
        /// The peer broke the protocol in a way that leaves no session.
        case protocolViolation
        /// The session had ended before; nothing more is read.
        case ended
    }

    package let code: Code
    package let message: String
    /// The limit that it is counted as, if it was one.
    package let limit: HTTP2Limit?
    /// The code in the GOAWAY.
    let goAwayCode: HTTP2ErrorCode

    init(_ code: Code, _ message: String, goAway: HTTP2ErrorCode = .protocolError) {
        self.code = code
        self.message = message
        self.limit = nil
        self.goAwayCode = goAway
    }

    init(_ limit: HTTP2Limit, of limits: HTTP2Limits) {
        self.code = .limit
        self.message = limits.explanation(of: limit)
        self.limit = limit
        self.goAwayCode = .enhanceYourCalm
    }

    init(_ rule: FrameRules.Rule, _ head: FrameHead) {
        self.code = .protocolViolation
        self.limit = nil
        self.goAwayCode = rule == .closedStream ? .streamClosed : .protocolError
        switch rule {
        case .smallerStream: self.message = "stream \(head.streamID) after a higher one (RFC 9113, 5.1.1)"
        case .closedStream: self.message = "a frame on stream \(head.streamID), which is closed (RFC 9113, 5.1)"
        case .dependsOnItself: self.message = "stream \(head.streamID) depends on itself (RFC 7540, 5.3.1)"
        case .priorityOfConnection: self.message = "a PRIORITY frame on stream 0 (RFC 9113, 6.3)"
        }
    }

    package var description: String { self.message }
}
