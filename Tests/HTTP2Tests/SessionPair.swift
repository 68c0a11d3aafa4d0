import HTTP2

/// A client's and a server's session, each the other's wire.
final class SessionPair {
    let client: HTTP2Session
    let server: HTTP2Session
    var requests = RequestBatch()
    private var ignored = RequestBatch()

    init(server: HTTP2Limits = HTTP2Limits(), client: HTTP2Limits = HTTP2Limits()) throws {
        self.client = HTTP2Session(.client, limits: client)
        self.server = HTTP2Session(.server, limits: server)
        try self.run()
    }

    /// Carries bytes to and fro until both sides are silent.
    func run() throws {
        while true {
            var up: [UInt8] = []
            try self.client.drain(into: &up, upTo: 1 << 24, at: 1)
            try self.server.receive(up.span, at: 1, into: &self.requests)
            var down: [UInt8] = []
            try self.server.drain(into: &down, upTo: 1 << 24, at: 1)
            try self.client.receive(down.span, at: 1, into: &self.ignored)
            guard !up.isEmpty || !down.isEmpty else { return }
        }
    }

    func request(_ path: String, body: [UInt8] = [], fields extra: [(String, String)] = []) -> Int32? {
        var fields = ResponseFields()
        fields.append(name: ":scheme", value: "https" as StaticString)
        fields.append(name: ":authority", value: "localhost")
        fields.append(name: ":path", value: path)
        for (name, value) in extra {
            fields.append(name: name, value: value)
        }
        return self.client.request(method: "POST", fields: fields, body: body.span)
    }

    func respond(_ stream: Int32, _ status: Int, body: [UInt8] = []) -> Bool {
        self.server.respond(stream, status: status, fields: ResponseFields(), body: body.span)
    }

    func responses() -> [TextResponse] {
        var batch = ResponseBatch()
        self.client.takeResponses(into: &batch)
        return batch.responses.map { TextResponse($0, in: batch) }
    }

    func clientEvents() -> [HTTP2Event] {
        var events: [HTTP2Event] = []
        self.client.takeEvents(into: &events)
        return events
    }

    func serverEvents() -> [HTTP2Event] {
        var events: [HTTP2Event] = []
        self.server.takeEvents(into: &events)
        return events
    }
}

/// A response out of a batch, for comparison as a whole.
struct TextResponse: Hashable {
    var stream: Int32
    var status: Int
    var fields: [String] = []
    var body = ""
    var isTooLarge = false

    init(stream: Int32, status: Int, fields: [String] = [], body: String = "", isTooLarge: Bool = false) {
        self.stream = stream
        self.status = status
        self.fields = fields
        self.body = body
        self.isTooLarge = isTooLarge
    }

    init(_ response: ResponseBatch.Response, in batch: ResponseBatch) {
        self.stream = response.streamID
        self.status = response.status
        self.fields = response.fields.map { index in
            let field = batch.fields[Int(index)]
            return "\(batch.string(field.name)): \(batch.string(field.value))"
        }
        self.body = batch.string(response.body)
        self.isTooLarge = response.isTooLarge
    }
}
