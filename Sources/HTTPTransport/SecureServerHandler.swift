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
/// Reading stops while the socket does not take what was written, so a peer that asks but does not read is left alone.
final class SecureServerHandler: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// Where the connection stands; phases only follow each other in this order, some are skipped.
    private enum Phase {
        case handshaking
        case http2(HTTP2ServerConnection)
        case http1
        /// The client speaks HTTP/1.1 where only HTTP/2 is spoken: its first bytes are answered with that.
        case refusingHTTP1
        /// All is said; what the peer still sends is thrown away until it closes, so that it can read what was said.
        case lingering(bytesLeft: Int)
        case closed
    }

    /// Bytes thrown away after the end before the connection is cut off.
    private static let lingerBytesMax = 262_144
    /// Seconds before the connection is cut off after its end.
    private static let lingerSeconds: UInt32 = 2

    private let id: UInt64
    private let loop: ListenerLoop
    private let tls: TLSSession
    private let remoteAddress: String
    private var phase = Phase.handshaking
    private var context: ChannelHandlerContext?
    private var phaseBeganAt: UInt32
    private var lastReadAt: UInt32
    private var unwritableSince: UInt32?
    /// True from the first read of a wakeup to its end: nothing is flushed meanwhile.
    private var isReading = false
    private var holdsRead = false
    private var isFlushing = false
    private var flushesAgain = false
    /// Whether the peer did not say by ALPN what it speaks. Known once the handshake is complete.
    private var isPriorKnowledge = false

    init(id: UInt64, loop: ListenerLoop, tls: TLSSession, remoteAddress: String) {
        self.id = id
        self.loop = loop
        self.tls = tls
        self.remoteAddress = remoteAddress
        self.phaseBeganAt = loop.second
        self.lastReadAt = loop.second
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
        self.end()
        self.phase = .closed
        self.loop.leave(self.id)
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        self.loop.shared.logger.debug(
            "connection failed",
            metadata: ["peer": "\(self.remoteAddress)", "error": "\(error)"]
        )
        context.close(promise: nil)
    }

    // MARK: From the peer

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let ciphertext = self.unwrapInboundIn(data)
        self.lastReadAt = self.loop.second
        self.isReading = true
        switch self.phase {
        case .closed:
            return
        case .lingering(let bytesLeft):
            guard bytesLeft > ciphertext.readableBytes else { return context.close(promise: nil) }
            self.phase = .lingering(bytesLeft: bytesLeft - ciphertext.readableBytes)
        case .handshaking, .http2, .http1, .refusingHTTP1:
            do {
                try self.receive(ciphertext, context)
            } catch let error as TLSError {
                self.failed(error, context)
            } catch let error as HTTP2Error {
                self.failed(error, context)
            } catch {
                context.close(promise: nil)
            }
        }
    }

    private func receive(_ ciphertext: ByteBuffer, _ context: ChannelHandlerContext) throws {
        try self.tls.receive(ciphertext.readableBytesUInt8Span)
        if case .handshaking = self.phase {
            guard self.tls.state == .ready else { return }
            try self.handshakeCompleted(context)
        }
        // Borrowed from the loop, so that no connection keeps a buffer of its own.
        var scratch = ByteBuffer()
        swap(&scratch, &self.loop.plaintext)
        defer { swap(&scratch, &self.loop.plaintext) }
        while true {
            switch self.phase {
            case .http2(let http2):
                scratch.clear()
                switch try self.tls.readPlaintext(into: &scratch) {
                case .bytes: try http2.receive(scratch.readableBytesUInt8Span, at: self.lastReadAt)
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
            case .handshaking, .lingering, .closed:
                return
            }
        }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        self.isReading = false
        switch self.phase {
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
        case .lingering, .closed:
            break
        }
    }

    private func handshakeCompleted(_ context: ChannelHandlerContext) throws {
        self.phaseBeganAt = self.lastReadAt
        self.loop.endHandshake(self.id)
        let servesHTTP1 = self.loop.configuration.protocols == .http2AndHTTP1
        let isHTTP1: Bool
        switch self.tls.negotiatedProtocol {
        case "h2": isHTTP1 = false
        case "http/1.1" where !servesHTTP1:
            self.loop.counters.connectionsEndedByFault += 1
            self.phase = .refusingHTTP1
            return
        case "http/1.1": isHTTP1 = true
        default:
            self.isPriorKnowledge = true
            isHTTP1 = servesHTTP1
        }
        let connection = self.loop.makeConnection(self.id, self.remoteAddress, isHTTP1 ? .http1 : .http2)
        connection.peerCertificate = self.tls.peerCertificate
        let admission = self.loop.handler.admit(connection)
        guard isHTTP1 else { return self.begin(connection, admission, context) }
        if case .refused = admission {
            self.loop.counters.connectionsNotAdmitted += 1
            self.loop.handler.connectionClosed(connection)
            return self.finish(context)
        }
        self.phase = .http1
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
        self.phase = .http2(http2)
        guard case .refused(let debug) = admission else { return }
        self.loop.counters.connectionsNotAdmitted += 1
        http2.goAway(.noError, debug: debug)
        self.finish(saying: self.lastFrames(of: http2), context)
    }

    // MARK: To the peer

    /// Sends what the HTTP/2 session has to say, as far as the socket takes it; at the end of the wakeup if one is
    /// running.
    func flushOutput() {
        guard !self.isReading, let context else { return }
        // An owner that is told of room writes and flushes from within; it gets its turn in another round.
        guard !self.isFlushing else {
            self.flushesAgain = true
            return
        }
        self.isFlushing = true
        defer { self.isFlushing = false }
        repeat {
            self.flushesAgain = false
            guard case .http2(let http2) = self.phase else { return }
            // Without ALPN it may turn out to be HTTP/1.1, whose answer must not follow an HTTP/2 frame.
            if self.isPriorKnowledge, !http2.session.hasPreface { return self.flushHandshake(context) }
            self.flushOnce(http2, context)
        } while self.flushesAgain
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

    private func flushHandshake(_ context: ChannelHandlerContext) {
        self.writeCiphertext(context)
        context.flush()
    }

    private func writeCiphertext(_ context: ChannelHandlerContext) {
        guard let ciphertext = self.tls.takeCiphertext(context.channel.allocator) else { return }
        context.write(self.wrapOutboundOut(ciphertext), promise: nil)
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        if context.channel.isWritable {
            self.unwritableSince = nil
            self.flushOutput()
            if self.holdsRead && context.channel.isWritable {
                self.holdsRead = false
                context.read()
            }
        } else {
            self.unwritableSince = self.loop.second
        }
        if case .http1 = self.phase {
            context.fireChannelWritabilityChanged()
        }
    }

    func read(context: ChannelHandlerContext) {
        guard context.channel.isWritable else {
            self.holdsRead = true
            return
        }
        context.read()
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
        if case .http1 = self.phase, mode != .input {
            self.tls.shutdown()
            self.writeCiphertext(context)
            context.flush()
        }
        context.close(mode: mode, promise: promise)
    }

    // MARK: The end

    /// Tells the owner that the connection has gone; once.
    private func end() {
        guard case .http2(let http2) = self.phase else { return }
        self.phase = .lingering(bytesLeft: Self.lingerBytesMax)
        http2.close()
    }

    /// Encrypts the last words to the peer, then ends the connection.
    private func finish(saying plaintext: [UInt8], _ context: ChannelHandlerContext) {
        // A failure has nothing to add: the connection ends anyway.
        try? self.tls.write(plaintext.span)
        self.finish(context)
    }

    /// What a session that takes nothing more has left to say; a second failure has nothing to add.
    private func lastFrames(of http2: HTTP2ServerConnection) -> [UInt8] {
        var output: [UInt8] = []
        try? http2.drain(into: &output)
        return output
    }

    /// Says close_notify and gives the peer a moment to read everything before the socket is closed; none to one that reads
    /// nothing.
    private func finish(_ context: ChannelHandlerContext) {
        let mode: CloseMode = if case .http2(let http2) = self.phase, http2.isSilent { .all } else { .output }
        self.end()
        self.phase = .lingering(bytesLeft: Self.lingerBytesMax)
        self.phaseBeganAt = self.loop.second
        self.tls.shutdown()
        let ciphertext = self.tls.takeCiphertext(context.channel.allocator) ?? ByteBuffer()
        let written = context.eventLoop.makePromise(of: Void.self)
        context.writeAndFlush(self.wrapOutboundOut(ciphertext), promise: written)
        let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
        written.futureResult.whenComplete { _ in bound.value.close(mode: mode, promise: nil) }
    }

    private func failed(_ error: TLSError, _ context: ChannelHandlerContext) {
        if case .handshaking = self.phase {
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
        guard case .http2(let http2) = self.phase else { return }
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
        let isReadable = error.code != .http1Request || !self.isPriorKnowledge
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
        let deadlines = self.loop.configuration.deadlines
        let age = second &- self.phaseBeganAt
        switch self.phase {
        case .handshaking where age >= deadlines.handshake.wholeSeconds,
            .lingering where age >= Self.lingerSeconds:
            if case .handshaking = self.phase {
                self.loop.counters.handshakesFailed += 1
                self.loop.counters.deadlines[.handshake] += 1
            }
            self.abort()
        case .http2(let http2):
            if let since = self.unwritableSince, second &- since >= deadlines.writeStall.wholeSeconds {
                return self.cutOff(.writeStall)
            }
            if !http2.session.hasPeerSettings, age >= deadlines.firstRequest.wholeSeconds {
                return self.cutOff(.firstRequest)
            }
            do throws(HTTP2Error) {
                if try !http2.checkDeadlines(at: second) { self.cutOff(.keepAliveAnswer) }
            } catch {
                guard let context else { return }
                self.failed(error, context)
            }
        case .refusingHTTP1 where age >= deadlines.firstRequest.wholeSeconds:
            self.cutOff(.firstRequest)
        case .handshaking, .lingering, .http1, .refusingHTTP1, .closed:
            break
        }
    }

    /// Ends a connection that is too late with something.
    private func cutOff(_ deadline: HTTPListenerDeadline) {
        self.loop.counters.deadlines[deadline] += 1
        self.abort()
    }

    func beginDrain() {
        switch self.phase {
        case .handshaking, .refusingHTTP1: self.abort()
        case .http2(let http2): http2.beginDrain()
        case .http1, .lingering, .closed: break
        }
    }

    func abort() {
        self.context?.close(promise: nil)
    }

    var heldBytes: Int {
        if case .http2(let http2) = self.phase { http2.session.heldBytes } else { 0 }
    }

    func endForHeldBytes() {
        guard case .http2(let http2) = self.phase, let context else { return }
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
