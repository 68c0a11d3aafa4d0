import HTTP2
import NIOCore
import TLS

/// The one channel handler of a client's connection: TLS and HTTP/2, and who waits for which stream.
final class HTTP2ClientHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private struct Pending {
        let token: UInt64
        let promise: EventLoopPromise<HTTPClientResponse>
        let deadline: Scheduled<Void>
    }

    private let eventLoop: any EventLoop
    private let tls: TLSSession
    private let session: HTTP2Session
    private let peer: String
    private let authority: String
    private let configuration: HTTP2ClientConfiguration
    /// Fulfilled by the server's SETTINGS.
    private var ready: EventLoopPromise<NIOLoopBound<HTTP2ClientHandler>>?
    private var context: ChannelHandlerContext?
    private var pending: [Int32: Pending] = [:]
    private var pings: [UInt64: EventLoopPromise<Void>] = [:]
    private var lastPing: UInt64 = 0
    private var isReading = false
    private var isHandshaking = true
    private var noRequests = RequestBatch()
    private var responses = ResponseBatch()
    private var events: [HTTP2Event] = []
    private var output: [UInt8] = []
    /// Why the connection takes no more requests.
    private(set) var reason: HTTPTransportError?
    private(set) var isClosedByOwner = false

    init(
        tls: TLSSession,
        peer: String,
        authority: String,
        configuration: HTTP2ClientConfiguration,
        ready: EventLoopPromise<NIOLoopBound<HTTP2ClientHandler>>
    ) {
        var limits = HTTP2Limits()
        limits.bodyBytesMax = configuration.responseBodyBytesMax
        limits.headerListBytesMax = 65_536
        self.eventLoop = ready.futureResult.eventLoop
        self.tls = tls
        self.session = HTTP2Session(.client, limits: limits)
        self.peer = peer
        self.authority = authority
        self.configuration = configuration
        self.ready = ready
    }

    var isUsable: Bool { self.context != nil && self.reason == nil }

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
        self.context = nil
    }

    func channelActive(context: ChannelHandlerContext) {
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
        self.failed(HTTPTransportError(.connectionClosed, "connection to \(self.peer) failed: \(error)"))
        context.close(promise: nil)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        self.isReading = true
        let ciphertext = self.unwrapInboundIn(data)
        do {
            try self.receive(ciphertext, context)
        } catch let error as TLSError {
            self.failed(self.explain(error))
            self.closeAfterFlush(context)
        } catch {
            self.failed(HTTPTransportError(.connectionClosed, "HTTP/2 with \(self.peer) failed: \(error)"))
            self.closeAfterFlush(context)
        }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        self.isReading = false
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
        if self.isHandshaking {
            self.isHandshaking = false
            guard self.tls.negotiatedProtocol == "h2" else {
                throw TLSError(.noApplicationProtocol, "no protocol chosen")
            }
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

    /// Hands responses and events to whoever waits for them.
    private func deliver() {
        self.session.takeResponses(into: &self.responses)
        for response in self.responses.responses {
            guard let pending = self.pending.removeValue(forKey: response.streamID) else { continue }
            pending.deadline.cancel()
            guard !response.isTooLarge else {
                self.session.cancel(response.streamID)
                pending.promise.fail(
                    HTTPTransportError(.responseTooLarge, "the response of \(self.peer) is larger than this side takes")
                )
                continue
            }
            let fields = response.fields.map { index in
                let field = self.responses.fields[Int(index)]
                return HTTPFields.Field(
                    name: self.responses.string(field.name),
                    value: self.responses.string(field.value)
                )
            }
            pending.promise.succeed(
                HTTPClientResponse(
                    status: response.status,
                    headers: HTTPFields(fields),
                    body: Array(self.responses.bytes[response.body.indices])
                )
            )
        }
        self.responses.removeAll()
        self.deliverEvents()
    }

    private func deliverEvents() {
        self.events.removeAll(keepingCapacity: true)
        self.session.takeEvents(into: &self.events)
        // The GOAWAY explains the streams that close with it, which nghttp2 reports first.
        for case .goAway(let last, let code, let debug) in self.events {
            self.receivedGoAway(last, code, debug)
        }
        for event in self.events {
            switch event {
            case .settings:
                self.ready?.succeed(NIOLoopBound(self, eventLoop: self.eventLoop))
                self.ready = nil
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
        self.reason = error
        self.ready?.fail(error)
        self.ready = nil
        for (streamID, pending) in self.pending where streamID > last {
            self.pending[streamID] = nil
            pending.deadline.cancel()
            pending.promise.fail(error)
        }
    }

    private func closedStream(_ streamID: Int32, _ code: HTTP2ErrorCode) {
        guard let pending = self.pending.removeValue(forKey: streamID) else { return }
        pending.deadline.cancel()
        pending.promise.fail(
            HTTPTransportError(
                .streamReset(code),
                "\(self.peer) reset the request (\(code))",
                isUnprocessed: code == .refusedStream
            )
        )
    }

    private func explain(_ error: TLSError) -> HTTPTransportError {
        switch error.code {
        case .peerCertificate:
            return HTTPTransportError(
                .tls,
                "the certificate of \(self.peer) is not trusted: \(error.message); "
                    + "pass the certificate file of the authority that issued it"
            )
        case .hostname:
            return HTTPTransportError(
                .tls,
                "the certificate of \(self.peer) is for another name: \(error.message); pass the name it is for"
            )
        case .noApplicationProtocol, .alert(120):
            return HTTPTransportError(
                .applicationProtocol,
                "\(self.peer) speaks TLS but does not offer HTTP/2 (ALPN h2)"
            )
        case .notTLS:
            return HTTPTransportError(.tls, "\(self.peer) does not speak TLS: \(error.message)")
        default:
            return HTTPTransportError(.tls, "TLS with \(self.peer) failed: \(error.message)")
        }
    }

    // MARK: To the server

    func send(_ request: HTTPClientRequest, _ token: UInt64) -> EventLoopFuture<HTTPClientResponse> {
        let eventLoop = self.eventLoop
        if let reason = self.reason {
            return eventLoop.makeFailedFuture(HTTPTransportError(reason.code, reason.message, isUnprocessed: true))
        }
        guard self.pending.count < self.configuration.requestsMax else {
            return eventLoop.makeFailedFuture(
                HTTPTransportError(
                    .request,
                    "\(self.pending.count) requests to \(self.peer) wait already",
                    isUnprocessed: true
                )
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
            self.reason = error
            return eventLoop.makeFailedFuture(error)
        }
        let promise = eventLoop.makePromise(of: HTTPClientResponse.self)
        let bound = NIOLoopBound(self, eventLoop: eventLoop)
        let deadline = eventLoop.scheduleTask(in: request.timeout) {
            bound.value.giveUp(
                streamID,
                HTTPTransportError(.timeout, "no response from \(bound.value.peer) in time")
            )
        }
        self.pending[streamID] = Pending(token: token, promise: promise, deadline: deadline)
        self.flush()
        return promise.futureResult
    }

    func cancel(_ token: UInt64) {
        guard let streamID = self.pending.first(where: { $0.value.token == token })?.key else { return }
        self.giveUp(streamID, HTTPTransportError(.streamReset(.cancel), "the request was cancelled"))
    }

    private func giveUp(_ streamID: Int32, _ error: HTTPTransportError) {
        guard let pending = self.pending.removeValue(forKey: streamID) else { return }
        pending.deadline.cancel()
        pending.promise.fail(error)
        self.session.cancel(streamID)
        self.flush()
    }

    func ping() -> EventLoopFuture<Void> {
        guard self.context != nil else {
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

    private func flush() {
        guard !self.isReading, let context else { return }
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
            self.failed(HTTPTransportError(.connectionClosed, "connection to \(self.peer) failed: \(error)"))
            context.close(promise: nil)
        }
    }

    private func writeCiphertext(_ context: ChannelHandlerContext) {
        guard let ciphertext = self.tls.takeCiphertext(context.channel.allocator) else { return }
        context.write(self.wrapOutboundOut(ciphertext), promise: nil)
    }

    // MARK: The end

    /// Fails everything that waits; the first reason is kept, since it explains the others.
    private func failed(_ error: HTTPTransportError) {
        let reason = self.reason ?? error
        self.reason = reason
        self.ready?.fail(reason)
        self.ready = nil
        for pending in self.pending.values {
            pending.deadline.cancel()
            pending.promise.fail(HTTPTransportError(reason.code, reason.message))
        }
        self.pending = [:]
        for ping in self.pings.values {
            ping.fail(reason)
        }
        self.pings = [:]
    }

    private func closeAfterFlush(_ context: ChannelHandlerContext) {
        // An alert or a GOAWAY that says why may be pending.
        self.writeCiphertext(context)
        context.flush()
        context.close(promise: nil)
    }

    func close() {
        guard let context else { return }
        self.isClosedByOwner = true
        self.failed(HTTPTransportError(.connectionClosed, "the connection to \(self.peer) was closed by this side"))
        guard self.tls.state == .ready else { return context.close(promise: nil) }
        self.session.goAway()
        self.flush()
        self.tls.shutdown()
        self.writeCiphertext(context)
        context.flush()
        context.close(promise: nil)
    }
}
