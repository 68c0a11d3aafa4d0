import APNSWire
import ArgumentParser
import Foundation
import HTTPTransport
import NIOCore
import NIOPosix
import TLS
import WidgetModel

/// Where the operators' listener is, and how one proves to be an operator.
struct OperatorOptions: ParsableArguments {
    @Option(help: "The gateway's host name or address.") var host = "127.0.0.1"
    @Option(help: "The port of its ops listener.") var port = 9443
    @Option(help: "The CA that signed the gateway's certificate, a PEM file; the system's roots if not given.")
    var ca: String?
    @Option(help: "The name in the gateway's certificate, if it is not the host.") var serverName: String?
    @Option(help: "A file with the operator token on its first line.") var tokenFile: String?

    func client() throws -> OperatorClient {
        let tls = try TLSContext.client(
            TLSClientConfiguration(trust: self.ca.map { .roots(.file($0)) } ?? .system, identity: nil, alpn: ["h2"])
        )
        var headers: HTTPFields = ["accept": "application/json"]
        if let file = self.tokenFile {
            guard let text = try? String(contentsOfFile: file, encoding: .utf8) else {
                throw ValidationError("--token-file \(file) cannot be read")
            }
            let lines = text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
            guard let token = lines.first(where: { !$0.isEmpty && !$0.hasPrefix("#") }) else {
                throw ValidationError("--token-file \(file) has no token")
            }
            headers.append("authorization", "bearer \(token)")
        }
        return OperatorClient(options: self, tls: tls, headers: headers)
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

    private let options: OperatorOptions
    private let tls: TLSContext
    private let headers: HTTPFields
    private var connection: HTTP2ClientConnection?

    init(options: OperatorOptions, tls: TLSContext, headers: HTTPFields) {
        self.options = options
        self.tls = tls
        self.headers = headers
    }

    var address: String { "\(self.options.host):\(self.options.port)" }

    /// The JSON that a route answers.
    func get(_ path: String) async throws(Fault) -> JSONValue {
        let response: HTTPClientResponse
        do {
            let request = HTTPClientRequest(method: "GET", path: path, headers: self.headers, timeout: .seconds(10))
            response = try await self.open().send(request)
        } catch {
            await self.close()
            throw Fault(sentence: "The gateway at \(self.address) does not answer: \(error).", isAway: true)
        }
        let value = try? JSONReader().parse(response.body)
        guard response.status == 200, let value else {
            var detail = "status \(response.status)"
            if case .string(let sentence)? = value?["detail"] { detail += ": \(sentence)" }
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
            host: self.options.host,
            port: self.options.port,
            tls: self.tls,
            serverName: self.options.serverName,
            on: MultiThreadedEventLoopGroup.singleton
        )
        self.connection = connection
        return connection
    }
}
