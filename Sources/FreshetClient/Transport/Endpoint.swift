public import Foundation

/// A listener of a gateway: its address, the credential, and the transport of requests.
public struct Endpoint: Sendable {
    /// The listener's address without a path, as in `https://push.example.com:2197`.
    public var url: URL
    /// The source of each request's bearer token.
    public var token: TokenSource
    /// The transport of requests.
    public var transport: any FreshetTransport
    /// The rules for sending again if no answer comes, or if the gateway asks for it.
    public var retries: RetryPolicy
    /// The longest answer, and the longest event of a stream, in bytes. A longer one is ``FreshetError/unexpectedAnswer(_:)``.
    public var answerBytesMax: Int

    /// Names a listener.
    ///
    /// - Parameters:
    ///   - url: The listener's address without a path.
    ///   - token: The source of each request's bearer token.
    ///   - transport: The transport of requests.
    ///   - retries: The rules for sending again if no answer comes, or if the gateway asks for it.
    ///   - answerBytesMax: The longest answer, and the longest event of a stream, in bytes; 64 MiB by default.
    public init(
        _ url: URL,
        token: TokenSource,
        transport: any FreshetTransport = URLSessionTransport.shared,
        retries: RetryPolicy = RetryPolicy(),
        answerBytesMax: Int = 67_108_864
    ) {
        self.url = url
        self.token = token
        self.transport = transport
        self.retries = retries
        self.answerBytesMax = answerBytesMax
    }
}

/// A request to an endpoint.
struct EndpointRequest: Sendable {
    var method: String
    /// The segments of the path, not yet percent-encoded.
    var path: [String]
    var query: [(name: String, value: String)] = []
    var headers: [String: String] = [:]
    var body: Data?
    var contentType = "application/json"

    init(_ method: String, _ path: [String]) {
        self.method = method
        self.path = path
    }

    /// One whose body is a value as JSON.
    init(_ method: String, _ path: [String], json value: some Encodable) throws {
        self.init(method, path)
        self.body = try WireJSON.encode(value)
    }

    /// One whose body has a value as JSON in each line.
    init(_ method: String, _ path: [String], lines: [some Encodable]) throws {
        self.init(method, path)
        self.body = try Data(lines.map { try WireJSON.encode($0) }.joined(separator: Data("\n".utf8)))
        self.contentType = "application/x-ndjson"
    }

    /// With a parameter of the query, if it has a value.
    func with(_ name: String, _ value: String?) -> Self {
        guard let value else { return self }
        var request = self
        request.query.append((name, value))
        return request
    }
}

/// A complete answer that is not a refusal.
struct EndpointAnswer: Sendable {
    var status: Int
    var headers: [String: String]
    var body: Data

    func json<Value: Decodable>(_ type: Value.Type = Value.self) throws -> Value {
        try WireJSON.decode(type, from: self.body)
    }

    /// The values in the lines of a body.
    func lines<Value: Decodable>(_ type: Value.Type = Value.self) throws -> [Value] {
        try self.body.split(separator: UInt8(ascii: "\n")).map { try WireJSON.decode(type, from: $0) }
    }

    /// A header that the gateway always sends.
    func header(_ name: String) throws -> String {
        guard let value = self.headers[name] else {
            throw FreshetError.unexpectedAnswer("\(self.status) without the header \(name)")
        }
        return value
    }
}

extension Endpoint {
    /// The characters of a path segment, or of a query value, that need no encoding.
    private static let plain = CharacterSet(
        charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
    )

    private func address(_ request: EndpointRequest) throws -> URL {
        let base = self.url.absoluteString
        let escape = { (text: String) in text.addingPercentEncoding(withAllowedCharacters: Self.plain) ?? "" }
        let path = request.path.map { "/\(escape($0))" }.joined()
        let query = request.query.map { "\($0.name)=\(escape($0.value))" }.joined(separator: "&")
        let text = (base.hasSuffix("/") ? String(base.dropLast()) : base) + path + (query.isEmpty ? "" : "?\(query)")
        guard let url = URL(string: text), url.host != nil else {
            throw FreshetError.invalidArgument(
                "\(base) is not a gateway's address; give one as in https://localhost:8443"
            )
        }
        return url
    }

    /// Sends a request and returns the head of its answer, whatever its status.
    private func begin(_ request: EndpointRequest) async throws -> TransportAnswer {
        var headers = request.headers
        if let token = try await self.token.make() { headers["authorization"] = "bearer \(token)" }
        if request.body != nil { headers["content-type"] = request.contentType }
        let url = try self.address(request)
        do {
            return try await self.transport.answer(
                to: TransportRequest(method: request.method, url: url, headers: headers, body: request.body)
            )
        } catch {
            throw Self.failure(error)
        }
    }

    /// The error for a failed transport. The end of the task is not a failure of it.
    static func failure(_ error: any Error) -> any Error {
        if Task.isCancelled { return CancellationError() }
        return error as? FreshetError ?? FreshetError.unreachable("\(error)")
    }

    private func collect(_ answer: TransportAnswer) async throws -> Data {
        var body = Data()
        do {
            for try await part in answer.body {
                guard part.count <= self.answerBytesMax - body.count else {
                    throw FreshetError.unexpectedAnswer("more than \(self.answerBytesMax) bytes")
                }
                body.append(part)
            }
            // A stream ends early when its reader's task ends.
            try Task.checkCancellation()
        } catch {
            throw Self.failure(error)
        }
        return body
    }

    /// Sends a request once, and collects its answer.
    ///
    /// - Throws: ``FreshetError``, an error of the token source, or `CancellationError`.
    func send(_ request: EndpointRequest) async throws -> EndpointAnswer {
        let answer = try await self.begin(request)
        let body = try await self.collect(answer)
        guard 200..<300 ~= answer.status else { throw FreshetError.refused(Refusal(answer, body)) }
        return EndpointAnswer(status: answer.status, headers: answer.headers, body: body)
    }

    /// Sends a request until it has a final answer, as ``retries`` says.
    ///
    /// - Returns: The answer, and how often the request was sent.
    func sendRepeatedly(_ request: EndpointRequest) async throws -> (answer: EndpointAnswer, attempts: Int) {
        var attempts = 0
        while true {
            attempts += 1
            do {
                return (try await self.send(request), attempts)
            } catch let error as FreshetError {
                guard let wait = self.retries.wait(after: attempts, error) else { throw error }
                try await Task.sleep(for: wait)
            }
        }
    }

    /// Opens an event stream.
    ///
    /// - Returns: The parts of its body.
    func open(_ request: EndpointRequest) async throws -> AsyncThrowingStream<Data, any Error> {
        let answer = try await self.begin(request)
        guard 200..<300 ~= answer.status else {
            throw FreshetError.refused(Refusal(answer, try await self.collect(answer)))
        }
        return answer.body
    }
}
