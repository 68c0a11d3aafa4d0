public import Foundation

/// The transport of requests and answers.
///
/// ``URLSessionTransport`` is the default. Make one of your own for another HTTP client, for a client certificate, for
/// an authority that the system does not trust, or for tests.
public protocol FreshetTransport: Sendable {
    /// Sends a request, and returns as soon as the head of the answer has arrived.
    ///
    /// Every status is an answer. The transport follows no redirects, because a credential is for one gateway. The
    /// request ends with its task, and when no reference to the answer's body remains. A body may have no end, with up
    /// to 15 seconds between two parts.
    ///
    /// - Throws: Any error if no head comes.
    func answer(to request: TransportRequest) async throws -> TransportAnswer
}

/// A request as a transport sends it.
public struct TransportRequest: Sendable {
    /// `GET`, `PUT`, `POST` or `DELETE`.
    public var method: String
    /// The whole address, percent-encoded.
    public var url: URL
    /// Header fields by name; names are in lower case.
    public var headers: [String: String]
    /// The body; nil for none.
    public var body: Data?

    /// Makes a request.
    public init(method: String, url: URL, headers: [String: String], body: Data?) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
    }
}

/// The head of an answer, and its body as it comes.
public struct TransportAnswer: Sendable {
    /// The HTTP status, 200 and the like.
    public var status: Int
    /// Header fields by name; names are in lower case.
    public var headers: [String: String]
    /// The parts of the body. It throws an error if the body does not arrive in full.
    public var body: AsyncThrowingStream<Data, any Error>

    /// Makes an answer; `headers` may be in any case.
    public init(status: Int, headers: [String: String], body: AsyncThrowingStream<Data, any Error>) {
        self.status = status
        self.headers = Dictionary(headers.map { ($0.key.lowercased(), $0.value) }, uniquingKeysWith: { "\($0), \($1)" })
        self.body = body
    }
}
