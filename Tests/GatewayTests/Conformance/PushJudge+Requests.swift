import APNSWire
import HTTP2
import HTTPTransport
import Ingest
import NIOPosix
import WidgetModel

extension PushJudge {
    /// Judges a request that came alone, as the push listener does: its credentials, then the rest.
    mutating func judge(
        _ request: PushRequestBytes,
        isTooLarge: Bool = false,
        on state: PushConnection,
        at now: Instant
    ) throws(RejectionAnswer) -> JudgedPush {
        let body = HTTP2.ByteRange(offset: UInt32(request.body.lowerBound), length: UInt32(request.body.count))
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let push = PushContext(
            RequestBatch.Request(streamID: 1, flags: isTooLarge ? .bodyTooLarge : [], body: body),
            head: request.head,
            in: request.bytes.span,
            from: HTTPConnection(id: 1, remoteAddress: "127.0.0.1:1", eventLoop: loop, version: .http2),
            state,
            at: now
        )
        let authorized = try self.authorize(push)
        return try self.judge(authorized, push)
    }
}
