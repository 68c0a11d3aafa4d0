/// The decisions of a server's TLS connection: its protocol, the use of the peer's bytes, when output leaves, its deadlines, and its end.
///
/// An event goes in as a call, with the present where it matters; the action comes back. It has no clock, no channel and no bytes.
/// `Session` is the HTTP/2 side of the connection, which it only keeps.
struct SecureServerMachine<Session> {
    /// Where the connection stands; states only follow each other in this order, some are skipped.
    enum State {
        case handshaking
        /// TLS is made; the owner says whether it takes the connection.
        case admitting(HTTPVersion)
        case http2(Session)
        case http1
        /// The client speaks HTTP/1.1 where only HTTP/2 is spoken: its first bytes are answered with that.
        case refusingHTTP1
        /// All output is sent. The peer's further bytes are thrown away until it closes, so that it can read the
        /// output.
        case lingering(bytesLeft: Int)
        case closed
    }

    private enum Flushing { case no, once, again }

    /// Bytes thrown away after the end before the connection is cut off.
    static var lingerBytesMax: Int { 262_144 }
    /// Seconds before the connection is cut off after its end.
    static var lingerSeconds: UInt32 { 2 }

    private(set) var state = State.handshaking
    /// When the deadline of the state began: of the handshake, of the first request, of the end.
    private var beganAt: UInt32
    private(set) var lastReadAt: UInt32
    private var unwritableSince: UInt32?
    /// True from the first read of a wakeup to its end: nothing is flushed meanwhile.
    private var isReading = false
    private var flushing = Flushing.no
    /// Whether reading was asked for while the socket took nothing.
    private var holdsRead = false
    /// Whether the peer named no protocol by ALPN. Known once the handshake is complete.
    private(set) var isPriorKnowledge = false

    init(at second: UInt32) {
        self.beganAt = second
        self.lastReadAt = second
    }

    /// The session, while HTTP/2 is spoken.
    var session: Session? {
        if case .http2(let session) = self.state { session } else { nil }
    }

    // MARK: From the peer

    enum ReadAction: Hashable {
        case decrypt
        /// Throw the bytes away.
        case discard
        /// They are more than is thrown away: close.
        case close
    }

    /// So many bytes came.
    mutating func received(_ count: Int, at second: UInt32) -> ReadAction {
        self.lastReadAt = second
        self.isReading = true
        switch self.state {
        case .closed: return .discard
        case .lingering(let bytesLeft):
            guard bytesLeft > count else { return .close }
            self.state = .lingering(bytesLeft: bytesLeft - count)
            return .discard
        case .handshaking, .admitting, .http2, .http1, .refusingHTTP1: return .decrypt
        }
    }

    /// TLS is made.
    ///
    /// - Parameters:
    ///   - name: The protocol that ALPN agreed on; nil for none.
    ///   - servesHTTP1: Whether the listener speaks HTTP/1.1, too.
    /// - Returns: The protocol of the connection; nil if the listener does not speak it, and then the peer is told so.
    mutating func handshakeCompleted(speaking name: String?, servesHTTP1: Bool) -> HTTPVersion? {
        guard case .handshaking = self.state else { return nil }
        self.beganAt = self.lastReadAt
        let version: HTTPVersion
        switch name {
        case "h2": version = .http2
        case "http/1.1" where !servesHTTP1:
            self.state = .refusingHTTP1
            return nil
        case "http/1.1": version = .http1
        default:
            self.isPriorKnowledge = true
            version = servesHTTP1 ? .http1 : .http2
        }
        self.state = .admitting(version)
        return version
    }

    /// The owner takes a connection that speaks HTTP/2, or has it begin if only to be told why it is not taken.
    mutating func begin(_ session: Session) {
        guard case .admitting(.http2) = self.state else { return }
        self.state = .http2(session)
    }

    /// The owner takes a connection that speaks HTTP/1.1.
    mutating func beginHTTP1() {
        guard case .admitting(.http1) = self.state else { return }
        self.state = .http1
    }

    /// The wakeup is over; output may leave.
    mutating func readCompleted() { self.isReading = false }

    // MARK: To the peer

    /// Whether to flush now, as many rounds as ``endFlush()`` says. Not within a wakeup, at whose end it comes; nor within another
    /// flush, which has one round more then: an owner that is told of room writes and flushes from within.
    mutating func beginFlush() -> Bool {
        guard !self.isReading else { return false }
        guard case .no = self.flushing else {
            self.flushing = .again
            return false
        }
        self.flushing = .once
        return true
    }

    /// A round of a flush is done.
    ///
    /// - Returns: Whether another is due.
    mutating func endFlush() -> Bool {
        let isAgain = self.flushing == .again
        self.flushing = isAgain ? .once : .no
        return isAgain
    }

    /// Reading is asked for.
    ///
    /// - Returns: Whether to read. Not while the socket takes no output, so that a peer that sends requests but does not read answers is
    ///   held up.
    mutating func wantsRead(isWritable: Bool) -> Bool {
        self.holdsRead = !isWritable
        return isWritable
    }

    mutating func becameWritable() { self.unwritableSince = nil }

    mutating func becameUnwritable(at second: UInt32) { self.unwritableSince = second }

    /// Whether to do the read that was asked for while the socket took no output.
    ///
    /// - Parameter isWritable: Whether it still takes output, after the waiting output was flushed.
    mutating func releaseRead(isWritable: Bool) -> Bool {
        guard self.holdsRead, isWritable else { return false }
        self.holdsRead = false
        return true
    }

    // MARK: The end

    enum Lateness: Hashable {
        case deadline(HTTPListenerDeadline)
        /// It said all, and the peer has had the time to read it.
        case lingered
    }

    /// The deadline that the connection has missed, or the end of its lingering; nil for neither.
    ///
    /// - Parameter hasPeerSettings: Whether a session has heard from the peer.
    func lateness(
        at second: UInt32,
        _ deadlines: HTTPListenerConfiguration.Deadlines,
        hasPeerSettings: (Session) -> Bool
    ) -> Lateness? {
        let age = second &- self.beganAt
        switch self.state {
        case .handshaking where age >= deadlines.handshake.wholeSeconds: return .deadline(.handshake)
        case .lingering where age >= Self.lingerSeconds: return .lingered
        case .refusingHTTP1 where age >= deadlines.firstRequest.wholeSeconds: return .deadline(.firstRequest)
        case .http2(let session):
            if let since = self.unwritableSince, second &- since >= deadlines.writeStall.wholeSeconds {
                return .deadline(.writeStall)
            }
            guard age >= deadlines.firstRequest.wholeSeconds, !hasPeerSettings(session) else { return nil }
            return .deadline(.firstRequest)
        case .handshaking, .admitting, .http1, .refusingHTTP1, .lingering, .closed: return nil
        }
    }

    /// All is said.
    ///
    /// - Returns: The session that ends by this.
    mutating func finish(at second: UInt32) -> Session? {
        let session = self.session
        self.state = .lingering(bytesLeft: Self.lingerBytesMax)
        self.beganAt = second
        return session
    }

    /// The channel has gone.
    ///
    /// - Returns: The session that ends by this.
    mutating func close() -> Session? {
        let session = self.session
        self.state = .closed
        return session
    }
}
