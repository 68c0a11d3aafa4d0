import HTTP2
import Logging
import NIOCore
import NIOHTTP1
import TLS

/// The one channel handler of a TLS connection: ciphertext on one side, HTTP/2 on the other.
///
/// A connection that speaks HTTP/2 never leaves this handler. One that speaks HTTP/1.1 gets NIO's handlers behind it,
/// and this one only encrypts and decrypts for them.
///
/// It only carries out the decisions of ``SecureServerMachine``.
final class SecureServerHandler: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let id: UInt64
    private let loop: ListenerLoop
    private let tls: TLSSession
    private let remoteAddress: String
    private var machine: SecureServerMachine<HTTP2ServerConnection>
    private var context: ChannelHandlerContext?

    init(id: UInt64, loop: ListenerLoop, tls: TLSSession, remoteAddress: String) {
        self.id = id
        self.loop = loop
        self.tls = tls
        self.remoteAddress = remoteAddress
        self.machine = SecureServerMachine(at: loop.second)
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        self.loop.join(self.id, self)
        self.loop.beginHandshake(self.id)
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
        // A socket that broke before it became active never becomes inactive.
        self.loop.leave(self.id)
    }

    func channelInactive(context: ChannelHandlerContext) {
        self.machine.close()?.close()
        self.loop.leave(self.id)
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        self.loop.shared.logger.debug(
            "connection failed",
            metadata: ["peer": "\(self.remoteAddress)", "error": "\(ConnectionFailure.sentence(error))"]
        )
        context.close(promise: nil)
    }

    // MARK: From the peer

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let ciphertext = self.unwrapInboundIn(data)
        switch self.machine.received(ciphertext.readableBytes, at: self.loop.second) {
        case .discard: return
        case .close: return context.close(promise: nil)
        case .decrypt: break
        }
        do {
            try self.receive(ciphertext, context)
        } catch let error as TLSError {
            self.failed(error, context)
        } catch let error as HTTP2Error {
            self.failed(error, context)
        } catch {
            context.close(promise: nil)
        }
        // It may have ended behind requests that came with the same read.
        if self.machine.session == nil { self.loop.forgetRequests() }
    }

    private func receive(_ ciphertext: ByteBuffer, _ context: ChannelHandlerContext) throws {
        try self.tls.receive(ciphertext.readableBytesUInt8Span)
        if case .handshaking = self.machine.state {
            guard self.tls.state == .ready else { return }
            try self.handshakeCompleted(context)
        }
        // Borrowed from the loop, so that no connection keeps a buffer of its own.
        var scratch = ByteBuffer()
        swap(&scratch, &self.loop.plaintext)
        defer { swap(&scratch, &self.loop.plaintext) }
        while true {
            switch self.machine.state {
            case .http2(let http2):
                scratch.clear()
                switch try self.tls.readPlaintext(into: &scratch) {
                case .bytes: try http2.receive(scratch.readableBytesUInt8Span, at: self.machine.lastReadAt)
                case .needsMoreCiphertext: return
                case .closedCleanly: return self.finish(context)
                }
            case .http1:
                var plaintext = context.channel.allocator.buffer(capacity: TLSSession.recordBytesMax)
                switch try self.tls.readPlaintext(into: &plaintext) {
                case .bytes: context.fireChannelRead(self.wrapInboundOut(plaintext))
                case .needsMoreCiphertext: return
                case .closedCleanly: return context.close(promise: nil)
                }
            case .refusingHTTP1:
                scratch.clear()
                switch try self.tls.readPlaintext(into: &scratch) {
                case .bytes: return self.finish(saying: HTTP1Refusal.bytes, context)
                case .needsMoreCiphertext: return
                case .closedCleanly: return context.close(promise: nil)
                }
            case .handshaking, .admitting, .lingering, .closed:
                return
            }
        }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        self.machine.readCompleted()
        switch self.machine.state {
        case .http2(let http2):
            http2.dispatch()
            self.flushOutput()
        case .http1:
            self.writeCiphertext(context)
            context.flush()
            context.fireChannelReadComplete()
        case .handshaking, .refusingHTTP1:
            self.writeCiphertext(context)
            context.flush()
        case .admitting, .lingering, .closed:
            break
        }
    }

    private func handshakeCompleted(_ context: ChannelHandlerContext) throws {
        self.loop.endHandshake(self.id)
        let servesHTTP1 = self.loop.configuration.protocols == .http2AndHTTP1
        let name = self.tls.negotiatedProtocol
        guard let version = self.machine.handshakeCompleted(speaking: name, servesHTTP1: servesHTTP1) else {
            self.loop.counters.connectionsEndedByFault += 1
            return
        }
        let connection = self.loop.makeConnection(self.id, self.remoteAddress, version)
        connection.peerCertificate = self.tls.peerCertificate
        let admission = self.loop.handler.admit(connection)
        guard version == .http1 else { return self.begin(connection, admission, context) }
        if case .refused = admission {
            self.loop.counters.connectionsNotAdmitted += 1
            self.loop.handler.connectionClosed(connection)
            return self.finish(context)
        }
        self.machine.beginHTTP1()
        let handler = HTTP1ServerHandler(connection: connection, loop: self.loop)
        try HTTP1ServerHandler.addHandlers(handler, to: context.channel)
    }

    private func begin(_ connection: HTTPConnection, _ admission: HTTPAdmission, _ context: ChannelHandlerContext) {
        var streamsMax: UInt32?
        if case .accepted(let given) = admission { streamsMax = given }
        let http2 = HTTP2ServerConnection(
            connection: connection,
            loop: self.loop,
            transport: self,
            streamsMax: streamsMax
        )
        connection.backend = http2
        self.machine.begin(http2)
        guard case .refused(let debug) = admission else { return }
        self.loop.counters.connectionsNotAdmitted += 1
        http2.goAway(.noError, debug: debug)
        self.finish(saying: self.lastFrames(of: http2), context)
    }

    // MARK: To the peer

    /// Sends the output of the HTTP/2 session, as far as the socket takes it; at the end of the wakeup if one is
    /// running.
    func flushOutput() {
        guard let context, self.machine.beginFlush() else { return }
        repeat { self.flushRound(context) } while self.machine.endFlush()
    }

    private func flushRound(_ context: ChannelHandlerContext) {
        guard let http2 = self.machine.session else { return }
        // Without ALPN it may turn out to be HTTP/1.1, whose answer must not follow an HTTP/2 frame.
        if self.machine.isPriorKnowledge, !http2.session.hasPreface {
            self.writeCiphertext(context)
            context.flush()
        } else {
            self.flushOnce(http2, context)
        }
    }

    private func flushOnce(_ http2: HTTP2ServerConnection, _ context: ChannelHandlerContext) {
        do {
            var wrote = false
            var output: [UInt8] = []
            swap(&output, &self.loop.output)
            defer { swap(&output, &self.loop.output) }
            while context.channel.isWritable {
                output.removeAll(keepingCapacity: true)
                try http2.drain(into: &output)
                guard !output.isEmpty else { break }
                try self.tls.write(output.span)
                self.writeCiphertext(context)
                wrote = true
            }
            // The handshake's last message may wait without any plaintext behind it.
            if self.tls.pendingCiphertextBytes > 0 {
                self.writeCiphertext(context)
                wrote = true
            }
            if wrote {
                context.flush()
            }
            http2.deliverEvents()
            if http2.session.isFinished {
                // nghttp2 has found a fault of its own and said so.
                if http2.session.sentGoAway ?? .noError != .noError {
                    self.loop.counters.connectionsEndedByFault += 1
                }
                return self.finish(context)
            }
            http2.countHeldBytes()
        } catch let error as HTTP2Error {
            self.failed(error, context)
        } catch {
            context.close(promise: nil)
        }
    }

    private func writeCiphertext(_ context: ChannelHandlerContext) {
        guard let ciphertext = self.tls.takeCiphertext(context.channel.allocator) else { return }
        context.write(self.wrapOutboundOut(ciphertext), promise: nil)
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        if context.channel.isWritable {
            self.machine.becameWritable()
            self.flushOutput()
            if self.machine.releaseRead(isWritable: context.channel.isWritable) { context.read() }
        } else {
            self.machine.becameUnwritable(at: self.loop.second)
        }
        if case .http1 = self.machine.state {
            context.fireChannelWritabilityChanged()
        }
    }

    func read(context: ChannelHandlerContext) {
        if self.machine.wantsRead(isWritable: context.channel.isWritable) { context.read() }
    }

    /// Plaintext from NIO's HTTP/1.1 handlers.
    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        do {
            let plaintext = self.unwrapOutboundIn(data)
            try self.tls.write(plaintext.readableBytesUInt8Span)
        } catch {
            promise?.fail(error)
            return context.close(promise: nil)
        }
        guard let ciphertext = self.tls.takeCiphertext(context.channel.allocator) else {
            promise?.succeed()
            return
        }
        context.write(self.wrapOutboundOut(ciphertext), promise: promise)
    }

    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        if case .http1 = self.machine.state, mode != .input {
            self.tls.shutdown()
            self.writeCiphertext(context)
            context.flush()
        }
        context.close(mode: mode, promise: promise)
    }

    // MARK: The end

    /// Encrypts the last words to the peer, then ends the connection.
    private func finish(saying plaintext: [UInt8], _ context: ChannelHandlerContext) {
        // A failure has nothing to add: the connection ends anyway.
        try? self.tls.write(plaintext.span)
        self.finish(context)
    }

    /// The last frames of a session that takes nothing more; a second failure has nothing to add.
    private func lastFrames(of http2: HTTP2ServerConnection) -> [UInt8] {
        var output: [UInt8] = []
        try? http2.drain(into: &output)
        return output
    }

    /// Says close_notify and gives the peer a moment to read everything before the socket is closed; none to one that reads
    /// nothing.
    private func finish(_ context: ChannelHandlerContext) {
        let http2 = self.machine.finish(at: self.loop.second)
        let mode: CloseMode = http2?.isSilent ?? false ? .all : .output
        http2?.close()
        self.tls.shutdown()
        let ciphertext = self.tls.takeCiphertext(context.channel.allocator) ?? ByteBuffer()
        let written = context.eventLoop.makePromise(of: Void.self)
        context.writeAndFlush(self.wrapOutboundOut(ciphertext), promise: written)
        let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
        written.futureResult.whenComplete { _ in bound.value.close(mode: mode, promise: nil) }
    }

    private func failed(_ error: TLSError, _ context: ChannelHandlerContext) {
        if case .handshaking = self.machine.state {
            self.loop.counters.handshakesFailed += 1
        } else {
            self.loop.counters.connectionsEndedByFault += 1
        }
        self.loop.shared.logger.debug(
            "TLS failed",
            metadata: ["peer": "\(self.remoteAddress)", "error": "\(error.message)"]
        )
        // An alert that says why may be pending.
        self.finish(context)
    }

    private func failed(_ error: HTTP2Error, _ context: ChannelHandlerContext, isForHeldBytes: Bool = false) {
        guard let http2 = self.machine.session else { return }
        if error.code == .late {
            self.loop.counters.deadlines[.headers] += 1
        } else {
            self.loop.counters.connectionsEndedByFault += 1
        }
        if let limit = error.limit {
            self.loop.counters.connectionLimits[limit] += 1
            self.loop.cutOff(self.remoteAddress, for: limit.rawValue, error.message)
        } else if isForHeldBytes {
            self.loop.cutOff(self.remoteAddress, for: HTTPListenerLimit.maxListenerBytes.rawValue, error.message)
        } else {
            self.loop.shared.logger.debug(
                "HTTP/2 session ended",
                metadata: ["peer": "\(self.remoteAddress)", "error": "\(error.message)"]
            )
        }
        self.loop.batch.removeAll()
        http2.countLimits()
        // The GOAWAY says why, but for a client that cannot read it and has been sent no frame yet.
        let isReadable = error.code != .http1Request || !self.machine.isPriorKnowledge
        self.finish(saying: isReadable ? self.lastFrames(of: http2) : HTTP1Refusal.bytes, context)
    }

    /// Closes at once, for the owner.
    func closeNow() {
        self.context?.close(promise: nil)
    }
}

extension SecureServerHandler: ListenerMember {
    func checkDeadlines(at second: UInt32) {
        self.tls.releaseIdleMemory()
        let deadlines = self.loop.configuration.bounds.deadlines
        switch self.machine.lateness(at: second, deadlines, hasPeerSettings: { $0.session.hasPeerSettings }) {
        case .deadline(let deadline):
            if deadline == .handshake { self.loop.counters.handshakesFailed += 1 }
            self.cutOff(deadline)
        case .lingered:
            self.abort()
        case nil:
            guard let http2 = self.machine.session else { return }
            do throws(HTTP2Error) {
                if try !http2.checkDeadlines(at: second) { self.cutOff(.keepAliveAnswer) }
            } catch {
                guard let context else { return }
                self.failed(error, context)
            }
        }
    }

    /// Ends a connection that is too late with something.
    private func cutOff(_ deadline: HTTPListenerDeadline) {
        self.loop.counters.deadlines[deadline] += 1
        self.abort()
    }

    func beginDrain() {
        switch self.machine.state {
        case .handshaking, .admitting, .refusingHTTP1: self.abort()
        case .http2(let http2): http2.beginDrain()
        case .http1, .lingering, .closed: break
        }
    }

    func abort() {
        self.context?.close(promise: nil)
    }

    var heldBytes: Int {
        self.machine.session?.session.heldBytes ?? 0
    }

    func endForHeldBytes() {
        guard let http2 = self.machine.session, let context else { return }
        let error = http2.session.giveUp(HTTPListenerLimit.heldBytesReason)
        self.failed(error, context, isForHeldBytes: true)
    }
}

extension TimeAmount {
    /// Rounded up, so that nothing is late before its time.
    var wholeSeconds: UInt32 {
        UInt32(clamping: (self.nanoseconds + 999_999_999) / 1_000_000_000)
    }
}
