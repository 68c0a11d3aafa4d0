import HTTP2

/// A server session under test, and the bytes that go in and come out.
final class ServerPeer {
    let session: HTTP2Session
    var batch = RequestBatch()
    var second: UInt32 = 1000

    init(_ limits: HTTP2Limits = HTTP2Limits(), greeted: Bool = true) throws {
        self.session = HTTP2Session(.server, limits: limits)
        guard greeted else { return }
        try self.receive(Wire.preface + Wire.settings() + Wire.settingsAcknowledgement)
        _ = try self.sent()
    }

    func receive(_ bytes: [UInt8]) throws {
        try self.session.receive(bytes.span, at: self.second, into: &self.batch)
    }

    /// The frames that wait to be sent.
    func sent() throws -> [SentFrame] {
        SentFrame.all(try self.sentBytes())
    }

    func sentBytes() throws -> [UInt8] {
        var output: [UInt8] = []
        try self.session.drain(into: &output, upTo: 1 << 24, at: self.second)
        return output
    }

    func events() -> [HTTP2Event] {
        var events: [HTTP2Event] = []
        self.session.takeEvents(into: &events)
        return events
    }

    /// The requests since the last call, as text.
    func requests() -> [TextRequest] {
        defer { self.batch.removeAll() }
        return self.batch.requests.map { TextRequest($0, in: self.batch) }
    }

    func respond(_ stream: Int32, _ status: Int, body: String = "") -> Bool {
        var fields = ResponseFields()
        fields.append(name: "apns-id", value: "e77a3d12-bc9f-f410-a127-43f212597a9c", indexed: false)
        return self.session.respond(stream, status: status, fields: fields, body: Array(body.utf8).span)
    }
}

/// A request out of a batch, for comparison as a whole.
struct TextRequest: Hashable {
    var stream: Int32
    var flags: RequestBatch.Flags = []
    var method = "POST"
    var path = "/3/device/aabb"
    var authority = "localhost"
    var fields: [String] = []
    var body = ""

    init(
        stream: Int32,
        flags: RequestBatch.Flags = [],
        method: String = "POST",
        path: String = "/3/device/aabb",
        authority: String = "localhost",
        fields: [String] = [],
        body: String = ""
    ) {
        self.stream = stream
        self.flags = flags
        self.method = method
        self.path = path
        self.authority = authority
        self.fields = fields
        self.body = body
    }

    init(_ request: RequestBatch.Request, in batch: RequestBatch) {
        self.stream = request.streamID
        self.flags = request.flags
        self.method = batch.string(request.method)
        self.path = batch.string(request.path)
        self.authority = batch.string(request.authority)
        self.fields = request.fields.map { index in
            let field = batch.fields[Int(index)]
            return "\(batch.string(field.name)): \(batch.string(field.value))"
        }
        self.body = batch.string(request.body)
    }
}
