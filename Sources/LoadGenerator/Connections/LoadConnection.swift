import HTTP2
import HTTPTransport
import NIOCore
import TLS

/// The receiver of a connection's answers and events; always called on its loop.
protocol LoadConnectionOwner: AnyObject {
    /// The server's SETTINGS have come.
    func connectionOpened(_ connection: LoadConnection)
    /// Answers and pieces of answers, with the time at which they were read.
    func connection(_ connection: LoadConnection, received batch: borrowing ResponseBatch, at now: Int64)
    /// A request ended without an answer: its stream was reset.
    func connection(_ connection: LoadConnection, lost exchange: Exchange, _ reason: String)
    /// The server surely did not act on a request: REFUSED_STREAM, or above the last stream of a GOAWAY (RFC 9113, 8.7). It may
    /// be sent again.
    func connection(_ connection: LoadConnection, refused exchange: Exchange, _ reason: String)
    /// All that was there to read is read; more can be sent.
    func connectionReadCompleted(_ connection: LoadConnection)
    /// The connection has gone, with the requests that still waited on it.
    func connectionClosed(_ connection: LoadConnection, _ waiting: [Exchange], _ reason: String)
}

/// One connection of the generator: TLS, HTTP/2 and a table of waiting requests.
///
/// The transport's own client has a completion, a response value and a deadline for each request, which is right for a
/// gateway that sends some thousands a second. Here a request is a row in a table and answers are read as batches:
/// nothing is allocated for one.
final class LoadConnection: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// Which of its owner's connections it is.
    let index: Int
    private let tls: TLSSession
    private let session: HTTP2Session
    private let streamsWanted: Int
    private weak var owner: (any LoadConnectionOwner)?
    private var context: ChannelHandlerContext?
    private var exchanges: Exchanges
    private var responses = ResponseBatch()
    private var noRequests = RequestBatch()
    private var events: [HTTP2Event] = []
    private var output: [UInt8] = []
    private var isReading = false
    private var isWritten = false
    /// Whether the server has said who it is, and what it takes.
    private(set) var isOpen = false
    private var peerStreams = 0
    private var isDraining = false
    private var isClosing = false
    private var wasActive = false
    private var hasEnded = false

    /// - Parameter streams: How many requests may wait at once, if the server takes so many.
    init(index: Int, tls: TLSSession, streams: Int, owner: any LoadConnectionOwner) {
        var limits = HTTP2Limits()
        limits.connectionWindowBytes = 16_777_216
        limits.streamWindowBytes = 1_048_576
        limits.bodyBytesMax = 1_048_576
        limits.streamResetBurst = 1_000_000
        limits.streamErrorBurst = 1_000_000
        self.index = index
        self.tls = tls
        self.session = HTTP2Session(.client, limits: limits)
        self.streamsWanted = streams
        self.exchanges = Exchanges(capacity: streams)
        self.owner = owner
    }

    /// Requests that wait for their answers.
    var waiting: Int { self.exchanges.count }

    /// Whether it takes requests, now or when answers have come.
    var isUsable: Bool { self.isOpen && !self.isDraining && self.context != nil }

    /// How many more requests it takes now.
    var room: Int {
        guard self.isUsable else { return 0 }
        return max(0, min(self.streamsWanted, self.peerStreams) - self.exchanges.count)
    }

    // MARK: The channel

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        if context.channel.isActive {
            self.wasActive = true
            self.flush()
        }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        // The dialler hears of a channel that never connected.
        guard self.wasActive else { return self.hasEnded = true }
        self.ended("the connection was closed")
    }

    func channelActive(context: ChannelHandlerContext) {
        self.wasActive = true
        self.flush()
    }

    func channelInactive(context: ChannelHandlerContext) {
        self.ended(self.isClosing ? "closed" : "the server closed the connection")
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        self.ended(ConnectionFailure.sentence(error))
        context.close(promise: nil)
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        if context.channel.isWritable { self.flush() }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        self.isReading = true
        do {
            try self.receive(self.unwrapInboundIn(data), context)
        } catch {
            self.writeCiphertext(context)
            context.flush()
            self.ended(ConnectionFailure.sentence(error))
            context.close(promise: nil)
        }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        self.isReading = false
        self.owner?.connectionReadCompleted(self)
        self.flush()
    }

    private func receive(_ ciphertext: ByteBuffer, _ context: ChannelHandlerContext) throws {
        try self.tls.receive(ciphertext.readableBytesUInt8Span)
        guard self.tls.state == .ready else { return }
        let now = MonotonicTime.now
        var plaintext = context.channel.allocator.buffer(capacity: TLSSession.recordBytesMax)
        while true {
            plaintext.clear()
            switch try self.tls.readPlaintext(into: &plaintext) {
            case .bytes:
                try self.session.receive(
                    plaintext.readableBytesUInt8Span,
                    at: Self.second(now),
                    into: &self.noRequests
                )
            case .needsMoreCiphertext:
                return self.deliver(at: now)
            case .closedCleanly:
                self.deliver(at: now)
                self.ended("the server closed the connection")
                return context.close(promise: nil)
            }
        }
    }

    private static func second(_ nanoseconds: Int64) -> UInt32 {
        UInt32(truncatingIfNeeded: nanoseconds / 1_000_000_000)
    }

    /// Hands on the responses and events that have been read.
    private func deliver(at now: Int64) {
        self.session.takeResponses(into: &self.responses)
        if !self.responses.isEmpty {
            self.owner?.connection(self, received: self.responses, at: now)
            self.responses.removeAll()
        }
        self.session.takeEvents(into: &self.events)
        guard !self.events.isEmpty else { return }
        let events = self.events
        self.events.removeAll(keepingCapacity: true)
        // The GOAWAY explains the streams that close with it, which come first.
        for case .goAway(let last, let code, _) in events {
            self.isDraining = true
            for exchange in self.exchanges.remove(above: last) {
                self.owner?.connection(self, refused: exchange, "not processed: GOAWAY \(code)")
            }
        }
        for event in events {
            switch event {
            case .settings(let streams):
                self.peerStreams = Int(streams)
                if !self.isOpen {
                    self.isOpen = true
                    self.owner?.connectionOpened(self)
                }
            case .streamClosed(let streamID, let code):
                guard let exchange = self.exchanges.remove(streamID) else { continue }
                if code == .refusedStream {
                    self.owner?.connection(self, refused: exchange, "not processed: stream reset: \(code)")
                } else {
                    self.owner?.connection(self, lost: exchange, "stream reset: \(code)")
                }
            case .goAway, .streamWritable, .pingAcknowledged, .limitPassed:
                break
            }
        }
    }

    // MARK: Requests

    /// The request that an answer ends.
    func end(_ streamID: Int32) -> Exchange? { self.exchanges.remove(streamID) }

    /// Queues a request that belongs to nothing that was due; ``flush()`` sends it.
    ///
    /// - Returns: Whether the connection takes requests.
    @discardableResult
    func submit(_ template: borrowing RequestTemplate, load: Int32, number: Int64, isStreamed: Bool = false) -> Bool {
        self.submit(template, Exchange(streamID: 0, load: load, intended: 0, number: number), isStreamed: isStreamed)
    }

    /// Queues a request; ``flush()`` sends it.
    ///
    /// - Parameters:
    ///   - template: The request.
    ///   - exchange: Its facts, except for its stream.
    ///   - isStreamed: Whether its answer comes in pieces.
    /// - Returns: Whether the connection takes requests.
    func submit(_ template: borrowing RequestTemplate, _ exchange: Exchange, isStreamed: Bool = false) -> Bool {
        guard
            let streamID = self.session.request(
                method: template.method,
                fields: template.fields,
                body: template.body.span,
                isStreamed: isStreamed
            )
        else {
            self.isDraining = true
            return false
        }
        var exchange = exchange
        exchange.streamID = streamID
        self.exchanges.insert(exchange)
        self.isWritten = true
        return true
    }

    /// Sends the queued requests, unless the end of a round of reading will.
    func flushIfWritten() {
        if self.isWritten, !self.isReading { self.flush() }
    }

    private func flush() {
        guard let context else { return }
        self.isWritten = false
        do {
            if self.tls.state == .ready {
                let second = Self.second(MonotonicTime.now)
                while context.channel.isWritable {
                    self.output.removeAll(keepingCapacity: true)
                    try self.session.drain(into: &self.output, upTo: 65_536, at: second)
                    guard !self.output.isEmpty else { break }
                    try self.tls.write(self.output.span)
                    self.writeCiphertext(context)
                }
            }
            self.writeCiphertext(context)
            context.flush()
            if self.session.isFinished { context.close(promise: nil) }
        } catch {
            self.ended(ConnectionFailure.sentence(error))
            context.close(promise: nil)
        }
    }

    private func writeCiphertext(_ context: ChannelHandlerContext) {
        guard let ciphertext = self.tls.takeCiphertext(context.channel.allocator) else { return }
        context.write(self.wrapOutboundOut(ciphertext), promise: nil)
    }

    // MARK: The end

    /// The requests that still wait; their answers are not wanted any more.
    func endAll() -> [Exchange] { self.exchanges.removeAll() }

    private func ended(_ reason: String) {
        guard !self.hasEnded else { return }
        self.hasEnded = true
        self.context = nil
        self.owner?.connectionClosed(self, self.exchanges.removeAll(), reason)
    }

    /// Says GOAWAY and closes.
    func close() {
        guard let context else { return }
        self.isClosing = true
        if self.tls.state == .ready {
            self.session.goAway()
            self.flush()
            self.tls.shutdown()
            self.writeCiphertext(context)
            context.flush()
        }
        context.close(promise: nil)
    }

    /// Drops the connection without a word, as a network does.
    func drop() {
        self.isClosing = true
        self.context?.close(promise: nil)
    }
}
