import APNSWire
import ArgumentParser
import Foundation
import HTTPTransport
import NIOCore
import TLS
import WidgetModel

extension OperatorOptions {
    func client() throws -> OperatorClient {
        let access = try self.access()
        return OperatorClient(access, try access.tlsContext(), try access.operatorToken())
    }

    /// Asks a gateway, and closes the connection. Why there is no answer goes to standard error.
    ///
    /// - Throws: Exit code 1 if the gateway does not answer, 2 if it refused; and the other errors of `question`.
    func ask<Answer>(_ question: (OperatorClient) async throws -> Answer) async throws -> Answer {
        let client = try self.client()
        do {
            let answer = try await question(client)
            await client.close()
            return answer
        } catch {
            await client.close()
            guard let fault = error as? OperatorClient.RequestError else { throw error }
            Output.standardError(fault.sentence)
            throw ExitCode(fault.isAway ? 1 : 2)
        }
    }
}

/// Questions to a gateway's ops listener, over one connection that is made anew when it has gone.
final class OperatorClient {
    /// Why there is no answer.
    struct RequestError: Error {
        /// The fault; on a second line what to do about it, where that is known.
        let sentence: String
        /// Whether asking again could help.
        let isAway: Bool
        /// Of an answer that is a refusal.
        var status: Int?
        /// Its stable code.
        var code: String?
    }

    /// A route's answer.
    struct Answer {
        let json: JSONValue
        /// As it came.
        let text: String
        let status: Int
        /// Its entity tag; nil if it has none.
        let tag: String?
    }

    let access: GatewayAccess
    private let tls: TLSContext
    private let token: GatewayAccess.OperatorToken?
    private var connection: HTTP2ClientConnection?

    init(_ access: GatewayAccess, _ tls: TLSContext, _ token: GatewayAccess.OperatorToken?) {
        self.access = access
        self.tls = tls
        self.token = token
    }

    var address: String { "\(self.access.host):\(self.access.port)" }

    /// The JSON that a route answers.
    func get(_ path: String) async throws(RequestError) -> JSONValue { try await self.ask("GET", path).json }

    /// The answer of a route, JSON.
    ///
    /// - Parameters:
    ///   - headers: Further headers of the request.
    ///   - good: Statuses that are no refusal.
    func ask(
        _ method: String,
        _ path: String,
        _ body: JSONValue? = nil,
        headers: HTTPFields = [:],
        good: Set<Int> = [200]
    ) async throws(RequestError) -> Answer {
        let bytes = body?.jsonText ?? []
        var headers = headers
        headers.append("accept", "application/json")
        let response = try await self.send(method, path, bytes, headers, good: good)
        let limits = JSONLimits(bytesMax: GatewayAccess.answerBytesMax)
        guard let json = try? JSONReader().parse(response.body, limits: limits) else {
            throw RequestError(
                sentence:
                    "the answer of \(self.access.url) to \(path) is not JSON; check that this is a gateway's listener for operators",
                isAway: false
            )
        }
        return Answer(json: json, text: response.text, status: response.status, tag: response.headers["etag"])
    }

    /// A whole answer of any type.
    func send(
        _ method: String,
        _ path: String,
        _ body: [UInt8] = [],
        accept: String,
        good: Set<Int> = [200]
    ) async throws(RequestError) -> HTTPClientResponse {
        try await self.send(method, path, body, ["accept": accept], good: good)
    }

    private func send(
        _ method: String,
        _ path: String,
        _ body: [UInt8],
        _ headers: HTTPFields,
        good: Set<Int>
    ) async throws(RequestError) -> HTTPClientResponse {
        var headers = headers
        if let token { headers.append("authorization", "bearer \(token.text)") }
        if !body.isEmpty { headers.append("content-type", "application/json") }
        let response: HTTPClientResponse
        do {
            let request = HTTPClientRequest(
                method: method,
                path: path,
                headers: headers,
                body: body,
                timeout: Self.timeout(method)
            )
            response = try await self.open().send(request)
        } catch {
            await self.close()
            throw RequestError(sentence: self.access.failure(error), isAway: true)
        }
        guard good.contains(response.status) else { throw self.refusal(response) }
        return response
    }

    /// Questions are answered at once; a change may be as much work as two snapshots of every partition.
    private static func timeout(_ method: String) -> TimeAmount { method == "GET" ? .seconds(30) : .minutes(10) }

    // MARK: Refusals

    private func refusal(_ response: HTTPClientResponse) -> RequestError {
        let problem = try? JSONReader().parse(response.body)
        let code = problem?["code"]?.text
        var sentence = response.refusal(response.status >= 500 ? "the gateway could not do it" : "the gateway refused")
        if let remedy = self.remedy(response.status, code) { sentence += "\n\(remedy)" }
        return RequestError(sentence: sentence, isAway: response.status >= 500, status: response.status, code: code)
    }

    /// The remedy, where the answer itself cannot know it.
    private func remedy(_ status: Int, _ code: String?) -> String? {
        switch (status, code) {
        case (401, _): self.access.advice(self.token)
        case (403, "forbidden"):
            "\(self.access.advice(self.token)); freshet status shows its scopes, and the file of ops.tokensFile sets them"
        case (421, _): "use a name in the listener's certificate, or add \(self.access.host) to ops.names"
        case (_, nil): "check that \(self.access.url) is the listener for operators"
        default: nil
        }
    }

    func close() async {
        await self.connection?.close()
        self.connection = nil
    }

    private func open() async throws -> HTTP2ClientConnection {
        if let connection = self.connection, await connection.isUsable() { return connection }
        await self.close()
        let connection = try await self.access.connect(self.tls)
        self.connection = connection
        return connection
    }
}

extension String {
    /// As a part of a path or query.
    var percentEncoded: String {
        self.addingPercentEncoding(withAllowedCharacters: Self.unreserved) ?? self
    }

    /// RFC 3986, 2.3, in ASCII alone.
    private static var unreserved: CharacterSet {
        CharacterSet(charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
    }
}
