import HTTP2
import Logging
import NIOCore
import NIOHTTP1

/// One HTTP/1.1 connection of a listener, behind NIO's parser; requests look to the owner as those of HTTP/2 do.
///
/// One request is in work at a time: NIO's pipelining handler holds the next one back. Stream ids count up by one.
final class HTTP1ServerHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private enum Exchange {
        /// Between requests.
        case idle
        /// The head has come, the body has not ended.
        case receiving
        /// The owner has the request.
        case dispatched
        /// The owner streams its answer.
        case streaming
        /// The last answer is out; everything that the client still sends is thrown away until it has read the answer.
        case lingering
    }

    /// Seconds before the connection is cut off after its last answer.
    private static let lingerSeconds: UInt32 = 2

    private let connection: HTTPConnection
    private let loop: ListenerLoop
    private var context: ChannelHandlerContext?
    private var exchange = Exchange.idle
    private var streamID: Int32 = 0
    private var head = HTTPRequestHead(version: .http1_1, method: .GET, uri: "/")
    private var body: [UInt8] = []
    private var bodyBytesMax = 0
    /// Whether the owner is judging a request whose body has not come.
    private var isJudging = false
    /// Whether it has, or need not.
    private var isJudged = false
    private var flags: RequestBatch.Flags = []
    private var closesAfterAnswer = false
    private var wantsWritable = false
    private var exchangeBeganAt: UInt32
    /// When the owner got the request.
    private var stamp: UInt64 = 0
    private var hadRequest = false
    private var unwritableSince: UInt32?

    init(connection: HTTPConnection, loop: ListenerLoop) {
        self.connection = connection
        self.loop = loop
        self.exchangeBeganAt = loop.second
    }

    /// Adds NIO's HTTP/1.1 handlers and `handler` to the end of a channel's pipeline.
    static func addHandlers(_ handler: HTTP1ServerHandler, to channel: any Channel) throws {
        var limits = NIOHTTPDecoderLimitConfiguration()
        // Below these the owner gets the request and answers 431 itself.
        limits.maxHeaderFieldSize = handler.loop.configuration.bounds.limits.headerListBytesReset
        limits.maxHeaderListSize = handler.loop.configuration.bounds.limits.headerListBytesReset
        limits.maxHeaderFieldCount = 1000
        try channel.pipeline.syncOperations.configureHTTPServerPipeline(
            withPipeliningAssistance: true,
            withErrorHandling: false,
            withEncoderConfiguration: .init(),
            withDecoderLimitConfiguration: limits
        )
        try channel.pipeline.syncOperations.addHandler(handler)
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        self.connection.backend = self
        self.loop.join(self.connection.id, self)
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
        // A socket that broke before it became active never becomes inactive.
        self.loop.leave(self.connection.id)
    }

    func channelInactive(context: ChannelHandlerContext) {
        self.connection.backend = nil
        self.loop.hold(-self.heldBytes)
        self.exchange = .lingering
        self.loop.counters.answersDropped += self.connection.droppedAnswers
        self.loop.handler.connectionClosed(self.connection)
        self.loop.leave(self.connection.id)
        context.fireChannelInactive()
    }

    // MARK: From the peer

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch self.unwrapInboundIn(data) {
        case .head(let head):
            guard self.exchange == .idle else { return }
            self.begin(head)
        case .body(let buffer):
            guard self.exchange == .receiving else { return }
            guard self.body.count + buffer.readableBytes <= self.bodyBytesMax else { return self.cutBody() }
            self.body.append(contentsOf: buffer.readableBytesView)
            self.loop.hold(buffer.readableBytes)
        case .end:
            guard self.exchange == .receiving else { return }
            self.dispatch()
        }
    }

    private func begin(_ head: HTTPRequestHead) {
        self.head = head
        self.body.removeAll(keepingCapacity: self.body.capacity <= 65_536)
        self.flags = []
        self.streamID &+= 1
        self.exchange = .receiving
        self.isJudged = false
        self.exchangeBeganAt = self.loop.second
        self.hadRequest = true
        if !head.isKeepAlive {
            self.closesAfterAnswer = true
        }
        let limits = self.loop.configuration.bounds.limits
        self.bodyBytesMax = limits.bodyBytesMax
        let bytes = head.headers.reduce(head.uri.utf8.count) { $0 + $1.name.utf8.count + $1.value.utf8.count + 32 }
        if bytes > limits.headerListBytesMax || head.headers.count > limits.fieldsMax {
            let limit: HTTP2Limit = bytes > limits.headerListBytesMax ? .maxHeaderBytes : .maxHeaderFields
            self.loop.counters.connectionLimits[limit] += 1
            self.flags.insert(.headersTooLarge)
            self.closesAfterAnswer = true
            self.dispatch()
        }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        if self.exchange == .receiving, !self.isJudged { self.judge() }
        context.fireChannelReadComplete()
    }

    /// Lets the owner judge a request whose body has not come whole with its head. One that it answers is the connection's last: the rest
    /// of its body may be long.
    private func judge() {
        self.isJudged = true
        self.exchange = .dispatched
        self.isJudging = true
        self.stamp = self.loop.stamp
        self.loop.batch.append(self.head, body: [], streamID: self.streamID, flags: [])
        self.loop.judge(from: self.connection)
        self.isJudging = false
        guard self.exchange == .dispatched else {
            self.loop.hold(-self.body.count)
            self.body = []
            return
        }
        self.exchange = .receiving
        guard max(self.body.count, self.head.contentLength) <= self.bodyBytesMax else { return self.cutBody() }
        guard self.body.isEmpty, self.head.headers.contains(name: "expect") else { return }
        self.write(.head(HTTPResponseHead(version: .http1_1, status: .continue)))
        self.flush()
    }

    /// Hands out a request whose body is too long.
    private func cutBody() {
        self.flags.insert(.bodyTooLarge)
        self.loop.counters.connectionLimits[.maxBodyBytes] += 1
        self.closesAfterAnswer = true
        self.dispatch()
    }

    private func dispatch() {
        self.exchange = .dispatched
        self.stamp = self.loop.stamp
        self.loop.hold(-self.body.count)
        self.loop.batch.append(self.head, body: self.body, streamID: self.streamID, flags: self.flags)
        self.loop.dispatch(from: self.connection)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        self.loop.counters.connectionsEndedByFault += 1
        self.loop.shared.logger.debug(
            "HTTP/1.1 connection failed",
            metadata: [
                "peer": "\(self.connection.remoteAddress)", "error": "\(ConnectionFailure.sentence(error))",
            ]
        )
        guard self.exchange == .idle, let error = error as? HTTPParserError else { return context.close(promise: nil) }
        let status: HTTPResponseStatus = error == .headerOverflow ? .requestHeaderFieldsTooLarge : .badRequest
        let head = HTTPResponseHead(
            version: .http1_1,
            status: status,
            headers: ["content-length": "0", "connection": "close"]
        )
        self.write(.head(head))
        self.closesAfterAnswer = true
        self.end()
        self.flush()
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        if context.channel.isWritable {
            self.unwritableSince = nil
            if self.wantsWritable {
                self.wantsWritable = false
                self.loop.handler.streamWritable(self.streamID, on: self.connection)
            }
        } else {
            self.unwritableSince = self.loop.second
        }
        context.fireChannelWritabilityChanged()
    }

    // MARK: To the peer

    private func write(_ part: HTTPServerResponsePart) {
        self.context?.write(self.wrapOutboundOut(part), promise: nil)
    }

    private func responseHead(_ status: Int, _ fields: borrowing ResponseFields) -> HTTPResponseHead {
        var headers = HTTPHeaders()
        for index in 0..<fields.count {
            headers.add(name: fields.name(at: index), value: fields.value(at: index))
        }
        if self.closesAfterAnswer {
            headers.replaceOrAdd(name: "connection", value: "close")
        }
        let version: NIOHTTP1.HTTPVersion = self.head.version == .http1_0 ? .http1_0 : .http1_1
        return HTTPResponseHead(version: version, status: HTTPResponseStatus(statusCode: status), headers: headers)
    }

    /// Ends the answer and goes on with the next request, or with the end of the connection.
    private func end() {
        self.exchange = .idle
        self.exchangeBeganAt = self.loop.second
        self.wantsWritable = false
        guard let context else { return }
        guard self.closesAfterAnswer else { return context.write(self.wrapOutboundOut(.end(nil)), promise: nil) }
        // A client that has not sent all of its request may be sending still: closing the socket under it could take
        // the answer away before it is read.
        let lingers = !self.flags.isEmpty || self.isJudging
        self.exchange = .lingering
        let written = context.eventLoop.makePromise(of: Void.self)
        context.write(self.wrapOutboundOut(.end(nil)), promise: written)
        let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
        written.futureResult.whenComplete { _ in bound.value.close(mode: lingers ? .output : .all, promise: nil) }
    }

    /// True if that request is the one in work, and not answered yet.
    private func isUnanswered(_ streamID: Int32) -> Bool {
        streamID == self.streamID && self.exchange == .dispatched
    }
}

extension HTTPRequestHead {
    /// The length of the body where it is said, else 0. The parser has taken the text for a number.
    fileprivate var contentLength: Int { self.headers.first(name: "content-length").map { Int($0) ?? .max } ?? 0 }
}

extension HTTP1ServerHandler: HTTPConnectionBackend {
    func limitBody(of streamID: Int32, to bytes: Int) {
        guard streamID == self.streamID, self.isJudging else { return }
        self.bodyBytesMax = min(self.bodyBytesMax, bytes)
    }

    /// One request is in work at a time, and nothing is looked up for it.
    func prefetch(_ streamIDs: Span<Int32>) {}

    func respond(_ streamID: Int32, status: Int, fields: borrowing ResponseFields, body: Span<UInt8>) -> Bool {
        guard self.isUnanswered(streamID) else { return false }
        self.loop.noteAnswer(status, since: self.stamp)
        if self.isJudging { self.closesAfterAnswer = true }
        var head = self.responseHead(status, fields)
        if !head.headers.contains(name: "content-length"), status >= 200, status != 204, status != 304 {
            head.headers.add(name: "content-length", value: String(body.count))
        }
        self.write(.head(head))
        if !body.isEmpty, self.head.method != .HEAD {
            var buffer = ByteBuffer()
            buffer.write(body)
            self.write(.body(.byteBuffer(buffer)))
        }
        self.end()
        return true
    }

    func beginStreaming(_ streamID: Int32, status: Int, fields: borrowing ResponseFields) -> Bool {
        guard self.isUnanswered(streamID) else { return false }
        self.loop.noteAnswer(status, since: self.stamp)
        if self.isJudging { self.closesAfterAnswer = true }
        if self.head.version == .http1_0 {
            // No chunks there: the end of the connection is the end of the body.
            self.closesAfterAnswer = true
        }
        self.exchange = .streaming
        self.write(.head(self.responseHead(status, fields)))
        return true
    }

    func write(_ streamID: Int32, _ bytes: Span<UInt8>) -> StreamWrite {
        guard streamID == self.streamID, self.exchange == .streaming, let context else { return .closed }
        if !bytes.isEmpty, self.head.method != .HEAD {
            var buffer = context.channel.allocator.buffer(capacity: bytes.count)
            buffer.write(bytes)
            self.write(.body(.byteBuffer(buffer)))
        }
        guard !context.channel.isWritable else { return .accepted }
        self.wantsWritable = true
        return .full
    }

    func finish(_ streamID: Int32) {
        guard streamID == self.streamID, self.exchange == .streaming else { return }
        self.end()
    }

    func reset(_ streamID: Int32, _ code: HTTP2ErrorCode) {
        guard streamID == self.streamID, self.exchange != .idle else { return }
        self.closeNow()
    }

    func flush() {
        self.context?.flush()
    }

    func goAway(_ code: HTTP2ErrorCode, debug: String) {
        self.beginDrain()
    }

    func end(for limit: HTTPListenerLimit, _ reason: String) {
        self.loop.counters.listenerLimits[limit] += 1
        self.loop.counters.connectionsEndedByFault += 1
        self.loop.cutOff(self.connection.remoteAddress, for: limit.rawValue, reason)
        self.beginDrain()
    }

    func setMaxConcurrentStreams(_ limit: UInt32) {}

    var unacknowledgedSettings: Int { 0 }

    func closeNow() {
        self.context?.close(promise: nil)
    }
}

extension HTTP1ServerHandler: ListenerMember {
    func checkDeadlines(at second: UInt32) {
        let deadlines = self.loop.configuration.bounds.deadlines
        let age = second &- self.exchangeBeganAt
        if let since = self.unwritableSince, second &- since >= deadlines.writeStall.wholeSeconds {
            self.loop.counters.deadlines[.writeStall] += 1
            return self.closeNow()
        }
        switch self.exchange {
        case .idle:
            let limit = self.hadRequest ? deadlines.idleHTTP1 : deadlines.firstRequest
            guard age >= limit.wholeSeconds else { return }
            self.loop.counters.deadlines[self.hadRequest ? .idleHTTP1 : .firstRequest] += 1
            self.closeNow()
        case .receiving where age >= deadlines.request.wholeSeconds:
            self.loop.counters.deadlines[.request] += 1
            self.flags.insert(.timedOut)
            self.closesAfterAnswer = true
            self.dispatch()
            self.flush()
        case .lingering where age >= Self.lingerSeconds:
            self.closeNow()
        case .receiving, .dispatched, .streaming, .lingering:
            break
        }
    }

    func beginDrain() {
        self.closesAfterAnswer = true
        if self.exchange == .idle {
            self.closeNow()
        }
    }

    func abort() {
        self.closeNow()
    }

    var heldBytes: Int { self.exchange == .receiving ? self.body.count : 0 }

    func endForHeldBytes() {
        self.loop.counters.connectionsEndedByFault += 1
        let limit = HTTPListenerLimit.maxListenerBytes.rawValue
        self.loop.cutOff(self.connection.remoteAddress, for: limit, HTTPListenerLimit.heldBytesReason)
        self.closeNow()
    }
}
