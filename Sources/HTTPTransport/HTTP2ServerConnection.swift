import HTTP2
import NIOCore

/// The HTTP/2 side of a server's connection: the session. It tells the owner the session's events.
final class HTTP2ServerConnection: HTTPConnectionBackend {
    let session: HTTP2Session
    private let connection: HTTPConnection
    private let loop: ListenerLoop
    /// The handler that owns this object and outlives its use: it is let go of in ``close()``.
    private weak var transport: SecureServerHandler?

    /// The session's bytes that the listener has counted.
    private var countedBytes = 0

    /// Bytes gathered before they are encrypted: four TLS records.
    private static let drainBytesMax = 65_536
    /// So long after the peer was heard, memory that only a busy session has use for goes back.
    private static let quietSeconds: UInt32 = 5
    /// The whole frame that answers a PING (RFC 9113, 6.7).
    private static let pingFrameBytes = 17

    /// When the peer was last heard, in seconds.
    private var heardAt: UInt32
    /// When it last said anything but that it is still there.
    private var activeAt: UInt32
    /// The PING that asks whether it is: when it was sent, and bytes heard since.
    private var probe: (sentAt: UInt32, payload: UInt64, bytesHeard: Int)?
    private var probeCount: UInt64 = 0
    private var drainBeganAt: UInt32?
    /// Whether the peer wants nothing and had not acknowledged the PING of a drain in time: it is not waited for at the end.
    private(set) var isSilent = false

    /// - Parameter streamsMax: How many streams the peer may have open at first, if that is less than the listener
    ///   allows.
    init(connection: HTTPConnection, loop: ListenerLoop, transport: SecureServerHandler, streamsMax: UInt32?) {
        var limits = loop.configuration.bounds.limits
        connection.streamsMax = limits.concurrentStreamsMax
        if let streamsMax, streamsMax < limits.concurrentStreamsMax {
            connection.isStreamLimitLow = true
            limits.concurrentStreamsMax = streamsMax
        }
        self.session = HTTP2Session(.server, limits: limits)
        self.connection = connection
        self.loop = loop
        self.transport = transport
        self.heardAt = loop.second
        self.activeAt = loop.second
    }

    /// Reads plaintext; completed requests join the loop's batch.
    func receive(_ plaintext: Span<UInt8>, at second: UInt32) throws(HTTP2Error) {
        self.heardAt = second
        if let probe, probe.bytesHeard + plaintext.count <= Self.pingFrameBytes {
            self.probe?.bytesHeard += plaintext.count
        } else {
            self.probe = nil
            self.activeAt = second
        }
        self.session.stamp = self.loop.stamp
        try self.session.receive(plaintext, at: second, into: &self.loop.batch)
    }

    /// Hands out the requests that one wakeup has brought.
    func dispatch() {
        self.deliverEvents()
        self.loop.dispatch(from: self.connection)
        if self.session.hasHeads {
            self.session.takeHeads(into: &self.loop.batch)
            self.loop.judge(from: self.connection)
        }
        self.countHeldBytes()
    }

    /// Tells the listener how many bytes this connection holds, when that has changed.
    func countHeldBytes() {
        guard self.connection.isOpen else { return }
        let change = self.session.heldBytes - self.countedBytes
        guard change != 0 else { return }
        self.countedBytes += change
        self.loop.hold(change)
    }

    func drain(into output: inout [UInt8]) throws(HTTP2Error) {
        try self.session.drain(into: &output, upTo: Self.drainBytesMax, at: self.loop.second)
    }

    /// Tells the owner of streams that went or that have room again.
    func deliverEvents() {
        self.session.takeEvents(into: &self.loop.events)
        guard !self.loop.events.isEmpty else { return }
        var events: [HTTP2Event] = []
        swap(&events, &self.loop.events)
        for event in events {
            switch event {
            case .streamClosed(let streamID, _):
                // A request that still waits in this wakeup's batch never existed for the owner.
                if let index = self.loop.batch.requests.firstIndex(where: { $0.streamID == streamID }) {
                    self.loop.batch.requests.remove(at: index)
                } else {
                    self.loop.handler.streamClosed(streamID, on: self.connection)
                }
            case .streamWritable(let streamID):
                self.loop.handler.streamWritable(streamID, on: self.connection)
            case .pingAcknowledged(let payload):
                // A peer that said nothing else meanwhile is as idle as it was before.
                if self.probe?.payload == payload { self.probe = nil }
            case .limitPassed(let limit):
                self.loop.counters.connectionLimits[limit] += 1
            case .settings, .goAway:
                break
            }
        }
    }

    /// Counts the limits that were passed; for a connection whose other events have no receiver any more.
    func countLimits() {
        var events: [HTTP2Event] = []
        self.session.takeEvents(into: &events)
        for case .limitPassed(let limit) in events {
            self.loop.counters.connectionLimits[limit] += 1
        }
    }

    /// Looks whether the peer is still there and still of use. False if it does not answer and is to be cut off.
    ///
    /// - Throws: The error to end the connection with.
    func checkDeadlines(at second: UInt32) throws(HTTP2Error) -> Bool {
        let deadlines = self.loop.configuration.bounds.deadlines
        try self.session.expireHeaders(at: second, seconds: deadlines.headers.wholeSeconds)
        if let drainBeganAt, second &- drainBeganAt >= deadlines.drainAnswer.wholeSeconds {
            if self.session.completeDrain() { self.isSilent = self.session.streamCount == 0 }
            self.flush()
        }
        if let probe {
            let wait = second &- (probe.bytesHeard > 0 ? self.heardAt : probe.sentAt)
            guard wait < deadlines.keepAliveAnswer.wholeSeconds else { return false }
        } else if second &- self.heardAt >= deadlines.keepAlive.wholeSeconds {
            self.sendProbe(at: second)
        }
        // A host's stream is silent for minutes.
        if self.session.streamCount == 0 || second &- self.heardAt >= Self.quietSeconds { self.session.freeSpares() }
        guard self.session.streamCount > 0 else {
            if second &- self.activeAt >= deadlines.idle.wholeSeconds, self.session.sentGoAway == nil {
                self.loop.counters.deadlines[.idle] += 1
                self.goAway(.noError, debug: GoAwayReason.idleTimeout.json)
                self.flush()
            }
            return true
        }
        // A request in work is reason enough to be here.
        self.activeAt = second
        self.session.stamp = self.loop.stamp
        let expired = self.session.expire(
            at: second,
            requestSeconds: deadlines.request.wholeSeconds,
            stallSeconds: deadlines.writeStall.wholeSeconds,
            into: &self.loop.batch
        )
        guard expired.requests + expired.stalls > 0 else { return true }
        self.loop.counters.deadlines[.request] += expired.requests
        self.loop.counters.deadlines[.writeStall] += expired.stalls
        self.dispatch()
        self.flush()
        return true
    }

    private func sendProbe(at second: UInt32) {
        self.probeCount += 1
        self.probe = (second, self.probeCount, 0)
        self.session.ping(self.probeCount)
        self.flush()
    }

    func beginDrain() {
        guard self.drainBeganAt == nil else { return }
        self.drainBeganAt = self.loop.second
        self.session.beginDrain(debug: Array(GoAwayReason.shutdown.json.utf8))
        self.flush()
    }

    /// The connection has gone: the owner is told.
    func close() {
        self.connection.backend = nil
        self.loop.hold(-self.countedBytes)
        self.countedBytes = 0
        self.loop.counters.answersDropped += self.connection.droppedAnswers
        self.loop.handler.connectionClosed(self.connection)
    }

    // MARK: HTTPConnectionBackend

    func limitBody(of streamID: Int32, to bytes: Int) {
        self.session.limitBody(of: streamID, to: bytes, into: &self.loop.batch)
    }

    func prefetch(_ streamIDs: Span<Int32>) {
        self.session.prefetch(streamIDs)
    }

    func respond(_ streamID: Int32, status: Int, fields: borrowing ResponseFields, body: Span<UInt8>) -> Bool {
        guard self.session.respond(streamID, status: status, fields: fields, body: body) else { return false }
        self.loop.noteAnswer(status, since: self.session.answeredStamp)
        return true
    }

    func beginStreaming(_ streamID: Int32, status: Int, fields: borrowing ResponseFields) -> Bool {
        guard self.session.beginStreaming(streamID, status: status, fields: fields) else { return false }
        self.loop.noteAnswer(status, since: self.session.answeredStamp)
        return true
    }

    func write(_ streamID: Int32, _ bytes: Span<UInt8>) -> StreamWrite {
        self.session.write(streamID, bytes)
    }

    func finish(_ streamID: Int32) {
        self.session.finish(streamID)
    }

    func reset(_ streamID: Int32, _ code: HTTP2ErrorCode) {
        self.session.reset(streamID, code)
    }

    func flush() {
        self.transport?.flushOutput()
    }

    func goAway(_ code: HTTP2ErrorCode, debug: String) {
        self.session.goAway(code, debug: Array(debug.utf8).span)
    }

    func end(for limit: HTTPListenerLimit, _ reason: String) {
        self.loop.counters.listenerLimits[limit] += 1
        self.loop.cutOff(self.connection.remoteAddress, for: limit.rawValue, reason)
        self.goAway(.enhanceYourCalm, debug: reason)
    }

    func setMaxConcurrentStreams(_ limit: UInt32) {
        self.session.setMaxConcurrentStreams(limit)
    }

    var unacknowledgedSettings: Int { self.session.unacknowledgedSettings }

    func closeNow() {
        self.transport?.closeNow()
    }
}
