import HTTP2
import NIOCore
import Synchronization
import TLS

/// One connection of a ``ScriptedServer``.
final class ScriptedConnection: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let tls: TLSSession
    private let session: HTTP2Session
    private let shared: ScriptedServer.SharedState
    private var context: ChannelHandlerContext?
    private var number = 0
    private var place = 0
    private var openStreams = 0
    private var batch = RequestBatch()
    private var isSilent = false
    /// Frames of the script's own, behind those of the session.
    private var raw: [UInt8] = []

    init(_ tls: TLSSession, _ shared: ScriptedServer.SharedState) {
        var limits = HTTP2Limits()
        limits.concurrentStreamsMax = shared.streamsMax
        // Where a test waits long for its turn, its client sends PINGs all the while.
        limits.controlFrameBurst = 1_000_000
        self.tls = tls
        self.session = HTTP2Session(.server, limits: limits)
        self.shared = shared
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
    }

    func channelActive(context: ChannelHandlerContext) {
        let bound = NIOLoopBound(self, eventLoop: context.eventLoop)
        self.number = self.shared.state.withLock { state in
            state.connections += 1
            let number = state.connections
            state.live[number] = { steps in
                bound.eventLoop.execute { bound.value.perform(steps, nil) }
            }
            state.openConnectionsMax = max(state.openConnectionsMax, state.live.count)
            return number
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        self.context = nil
        self.shared.state.withLock { $0.live[self.number] = nil }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !self.isSilent else { return }
        do {
            let ciphertext = self.unwrapInboundIn(data)
            try self.tls.receive(ciphertext.readableBytesUInt8Span)
            while true {
                var progress = TLSProgress.needsMoreCiphertext
                let piece = try [UInt8](capacity: 16_384) { output in
                    progress = try self.tls.readPlaintext(into: &output)
                }
                guard case .bytes = progress else { break }
                try self.session.receive(piece.span, at: 0, into: &self.batch)
                self.answerBatch()
            }
            self.flush()
        } catch {
            // A client that this server does not understand is cut off; the test sees what it was about.
            context.close(promise: nil)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }

    private func answerBatch() {
        let batch = self.batch
        self.batch.removeAll()
        for request in batch.requests {
            self.place += 1
            self.openStreams += 1
            var fields: [String: String] = [:]
            for index in request.fields {
                let field = batch.fields[Int(index)]
                fields[batch.string(field.name)] = batch.string(field.value)
            }
            let seen = self.shared.state.withLock { state in
                let seen = ScriptedServer.Request(
                    number: state.requests.count + 1,
                    connection: self.number,
                    place: self.place,
                    streamID: request.streamID,
                    method: batch.string(request.method),
                    path: batch.string(request.path),
                    fields: fields,
                    body: Array(batch.bytes[request.body.indices])
                )
                state.requests.append(seen)
                state.openStreamsMax = max(state.openStreamsMax, self.openStreams)
                return seen
            }
            self.perform(self.shared.script(seen), request.streamID)
        }
    }

    private func perform(_ steps: [ScriptedServer.Step], _ streamID: Int32?) {
        for step in steps where !self.isSilent { self.perform(step, streamID) }
        self.flush()
    }

    private func perform(_ step: ScriptedServer.Step, _ streamID: Int32?) {
        switch step {
        case .answer(let status, let headers, let body):
            guard let streamID else { return }
            var fields = ResponseFields()
            for (name, value) in headers.sorted(by: { $0.key < $1.key }) {
                fields.append(name: name, value: value, indexed: false)
            }
            self.openStreams -= 1
            _ = self.session.respond(streamID, status: status, fields: fields, body: Array(body.utf8).span)
        case .reset(let code):
            guard let streamID else { return }
            self.openStreams -= 1
            self.session.reset(streamID, code)
        case .streamsMax(let limit):
            self.session.setMaxConcurrentStreams(limit)
        case .goAway(let last, let code, let debug):
            // The session's own frames go first; its GOAWAY cannot name another last stream.
            self.flush()
            let number = UInt32(bitPattern: last ?? streamID ?? 0)
            self.raw += Self.frame(7, Self.bytes(number) + Self.bytes(code.rawValue) + Array(debug.utf8))
        case .drain:
            self.session.beginDrain()
        case .hangUp:
            self.flush()
            self.context?.close(promise: nil)
        case .fallSilent:
            self.flush()
            self.isSilent = true
        case .hold:
            guard let streamID, let context else { return }
            let bound = NIOLoopBound(self, eventLoop: context.eventLoop)
            self.shared.state.withLock { state in
                state.held.append { step in
                    bound.eventLoop.execute { bound.value.perform([step], streamID) }
                }
            }
        }
    }

    private func flush() {
        guard let context, !self.isSilent else { return }
        do {
            if self.tls.state == .ready {
                var output: [UInt8] = []
                try self.session.drain(into: &output, upTo: 1 << 24, at: 0)
                output += self.raw
                self.raw = []
                if !output.isEmpty { try self.tls.write(output.span) }
            }
            let ciphertext = self.tls.drainAll()
            if !ciphertext.isEmpty {
                context.writeAndFlush(self.wrapOutboundOut(ByteBuffer(bytes: ciphertext)), promise: nil)
            }
        } catch {
            context.close(promise: nil)
        }
    }

    private static func frame(_ type: UInt8, _ payload: [UInt8]) -> [UInt8] {
        Array(Self.bytes(UInt32(payload.count)).dropFirst()) + [type, 0, 0, 0, 0, 0] + payload
    }

    private static func bytes(_ number: UInt32) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: number >> (24 - 8 * $0)) }
    }
}
