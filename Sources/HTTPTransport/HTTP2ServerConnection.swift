import HTTP2
import NIOCore

/// The HTTP/2 side of a server's connection: the session, and what happens in it told to the owner.
final class HTTP2ServerConnection: HTTPConnectionBackend {
    let session: HTTP2Session
    private let connection: HTTPConnection
    private let loop: ListenerLoop
    /// The handler that owns this object and outlives its use: it is let go of in ``close()``.
    private weak var transport: SecureServerHandler?

    /// Bytes gathered before they are encrypted: four TLS records.
    private static let drainBytesMax = 65_536

    init(connection: HTTPConnection, loop: ListenerLoop, transport: SecureServerHandler) {
        self.session = HTTP2Session(.server, limits: loop.configuration.limits)
        self.connection = connection
        self.loop = loop
        self.transport = transport
    }

    /// Reads plaintext; completed requests join the loop's batch.
    func receive(_ plaintext: Span<UInt8>, at second: UInt32) throws(HTTP2Error) {
        try self.session.receive(plaintext, at: second, into: &self.loop.batch)
    }

    /// Hands out what one wakeup has brought.
    func dispatch() {
        self.deliverEvents()
        self.loop.dispatch(from: self.connection)
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
            case .settings, .goAway, .pingAcknowledged, .limitPassed:
                break
            }
        }
    }

    func checkDeadlines(at second: UInt32, idleSince: UInt32) {
        let deadlines = self.loop.configuration.deadlines
        guard self.session.streamCount > 0 else {
            if second &- idleSince >= deadlines.idle.wholeSeconds {
                self.goAway(.noError, debug: "{\"reason\":\"Idle\"}")
                self.flush()
            }
            return
        }
        let missed = self.session.expire(
            at: second,
            requestSeconds: deadlines.request.wholeSeconds,
            stallSeconds: deadlines.writeStall.wholeSeconds,
            into: &self.loop.batch
        )
        guard missed > 0 else { return }
        self.loop.counters.deadlinesMissed += missed
        self.dispatch()
        self.flush()
    }

    func beginDrain() {
        self.session.beginDrain()
        self.flush()
    }

    /// The connection has gone: the owner is told.
    func close() {
        self.connection.backend = nil
        self.loop.counters.answersDropped += self.connection.droppedAnswers
        self.loop.handler.connectionClosed(self.connection)
    }

    // MARK: HTTPConnectionBackend

    func respond(_ streamID: Int32, status: Int, fields: borrowing ResponseFields, body: Span<UInt8>) -> Bool {
        self.session.respond(streamID, status: status, fields: fields, body: body)
    }

    func beginStreaming(_ streamID: Int32, status: Int, fields: borrowing ResponseFields) -> Bool {
        self.session.beginStreaming(streamID, status: status, fields: fields)
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

    func setMaxConcurrentStreams(_ limit: UInt32) {
        self.session.setMaxConcurrentStreams(limit)
    }

    func closeNow() {
        self.transport?.closeNow()
    }
}
