import APNSWire
import ArgumentParser
import HTTPTransport
import NIOCore
import NIOPosix
import TLS
import WidgetModel

extension OperatorOptions {
    func client() throws -> OperatorClient {
        let tls = try TLSContext.client(
            TLSClientConfiguration(trust: self.ca.map { .roots(.file($0)) } ?? .system, identity: nil, alpn: ["h2"])
        )
        let token = try self.token()
        var headers: HTTPFields = ["accept": "application/json"]
        if let token { headers.append("authorization", "bearer \(token.text)") }
        let (host, port) = try self.place()
        return OperatorClient(
            place: HTTPOrigin(host: host, port: port),
            serverName: self.serverName,
            tls: tls,
            headers: headers,
            advice: try self.advice(token)
        )
    }

    /// Asks a gateway once, and closes the connection. Why there is no answer goes to standard error.
    ///
    /// - Throws: Exit code 1 if the gateway does not answer, 2 if it refused.
    func ask<Answer>(
        _ question: (OperatorClient) async throws(OperatorClient.Fault) -> Answer
    ) async throws -> Answer {
        let client = try self.client()
        let answer: Result<Answer, OperatorClient.Fault>
        do throws(OperatorClient.Fault) {
            answer = .success(try await question(client))
        } catch {
            answer = .failure(error)
        }
        await client.close()
        switch answer {
        case .success(let answer): return answer
        case .failure(let fault):
            Output.standardError(fault.sentence)
            throw ExitCode(fault.isAway ? 1 : 2)
        }
    }
}

/// Questions to a gateway's ops listener, over one connection that is made anew when it has gone.
final class OperatorClient {
    /// Why there is no answer.
    struct Fault: Error {
        let sentence: String
        /// Whether asking again could help.
        let isAway: Bool
    }

    private let place: HTTPOrigin
    private let serverName: String?
    private let tls: TLSContext
    private let headers: HTTPFields
    /// What to do about a token that is missing or wrong.
    private let advice: String
    private var connection: HTTP2ClientConnection?

    init(place: HTTPOrigin, serverName: String?, tls: TLSContext, headers: HTTPFields, advice: String) {
        self.place = place
        self.serverName = serverName
        self.tls = tls
        self.headers = headers
        self.advice = advice
    }

    var address: String { "\(self.place.host):\(self.place.port)" }

    /// The JSON that a route answers.
    func get(_ path: String) async throws(Fault) -> JSONValue { try await self.ask("GET", path) }

    /// The JSON that a route answers to an order.
    func post(_ path: String, _ body: JSONValue) async throws(Fault) -> JSONValue {
        try await self.ask("POST", path, body.jsonText)
    }

    private func ask(_ method: String, _ path: String, _ body: [UInt8] = []) async throws(Fault) -> JSONValue {
        let response: HTTPClientResponse
        do {
            var request = HTTPClientRequest(method: method, path: path, headers: self.headers, timeout: .seconds(10))
            if !body.isEmpty {
                request.headers.append("content-type", "application/json")
                request.body = body
            }
            response = try await self.open().send(request)
        } catch {
            await self.close()
            throw Fault(
                sentence: "The gateway at \(self.address) does not answer: \(ConnectionFailure.sentence(error)).",
                isAway: true
            )
        }
        let value = try? JSONReader().parse(response.body)
        guard response.status == 200, let value else {
            var detail = "status \(response.status)"
            if case .string(let sentence)? = value?["detail"] { detail += ": \(sentence)" }
            if response.status == 401 { detail += "; \(self.advice)" }
            throw Fault(sentence: "The gateway refused \(path), \(detail).", isAway: response.status >= 500)
        }
        return value
    }

    func close() async {
        await self.connection?.close()
        self.connection = nil
    }

    private func open() async throws -> HTTP2ClientConnection {
        if let connection = self.connection, await connection.isUsable() { return connection }
        await self.close()
        let connection = try await HTTP2ClientConnection.connect(
            host: self.place.host,
            port: self.place.port,
            tls: self.tls,
            serverName: self.serverName,
            on: MultiThreadedEventLoopGroup.singleton
        )
        self.connection = connection
        return connection
    }
}
