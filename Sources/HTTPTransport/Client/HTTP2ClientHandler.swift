import HTTP2
import NIOCore
import TLS

/// The one channel handler of a client's connection: TLS and HTTP/2. It carries out the decisions of ``HTTP2ClientMachine``.
final class HTTP2ClientHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// News for the owner of the connection, told before the requests that end by it are.
    enum Change {
        /// The server's limit of concurrent streams.
        case streamsMax(Int)
        /// The server said GOAWAY.
        case goAway
        /// A PING was sent to see whether the server is there.
        case pinged
        /// A PING was not answered.
        case silent
        /// No more requests are taken, for whatever reason.
        case draining
    }

    /// Takes the end of one request.
    typealias Completion = (Result<HTTPClientResponse, HTTPTransportError>) -> Void

    private let eventLoop: any EventLoop
    /// When the server's SETTINGS have come, or why they do not.
    let isReady: EventLoopFuture<Void>
    private let tls: TLSSession
    private let session: HTTP2Session
    private let peer: String
    private let authority: String
    private let configuration: HTTP2ClientConfiguration
    private let ready: EventLoopPromise<Void>
    private var machine = HTTP2ClientMachine<Completion>()
    private var handshakeDeadline: Scheduled<Void>?
    private var context: ChannelHandlerContext?
    private var liveness: Liveness
    private var livenessTask: Scheduled<Void>?
    /// Told the changes while the connection lives.
    var onChange: ((Change) -> Void)?
    private var pings: [UInt64: EventLoopPromise<Void>] = [:]
    private var lastPing: UInt64 = 0
    private var noRequests = RequestBatch()
    private var responses = ResponseBatch()
    private var events: [HTTP2Event] = []
    private var output: [UInt8] = []

    /// - Parameter eventLoop: of the channel that the handler is added to, at once.
    init(
        tls: TLSSession,
        origin: HTTPOrigin,
        serverName: String,
        configuration: HTTP2ClientConfiguration,
        eventLoop: any EventLoop
    ) {
        var limits = HTTP2Limits()
        limits.bodyBytesMax = configuration.responseBodyBytesMax
        limits.headerListBytesMax = 65_536
        // A server that lowers its limit of streams refuses, at once, all that is on its way above it.
        limits.streamResetBurst = 10_000
        limits.streamResetsPerSecond = 1000
        let ready = eventLoop.makePromise(of: Void.self)
        let name = serverName.contains(":") ? "[\(serverName)]" : serverName
        self.eventLoop = eventLoop
        self.isReady = ready.futureResult
        self.tls = tls
        self.session = HTTP2Session(.client, limits: limits)
        self.peer = "\(origin.host):\(origin.port)"
        self.authority = origin.port == 443 ? name : "\(name):\(origin.port)"
        self.configuration = configuration
        self.ready = ready
        self.liveness = Liveness(configuration, now: eventLoop.now)
    }

    /// Streams that the server takes at once.
    var streamsMax: Int { self.machine.streamsMax }
    /// Why the connection takes no more requests.
    var reason: HTTPTransportError? { self.machine.reason }
    var isClosedByOwner: Bool { self.machine.isClosedByOwner }
    var isUsable: Bool { self.context != nil && self.reason == nil }

    private var isOpen: Bool {
        if case .ended = self.machine.state { return false }
        return self.context != nil
    }

    private var second: UInt32 {
        UInt32(truncatingIfNeeded: self.eventLoop.now.uptimeNanoseconds / 1_000_000_000)
    }

    // MARK: The channel

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        if context.channel.isActive {
            self.flush()
        }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        // Also for a channel that was never connected, and so never becomes inactive.
        self.failed(HTTPTransportError(.connectionClosed, "the connection to \(self.peer) was closed"))
        self.context = nil
    }

    func channelActive(context: ChannelHandlerContext) {
        let bound = NIOLoopBound(self, eventLoop: self.eventLoop)
        self.handshakeDeadline = self.eventLoop.scheduleTask(in: self.configuration.handshakeTimeout) {
            bound.value.handshakeTimedOut()
        }
        // The client's first TLS message is pending since the session was made.
        self.flush()
        context.fireChannelActive()
    }

    func channelInactive(context: ChannelHandlerContext) {
        self.failed(HTTPTransportError(.connectionClosed, "\(self.peer) closed the connection"))
        self.context = nil
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        let sentence = "connection to \(self.peer) failed: \(ConnectionFailure.sentence(error))"
        self.failed(HTTPTransportError(.connectionClosed, sentence))
        context.close(promise: nil)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        self.machine.readBegan()
        if self.liveness.heard(at: self.eventLoop.now) { self.watch() }
        let ciphertext = self.unwrapInboundIn(data)
        do {
            try self.receive(ciphertext, context)
        } catch let error as TLSError {
            self.failed(HTTPTransportError(error, with: self.peer))
            self.closeAfterFlush(context)
        } catch {
            self.failed(HTTPTransportError(.connectionClosed, "HTTP/2 with \(self.peer) failed: \(error)"))
            self.closeAfterFlush(context)
        }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        self.machine.readEnded()
        self.flush()
        context.fireChannelReadComplete()
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        if context.channel.isWritable {
            self.flush()
        }
        context.fireChannelWritabilityChanged()
    }

    // MARK: From the server

    private func receive(_ ciphertext: ByteBuffer, _ context: ChannelHandlerContext) throws {
        try self.tls.receive(ciphertext.readableBytesUInt8Span)
        guard self.tls.state == .ready else { return }
        if self.machine.handshakeCompleted(), self.tls.negotiatedProtocol != "h2" {
            throw TLSError(.noApplicationProtocol, "no protocol chosen")
        }
        var plaintext = context.channel.allocator.buffer(capacity: TLSSession.recordBytesMax)
        while true {
            plaintext.clear()
            switch try self.tls.readPlaintext(into: &plaintext) {
            case .bytes:
                try self.session.receive(
                    plaintext.readableBytesUInt8Span,
                    at: self.second,
                    into: &self.noRequests
                )
                self.deliver()
            case .needsMoreCiphertext:
                return
            case .closedCleanly:
                self.failed(HTTPTransportError(.connectionClosed, "\(self.peer) closed the connection"))
                return context.close(promise: nil)
            }
        }
    }

    /// Hands responses and events to their waiting receivers.
    private func deliver() {
        self.session.takeResponses(into: &self.responses)
        for response in self.responses.responses {
            guard let completion = self.machine.ended(response.streamID) else { continue }
            guard !response.isTooLarge else {
                self.session.cancel(response.streamID)
                completion(
                    .failure(
                        HTTPTransportError(
                            .responseTooLarge,
                            "the response of \(self.peer) is larger than the limit"
                        )
                    )
                )
                continue
            }
            completion(.success(HTTPClientResponse(response, in: self.responses)))
        }
        self.responses.removeAll()
        self.deliverEvents()
    }

    private func deliverEvents() {
        var events: [HTTP2Event] = []
        swap(&events, &self.events)
        events.removeAll(keepingCapacity: true)
        self.session.takeEvents(into: &events)
        // A completion may bring events of its own, which the next round takes.
        defer { swap(&events, &self.events) }
        // The GOAWAY explains the streams that close with it, which nghttp2 reports first.
        for case .goAway(let last, let code, let debug) in events {
            self.receivedGoAway(last, code, debug)
        }
        for event in events {
            switch event {
            case .settings(let streamsMax):
                let isReady = self.machine.settled(streamsMax: Int(streamsMax))
                self.onChange?(.streamsMax(self.streamsMax))
                if isReady { self.becomeReady() }
            case .streamClosed(let streamID, let code):
                self.closedStream(streamID, code)
            case .pingAcknowledged(let payload):
                self.pings.removeValue(forKey: payload)?.succeed()
            case .goAway, .streamWritable, .limitPassed:
                break
            }
        }
    }

    private func receivedGoAway(_ last: Int32, _ code: HTTP2ErrorCode, _ debug: [UInt8]) {
        let text = String(decoding: debug.prefix(256), as: UTF8.self)
        let because = text.isEmpty ? "" : ": \(text)"
        let error = HTTPTransportError(
            .goAway(code),
            "\(self.peer) takes no more requests on this connection (GOAWAY \(code))\(because)",
            isUnprocessed: true
        )
        self.onChange?(.goAway)
        self.stopTaking(error)
        for completion in self.machine.refused(above: last) { completion(.failure(error)) }
    }

    private func closedStream(_ streamID: Int32, _ code: HTTP2ErrorCode) {
        self.machine.ended(streamID)?(
            .failure(
                HTTPTransportError(
                    .streamReset(code),
                    "\(self.peer) reset the request (\(code))",
                    isUnprocessed: code == .refusedStream
                )
            )
        )
    }

    private func becomeReady() {
        self.handshakeDeadline?.cancel()
        self.ready.succeed()
        self.watch()
    }

    // MARK: To the server

    /// Queues a request; ``flush()`` sends it.
    ///
    /// - Parameter completion: called once, on the loop, and not before this returns.
    /// - Returns: the stream, to give the request up by.
    /// - Throws: the reason why the request is not taken; `completion` is not called then.
    func submit(
        _ request: HTTPClientRequest,
        _ completion: @escaping Completion
    ) throws(HTTPTransportError) -> Int32 {
        if let reason = self.machine.reason {
            throw HTTPTransportError(reason.code, reason.message, isUnprocessed: true)
        }
        guard self.machine.waitingCount < self.configuration.requestsMax else {
            throw HTTPTransportError(
                .queueFull,
                "\(self.machine.waitingCount) requests to \(self.peer) already wait",
                isUnprocessed: true
            )
        }
        var fields = ResponseFields()
        fields.append(name: ":scheme", value: "https" as StaticString)
        fields.append(name: ":authority", value: request.authority ?? self.authority)
        fields.append(name: ":path", value: request.path, indexed: false)
        for field in request.headers.all {
            fields.append(name: field.name, value: field.value, indexed: field.name != "authorization")
        }
        guard let streamID = self.session.request(method: request.method, fields: fields, body: request.body.span)
        else {
            let error = HTTPTransportError(
                .connectionClosed,
                "the connection to \(self.peer) takes no more requests",
                isUnprocessed: true
            )
            self.stopTaking(error)
            throw error
        }
        if self.machine.began(completion, on: streamID) {
            self.liveness.began(at: self.eventLoop.now)
            self.watch()
        }
        return streamID
    }

    /// Sends one request and gives it up at its deadline.
    func send(_ request: HTTPClientRequest, _ cancellation: RequestCancellation) -> EventLoopFuture<HTTPClientResponse>
    {
        let promise = self.eventLoop.makePromise(of: HTTPClientResponse.self)
        guard !cancellation.isCancelled else {
            promise.fail(HTTPTransportError.cancelled)
            return promise.futureResult
        }
        do {
            let streamID = try self.submit(request) { result in
                promise.completeWith(result.mapError { $0 as any Error })
            }
            let bound = NIOLoopBound(self, eventLoop: self.eventLoop)
            let deadline = self.eventLoop.scheduleTask(in: request.timeout) {
                bound.value.giveUp(
                    streamID,
                    HTTPTransportError(.timeout, "no response from \(bound.value.peer) in time")
                )
            }
            promise.futureResult.whenComplete { _ in deadline.cancel() }
            cancellation.sent(on: streamID)
            self.flush()
        } catch {
            promise.fail(error)
        }
        return promise.futureResult
    }

    func cancel(_ cancellation: RequestCancellation) {
        // One that is not sent yet will not be.
        guard let streamID = cancellation.streamID else { return }
        self.giveUp(streamID, HTTPTransportError.cancelled)
    }

    /// Resets the stream of a request and ends it with an error.
    func giveUp(_ streamID: Int32, _ error: HTTPTransportError) {
        guard let completion = self.machine.ended(streamID) else { return }
        self.session.cancel(streamID)
        self.flush()
        completion(.failure(error))
    }

    func ping() -> EventLoopFuture<Void> {
        guard self.isOpen else {
            return self.eventLoop.makeFailedFuture(
                HTTPTransportError(.connectionClosed, "the connection to \(self.peer) has closed")
            )
        }
        self.lastPing += 1
        let promise = self.eventLoop.makePromise(of: Void.self)
        self.pings[self.lastPing] = promise
        self.session.ping(self.lastPing)
        self.flush()
        return promise.futureResult
    }

    func flush() {
        guard !self.machine.isReading, let context else { return }
        var output: [UInt8] = []
        swap(&output, &self.output)
        defer { swap(&output, &self.output) }
        do {
            if self.tls.state == .ready {
                while context.channel.isWritable {
                    output.removeAll(keepingCapacity: true)
                    try self.session.drain(into: &output, upTo: 65_536, at: self.second)
                    guard !output.isEmpty else { break }
                    try self.tls.write(output.span)
                    self.writeCiphertext(context)
                }
            }
            self.writeCiphertext(context)
            context.flush()
            self.deliverEvents()
            if self.session.isFinished {
                context.close(promise: nil)
            }
        } catch {
            self.errorCaught(context: context, error: error)
        }
    }

    private func writeCiphertext(_ context: ChannelHandlerContext) {
        guard let ciphertext = self.tls.takeCiphertext(context.channel.allocator) else { return }
        context.write(self.wrapOutboundOut(ciphertext), promise: nil)
    }

    // MARK: Whether the server is there

    /// Looks again when there is something to notice.
    private func watch() {
        guard self.machine.isWatched, self.context != nil else { return }
        let due = self.liveness.nextLook(hasRequests: self.machine.waitingCount > 0)
        if self.livenessTask != nil, self.liveness.scheduled <= due { return }
        self.livenessTask?.cancel()
        self.liveness.scheduled = due
        let bound = NIOLoopBound(self, eventLoop: self.eventLoop)
        self.livenessTask = self.eventLoop.scheduleTask(deadline: due) { bound.value.look() }
    }

    private func look() {
        self.livenessTask = nil
        guard let context else { return }
        switch self.liveness.look(at: self.eventLoop.now, hasRequests: self.machine.waitingCount > 0) {
        case .later:
            break
        case .ping:
            self.lastPing += 1
            self.session.ping(self.lastPing)
            self.onChange?(.pinged)
            self.flush()
        case .isGone:
            self.onChange?(.silent)
            self.failed(
                HTTPTransportError(.timeout, "\(self.peer) sent nothing after a PING; the connection is closed")
            )
            return context.close(promise: nil)
        }
        self.watch()
    }

    private func handshakeTimedOut() {
        guard self.machine.isAwaited, let context else { return }
        self.failed(HTTPTransportError(.timeout, "\(self.peer) did not complete TLS and HTTP/2 SETTINGS in time"))
        context.close(promise: nil)
    }

    // MARK: The end

    /// No more requests.
    private func stopTaking(_ error: HTTPTransportError) {
        if let stop = self.machine.drain(error) { self.stopped(stop, error) }
    }

    private func stopped(_ stop: HTTP2ClientMachine<Completion>.Stop, _ error: HTTPTransportError) {
        if stop == .notReady {
            self.handshakeDeadline?.cancel()
            self.ready.fail(error)
        }
        self.onChange?(.draining)
    }

    /// Fails everything that waits.
    private func failed(_ error: HTTPTransportError, byOwner: Bool = false) {
        guard let end = self.machine.end(error, byOwner: byOwner) else { return }
        if let stop = end.stop { self.stopped(stop, error) }
        self.livenessTask?.cancel()
        for completion in end.requests {
            completion(.failure(HTTPTransportError(end.reason.code, end.reason.message)))
        }
        for ping in self.pings.values {
            ping.fail(end.reason)
        }
        self.pings = [:]
    }

    private func closeAfterFlush(_ context: ChannelHandlerContext) {
        // An alert or a GOAWAY that says why may be pending.
        self.writeCiphertext(context)
        context.flush()
        context.close(promise: nil)
    }

    /// Completes when the channel has gone.
    func closeAndWait() -> EventLoopFuture<Void> {
        guard let context else { return self.eventLoop.makeSucceededVoidFuture() }
        let gone = context.channel.closeFuture
        self.close()
        return gone
    }

    func close() {
        guard let context else { return }
        let error = HTTPTransportError(.connectionClosed, "the connection to \(self.peer) was closed by this side")
        self.failed(error, byOwner: true)
        guard self.tls.state == .ready else { return context.close(promise: nil) }
        self.session.goAway()
        self.flush()
        self.tls.shutdown()
        self.writeCiphertext(context)
        context.flush()
        context.close(promise: nil)
    }
}
