import HTTP2
import NIOCore
import NIOEmbedded
import TLS
import Testing

@testable import HTTPTransport
import TransportSupport

/// One connection to a listener without a socket, with a clock that only moves when it is told to.
///
/// The other end is a TLS and an HTTP/2 session of ours in the client's role.
final class EmbeddedConnection {
    let eventLoop = EmbeddedEventLoop()
    let channel: EmbeddedChannel
    let loop: ListenerLoop
    let handler: RecordingHandler
    let reads = ReadCounter()
    let tls: TLSSession
    let session = HTTP2Session(.client)
    var clientEvents: [HTTP2Event] = []
    /// Buffers that the server wrote, since the last look.
    var writes = 0
    private var ignored = RequestBatch()

    init(
        _ handler: RecordingHandler = RecordingHandler(),
        log: RecordedLog = RecordedLog(),
        _ configure: (inout HTTPListenerConfiguration) -> Void = { _ in }
    ) throws {
        var configuration = HTTPListenerConfiguration(
            name: "test",
            port: 0,
            tls: try TestCertificates.shared.serverContext()
        )
        configure(&configuration)
        let shared = ListenerShared(logger: log.logger)
        self.handler = handler
        self.loop = ListenerLoop(
            eventLoop: self.eventLoop,
            shared: shared,
            configuration: configuration,
            handler: handler
        )
        self.loop.start()
        self.channel = EmbeddedChannel(loop: self.eventLoop)
        #expect(self.loop.admit(1, from: PeerAddress("127.0.0.1")))
        try self.channel.pipeline.syncOperations.addHandler(self.reads)
        try self.channel.pipeline.syncOperations.addHandler(
            SecureServerHandler(
                id: 1,
                loop: self.loop,
                tls: try TLSSession.server(try #require(configuration.tls)),
                remoteAddress: "127.0.0.1:1"
            )
        )
        self.tls = try TLSSession.client(try TestCertificates.shared.clientContext(), serverName: "localhost")
        try self.channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
    }

    deinit {
        // A channel that a test leaves open ends with it; it may have been closed before.
        _ = try? self.channel.finish(acceptAlreadyClosed: true)
        self.loop.stop()
    }

    /// Carries bytes to and fro until both sides are silent.
    func run() throws {
        while true {
            if self.tls.state == .ready {
                var output: [UInt8] = []
                try self.session.drain(into: &output, upTo: 1 << 24, at: 0)
                try self.tls.write(output.span)
            }
            let up = self.tls.pendingCiphertextBytes > 0 ? self.tls.drainAll() : []
            if !up.isEmpty, self.channel.isActive {
                try self.channel.writeInbound(ByteBuffer(bytes: up))
            }
            var isSilent = up.isEmpty
            while let down = try self.channel.readOutbound(as: ByteBuffer.self) {
                if down.readableBytes > 0 {
                    isSilent = false
                    self.writes += 1
                }
                try self.receive(down)
            }
            self.session.takeEvents(into: &self.clientEvents)
            guard !isSilent else { return }
        }
    }

    private func receive(_ ciphertext: ByteBuffer) throws {
        try self.tls.receive(ciphertext.readableBytesUInt8Span)
        var plaintext = ByteBuffer()
        while case .bytes = try self.tls.readPlaintext(into: &plaintext) {
            try self.session.receive(plaintext.readableBytesUInt8Span, at: 0, into: &self.ignored)
            plaintext.clear()
        }
    }

    func request(_ path: String, body: [UInt8] = []) {
        var fields = ResponseFields()
        fields.append(name: ":scheme", value: "https" as StaticString)
        fields.append(name: ":authority", value: "localhost")
        fields.append(name: ":path", value: path)
        #expect(self.session.request(method: "POST", fields: fields, body: body.span) != nil)
    }

    /// Sends the waiting output, and these bytes behind it, all at once.
    ///
    /// - Parameter closes: Whether TLS is closed behind it.
    func send(_ plaintext: [UInt8] = [], closes: Bool = false) throws {
        var output: [UInt8] = []
        try self.session.drain(into: &output, upTo: 1 << 20, at: 0)
        try self.tls.write((output + plaintext).span)
        if closes { self.tls.shutdown() }
        try self.channel.writeInbound(ByteBuffer(bytes: self.tls.drainAll()))
    }

    /// Sends as much of a request as the stream's window takes, 65,535 of its body's 65,536 bytes: the rest waits for
    /// credit that is not looked at.
    func requestBeyondWindow(_ path: String) throws {
        self.request(path, body: [UInt8](repeating: 0, count: 65_536))
        var output: [UInt8] = []
        try self.session.drain(into: &output, upTo: 1 << 20, at: 0)
        try self.tls.write(output.span)
        try self.channel.writeInbound(ByteBuffer(bytes: self.tls.drainAll()))
    }

    /// The statuses of the responses since the last look.
    func statuses() -> [Int] {
        var batch = ResponseBatch()
        self.session.takeResponses(into: &batch)
        return batch.responses.map(\.status)
    }

    func goAways() -> [String] {
        self.clientEvents.compactMap { event in
            guard case .goAway(_, let code, let debug) = event else { return nil }
            return "\(code) \(String(decoding: debug, as: UTF8.self))"
        }
    }

    /// The limits of streams that the server has announced.
    func streamLimits() -> [UInt32] {
        self.clientEvents.compactMap { event in
            guard case .settings(let streams) = event else { return nil }
            return streams
        }
    }

    func advance(seconds: Int64) {
        // Second by second, since a late repeated task catches up only once.
        for _ in 0..<seconds {
            self.eventLoop.advanceTime(by: .seconds(1))
        }
    }

    func setWritable(_ isWritable: Bool) {
        self.channel.isWritable = isWritable
        self.channel.pipeline.fireChannelWritabilityChanged()
    }
}

/// Counts the reads that reach the socket's side of a pipeline, and notes how it is closed.
final class ReadCounter: ChannelOutboundHandler {
    typealias OutboundIn = ByteBuffer
    var count = 0
    var closes: [CloseMode] = []

    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        self.closes.append(mode)
        context.close(mode: mode, promise: promise)
    }

    func read(context: ChannelHandlerContext) {
        self.count += 1
        context.read()
    }
}
