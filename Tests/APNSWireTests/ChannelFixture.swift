@testable import APNSWire
import WidgetModel

/// A request to APNs' broadcast or channel-management service as header lines, changed at will and then judged.
struct ChannelFixture {
    static let broadcasts = "/4/broadcasts/apps/com.example.scores"
    static let channels = "/1/apps/com.example.scores/channels"
    static let allChannels = "/1/apps/com.example.scores/all-channels"
    static let id = "dHN0LXNyY2gtY2hubA=="

    var lines: [(name: String, value: String)]
    var bodyBytes = 32
    var topics = PushFixture.topics
    var hasCertificate = false

    init(_ method: String, _ path: String, _ lines: [(String, String)] = []) {
        self.lines = [(":method", method), (":path", path), ("authorization", "bearer a.b.c")] + lines
    }

    /// A broadcast in which everything is right and every optional header present.
    static var broadcast: ChannelFixture {
        ChannelFixture(
            "POST",
            Self.broadcasts,
            [
                ("apns-channel-id", Self.id), ("apns-push-type", "liveactivity"), ("apns-priority", "10"),
                ("apns-expiration", "0"), ("apns-request-id", "123e4567-e89b-12d3-a456-4266554400a0"),
            ]
        )
    }

    func with(_ name: String, _ value: String?) -> ChannelFixture {
        var copy = self
        copy.lines.removeAll { $0.name == name }
        if let value { copy.lines.append((name, value)) }
        return copy
    }

    /// The validation's result, in the order in which the gateway asks.
    func validate() throws(Rejection) -> ChannelRequest {
        var bytes = Array("another request's bytes".utf8)
        var places: [ByteRange] = []
        for line in self.lines {
            places.append(ByteRange(bytes.count..<(bytes.count + line.value.utf8.count)))
            bytes += Array(line.value.utf8)
        }
        var head = PushRequestHead()
        var own = ChannelRequestHead()
        for (line, place) in zip(self.lines, places) {
            let name = Array(line.name.utf8)
            head.receive(name: name.span, value: place, in: bytes.span)
            own.receive(name: name.span, value: place)
        }
        var named: ChannelRoute?
        if case .channels(let route) = PushRoute(path: head.path ?? .empty, in: bytes.span) { named = route }
        let route = try ChannelValidation.beforeCredentials(named, head, own, hasCertificate: self.hasCertificate)
        let id = try ChannelValidation.requestID(head, own, in: bytes.span)
        return try ChannelValidation.request(
            head,
            own,
            in: bytes.span,
            route: route,
            app: try ChannelValidation.app(route, in: bytes.span, topics: self.topics),
            id: id,
            bodyBytes: self.bodyBytes
        )
    }

    var rejection: Rejection? {
        do throws(Rejection) {
            _ = try self.validate()
            return nil
        } catch {
            return error
        }
    }
}
