package import NIOCore
import NIOHTTP1
import NIOPosix

/// Requests over plain HTTP/1.1, for services beside the gateway on the same machine: one connection each, which costs
/// next to nothing there.
package struct PlainHTTPClient: Sendable {
    private let group: any EventLoopGroup
    private let responseBytesMax: Int

    /// - Parameter responseBytesMax: The longest body of a response. Default 16 MiB.
    package init(on group: any EventLoopGroup, responseBytesMax: Int = 16_777_216) {
        self.group = group
        self.responseBytesMax = responseBytesMax
    }

    /// Sends a request and waits for the whole response. Redirects are not followed.
    ///
    /// - Throws: ``HTTPTransportError``.
    package func send(_ request: HTTPClientRequest, host: String, port: Int) async throws -> HTTPClientResponse {
        let loop = self.group.next()
        let peer = "\(host):\(port)"
        let promise = loop.makePromise(of: HTTPClientResponse.self)
        let bytesMax = self.responseBytesMax
        let deadline = loop.scheduleTask(in: request.timeout) {
            promise.fail(HTTPTransportError(.timeout, "\(peer) did not answer in time"))
        }
        let connecting = ClientBootstrap(group: loop)
            .connectTimeout(request.timeout)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHTTPClientHandlers()
                    try channel.pipeline.syncOperations.addHandler(
                        PlainExchange(request, peer: peer, responseBytesMax: bytesMax, promise)
                    )
                }
            }
            .connect(host: host, port: port)
        connecting.whenFailure { error in
            let sentence = "no connection to \(peer): \(ConnectionFailure.sentence(error))"
            promise.fail(HTTPTransportError(.connect, sentence, isUnprocessed: true))
        }
        promise.futureResult.whenComplete { _ in
            deadline.cancel()
            connecting.whenSuccess { $0.close(promise: nil) }
        }
        return try await promise.futureResult.get()
    }
}

/// One request and its response, at the end of a channel that has nothing else to do.
private final class PlainExchange: ChannelInboundHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias OutboundOut = HTTPClientRequestPart

    private let request: HTTPClientRequest
    private let peer: String
    private let responseBytesMax: Int
    private let promise: EventLoopPromise<HTTPClientResponse>
    private var response = HTTPClientResponse(status: 0, headers: [:], body: [])

    init(
        _ request: HTTPClientRequest,
        peer: String,
        responseBytesMax: Int,
        _ promise: EventLoopPromise<HTTPClientResponse>
    ) {
        self.request = request
        self.peer = peer
        self.responseBytesMax = responseBytesMax
        self.promise = promise
    }

    func channelActive(context: ChannelHandlerContext) {
        var head = HTTPRequestHead(
            version: .http1_1,
            method: HTTPMethod(rawValue: self.request.method),
            uri: self.request.path
        )
        head.headers.add(name: "host", value: self.request.authority ?? self.peer)
        head.headers.add(name: "connection", value: "close")
        head.headers.add(name: "content-length", value: String(self.request.body.count))
        for field in self.request.headers.all { head.headers.add(name: field.name, value: field.value) }
        context.write(self.wrapOutboundOut(.head(head)), promise: nil)
        if !self.request.body.isEmpty {
            let body = context.channel.allocator.buffer(bytes: self.request.body)
            context.write(self.wrapOutboundOut(.body(.byteBuffer(body))), promise: nil)
        }
        context.writeAndFlush(self.wrapOutboundOut(.end(nil)), promise: nil)
        context.fireChannelActive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch self.unwrapInboundIn(data) {
        case .head(let head):
            self.response.status = Int(head.status.code)
            for field in head.headers { self.response.headers.append(field.name.lowercased(), field.value) }
        case .body(let part):
            guard self.response.body.count + part.readableBytes <= self.responseBytesMax else {
                let text = "\(self.peer) answers with more than \(self.responseBytesMax) bytes"
                return self.promise.fail(HTTPTransportError(.responseTooLarge, text))
            }
            self.response.body.append(contentsOf: part.readableBytesView)
        case .end:
            self.promise.succeed(self.response)
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        // Nothing if the response has come.
        self.promise.fail(HTTPTransportError(.connectionClosed, "\(self.peer) closed the connection without an answer"))
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        let sentence = "the connection to \(self.peer) failed: \(ConnectionFailure.sentence(error))"
        self.promise.fail(HTTPTransportError(.connectionClosed, sentence))
        context.close(promise: nil)
    }
}
