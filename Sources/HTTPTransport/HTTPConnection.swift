package import HTTP2
package import NIOCore
package import TLS

/// One connection of a peer to a listener, over HTTP/2 or HTTP/1.1.
///
/// It belongs to its event loop: every member is used from there only, and calls from elsewhere trap. It stays usable
/// after the peer has gone, when every call does nothing and says so.
package final class HTTPConnection {
    /// Distinct within the process, never reused.
    package let id: UInt64
    /// Address and port of the peer, for logs.
    package let remoteAddress: String
    package let eventLoop: any EventLoop

    /// The peer's verified certificate, if the listener asked for one and it was given.
    package internal(set) var peerCertificate: PeerCertificate?
    package internal(set) var version: HTTPVersion
    /// The owner's own state of this connection.
    package var context: AnyObject?
    /// Of the peer, however it shows them.
    package let refusedCredentials: RefusedCredentials
    /// Answers that found their stream or connection gone.
    package private(set) var droppedAnswers = 0

    /// The listener's limit of streams; nil on HTTP/1.1.
    var streamsMax: UInt32?
    /// Whether a lower one is announced, until the owner is content with the peer.
    var isStreamLimitLow = false
    private var isSlowedForCredentials = false
    private var isEndedForCredentials = false
    /// The streams of a connection that was slowed down.
    private static let slowStreamsMax: UInt32 = 1
    /// SETTINGS that a peer may leave without acknowledgement before it is told of another limit.
    private static let unacknowledgedSettingsMax = 4
    /// Nil once the connection has gone.
    var backend: (any HTTPConnectionBackend)?

    /// A connection that has gone: answers are dropped until a listener gives it a backend.
    package init(
        id: UInt64,
        remoteAddress: String,
        eventLoop: any EventLoop,
        version: HTTPVersion,
        refusedCredentials: RefusedCredentials = RefusedCredentials()
    ) {
        self.refusedCredentials = refusedCredentials
        self.id = id
        self.remoteAddress = remoteAddress
        self.eventLoop = eventLoop
        self.version = version
    }

    /// A connection that stands for another one, with the same facts about the peer. Calls to it go to `backend` until ``standDown()``.
    package convenience init(standingFor other: HTTPConnection, backend: any HTTPConnectionBackend) {
        self.init(
            id: other.id,
            remoteAddress: other.remoteAddress,
            eventLoop: other.eventLoop,
            version: other.version,
            refusedCredentials: other.refusedCredentials
        )
        self.peerCertificate = other.peerCertificate
        self.context = other.context
        self.backend = backend
    }

    /// Ends a connection that stands for another one: answers are dropped from now on.
    package func standDown() { self.backend = nil }

    package var isOpen: Bool { self.backend != nil }

    /// Answers a request with a status, fields and no body.
    ///
    /// - Returns: false if the stream has gone; the answer is dropped and counted.
    @discardableResult
    package func respond(_ streamID: Int32, status: Int, fields: borrowing ResponseFields) -> Bool {
        self.respond(streamID, status: status, fields: fields, body: Span())
    }

    /// Answers a request; the body goes out in one DATA frame where it fits one. An empty body is no body.
    ///
    /// Nothing is sent before ``flush()``.
    @discardableResult
    package func respond(
        _ streamID: Int32,
        status: Int,
        fields: borrowing ResponseFields,
        body: Span<UInt8>
    ) -> Bool {
        self.eventLoop.assertInEventLoop()
        guard let backend, backend.respond(streamID, status: status, fields: fields, body: body) else {
            self.droppedAnswers += 1
            return false
        }
        return true
    }

    /// Takes no more than so many bytes of the body of a request that is being judged; above them it comes flagged
    /// `bodyTooLarge`.
    package func limitBody(of streamID: Int32, to bytes: Int) {
        self.eventLoop.assertInEventLoop()
        self.backend?.limitBody(of: streamID, to: bytes)
    }

    /// Tells of streams that are about to be answered: where there are many, answering them takes less time then.
    package func prefetch(_ streamIDs: Span<Int32>) {
        self.eventLoop.assertInEventLoop()
        self.backend?.prefetch(streamIDs)
    }

    /// Begins an answer whose body comes in pieces: ``write(_:_:)``, then ``finish(_:)``.
    @discardableResult
    package func beginStreaming(_ streamID: Int32, status: Int, fields: borrowing ResponseFields) -> Bool {
        self.eventLoop.assertInEventLoop()
        guard let backend, backend.beginStreaming(streamID, status: status, fields: fields) else {
            self.droppedAnswers += 1
            return false
        }
        return true
    }

    /// Adds a piece to a streamed answer; the bytes are copied.
    ///
    /// The piece is taken in every case but `.closed`; `.full` asks to wait for `streamWritable` before the next one.
    package func write(_ streamID: Int32, _ bytes: Span<UInt8>) -> StreamWrite {
        self.eventLoop.assertInEventLoop()
        return self.backend?.write(streamID, bytes) ?? .closed
    }

    /// Ends a streamed answer.
    package func finish(_ streamID: Int32) {
        self.eventLoop.assertInEventLoop()
        self.backend?.finish(streamID)
    }

    /// Breaks an answer off: RST_STREAM on HTTP/2, end of the connection on HTTP/1.1.
    package func reset(_ streamID: Int32, _ code: HTTP2ErrorCode = .internalError) {
        self.eventLoop.assertInEventLoop()
        self.backend?.reset(streamID, code)
    }

    /// Sends everything that the calls before it have queued. Within `receive` it waits for the end of the wakeup by itself.
    package func flush() {
        self.eventLoop.assertInEventLoop()
        self.backend?.flush()
    }

    /// Takes no more requests; answers to those that are here still go out, then the connection closes.
    ///
    /// - Parameter debug: The debug data for the peer: APNs sends JSON, `{"reason":"…"}`. HTTP/1.1 has no place for it.
    package func goAway(_ code: HTTP2ErrorCode = .noError, debug: String = "") {
        self.eventLoop.assertInEventLoop()
        self.backend?.goAway(code, debug: debug)
    }

    /// Announces another limit for the streams that the peer may have open; nothing on HTTP/1.1.
    package func setMaxConcurrentStreams(_ limit: UInt32) {
        self.eventLoop.assertInEventLoop()
        self.backend?.setMaxConcurrentStreams(limit)
    }

    /// Announces the listener's own limit of streams if a lower one is in force, and is cheap if not.
    ///
    /// A peer that acknowledges nothing is told later: the limit changes with the first call after it does.
    package func liftStreamLimit() {
        guard self.isStreamLimitLow, let limit = self.streamsMax, self.mayAnnounce else { return }
        self.isStreamLimitLow = false
        self.setMaxConcurrentStreams(limit)
    }

    /// Announces a lower limit of streams than the listener's, until ``liftStreamLimit()``; those that are open stay.
    package func lowerStreamLimit(to limit: UInt32) {
        guard !self.isStreamLimitLow, let streamsMax, limit < streamsMax, self.mayAnnounce else { return }
        self.isStreamLimitLow = true
        self.setMaxConcurrentStreams(limit)
    }

    /// Takes the consequences of the credentials that were refused: the connection may have one stream at once while
    /// half of its allowance is used up and none was good, and ends with the one too many. Call before the answer to
    /// the last one.
    package func paceByCredentials() {
        if self.refusedCredentials.isExhausted {
            guard !self.isEndedForCredentials, let backend else { return }
            self.isEndedForCredentials = true
            backend.end(for: .maxBadCredentials, self.refusedCredentials.explanation)
        } else if self.refusedCredentials.isToBeSlowed {
            guard !self.isStreamLimitLow else { return }
            self.lowerStreamLimit(to: Self.slowStreamsMax)
            self.isSlowedForCredentials = self.isStreamLimitLow
        } else if self.isSlowedForCredentials {
            self.isSlowedForCredentials = false
            self.liftStreamLimit()
        }
    }

    private var mayAnnounce: Bool { self.backend?.unacknowledgedSettings ?? 0 < Self.unacknowledgedSettingsMax }

    /// Closes at once; output that was not flushed is lost.
    package func close() {
        self.eventLoop.assertInEventLoop()
        self.backend?.closeNow()
    }
}

/// The protocol that a connection speaks.
package enum HTTPVersion: Hashable, Sendable {
    case http1
    case http2
}

/// A connection's services for its owner; one class for HTTP/2 and one for HTTP/1.1.
package protocol HTTPConnectionBackend: AnyObject {
    func limitBody(of streamID: Int32, to bytes: Int)
    func prefetch(_ streamIDs: Span<Int32>)
    func respond(_ streamID: Int32, status: Int, fields: borrowing ResponseFields, body: Span<UInt8>) -> Bool
    func beginStreaming(_ streamID: Int32, status: Int, fields: borrowing ResponseFields) -> Bool
    func write(_ streamID: Int32, _ bytes: Span<UInt8>) -> StreamWrite
    func finish(_ streamID: Int32)
    func reset(_ streamID: Int32, _ code: HTTP2ErrorCode)
    func flush()
    func goAway(_ code: HTTP2ErrorCode, debug: String)
    /// Takes no more requests because of a limit, which is counted and warned of.
    func end(for limit: HTTPListenerLimit, _ reason: String)
    func setMaxConcurrentStreams(_ limit: UInt32)
    /// SETTINGS that the peer has not acknowledged.
    var unacknowledgedSettings: Int { get }
    func closeNow()
}
