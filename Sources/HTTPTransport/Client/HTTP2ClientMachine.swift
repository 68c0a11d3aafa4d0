/// The decisions of a client's connection: whether it takes requests, which of them wait, and which end by its events.
///
/// An event goes in as a call; the action comes back. It has no clock, no channel and no session. `Request` is the owner's own value for a
/// request that waits for its answer; each comes back exactly once.
struct HTTP2ClientMachine<Request> {
    enum State: Hashable {
        /// TLS is being made.
        case handshaking
        /// TLS is there, the server's SETTINGS are not.
        case settling
        case ready
        /// No more requests are taken, for this reason; those that were may be answered.
        case draining(HTTPTransportError)
        /// Nothing comes of it any more, for this reason.
        case ended(HTTPTransportError)
    }

    private(set) var state = State.handshaking
    /// By stream.
    private var requests: [Int32: Request] = [:]
    /// Streams that the server takes at once.
    private(set) var streamsMax = 0
    /// Whether its owner ended it, whatever was the matter with it before.
    private(set) var isClosedByOwner = false
    /// True from the first read of a wakeup to its end: nothing is flushed meanwhile.
    private(set) var isReading = false

    /// How many requests wait for their answers.
    var waitingCount: Int { self.requests.count }

    /// Why no more requests are taken; nil while they are.
    var reason: HTTPTransportError? {
        switch self.state {
        case .handshaking, .settling, .ready: nil
        case .draining(let reason), .ended(let reason): reason
        }
    }

    /// Whether the server has not sent its settings yet: there is a deadline for that.
    var isAwaited: Bool { self.state == .handshaking || self.state == .settling }

    /// Whether the server has to show from time to time that it is there.
    var isWatched: Bool {
        switch self.state {
        case .ready, .draining: true
        case .handshaking, .settling, .ended: false
        }
    }

    // MARK: The connection

    mutating func readBegan() { self.isReading = true }

    mutating func readEnded() { self.isReading = false }

    /// TLS is made.
    ///
    /// - Returns: Whether this is told for the first time.
    mutating func handshakeCompleted() -> Bool {
        guard self.state == .handshaking else { return false }
        self.state = .settling
        return true
    }

    /// The server has sent its settings.
    ///
    /// - Returns: Whether the connection becomes ready by it.
    mutating func settled(streamsMax: Int) -> Bool {
        self.streamsMax = streamsMax
        guard self.isAwaited else { return false }
        self.state = .ready
        return true
    }

    /// The stage that ends when no more requests are taken.
    enum Stop: Hashable {
        /// A caller still waits for the connection to become ready.
        case notReady
        case taking
    }

    /// No more requests are taken. The first reason is kept, since it explains the others.
    ///
    /// - Returns: Nil if that is so already.
    mutating func drain(_ reason: HTTPTransportError) -> Stop? {
        guard self.reason == nil else { return nil }
        let stop = self.isAwaited ? Stop.notReady : .taking
        self.state = .draining(reason)
        return stop
    }

    /// The end of a connection: the stage and the requests that end with it.
    struct End {
        let stop: Stop?
        /// Why: the first reason there was.
        let reason: HTTPTransportError
        /// In the order of their streams.
        let requests: [Request]
    }

    /// Nothing more comes of the connection.
    ///
    /// - Returns: Nil if that is so already.
    mutating func end(_ error: HTTPTransportError, byOwner: Bool = false) -> End? {
        if byOwner { self.isClosedByOwner = true }
        if case .ended = self.state { return nil }
        let stop = self.drain(error)
        let reason = self.reason ?? error
        self.state = .ended(reason)
        return End(stop: stop, reason: reason, requests: self.removeRequests { _ in true })
    }

    // MARK: Requests

    /// A request was put on a stream.
    ///
    /// - Returns: Whether it is the only one that waits.
    mutating func began(_ request: Request, on streamID: Int32) -> Bool {
        self.requests[streamID] = request
        return self.requests.count == 1
    }

    /// A stream has its answer, was reset, or is given up.
    ///
    /// - Returns: The request that waited there; nil if it has come to its end before.
    mutating func ended(_ streamID: Int32) -> Request? { self.requests.removeValue(forKey: streamID) }

    /// The server acts on no request above a stream: those end, in the order of their streams.
    mutating func refused(above last: Int32) -> [Request] { self.removeRequests { $0 > last } }

    private mutating func removeRequests(_ isTaken: (Int32) -> Bool) -> [Request] {
        let streamIDs = self.requests.keys.filter(isTaken).sorted()
        return streamIDs.compactMap { self.requests.removeValue(forKey: $0) }
    }
}
