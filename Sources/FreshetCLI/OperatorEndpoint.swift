import ArgumentParser
import Foundation
import HTTPTransport

/// A gateway's listener for operators, as a URL names it.
struct OperatorEndpoint {
    private let options: ServerOptions
    private let token: String?

    init(_ server: String, ca: String?, token: String?) throws {
        guard let url = URL(string: server), let host = url.host() else {
            throw ValidationError("--server takes a URL, as in https://127.0.0.1:9443")
        }
        let place = ["--host", host, "--port", "\(url.port ?? 9443)"]
        self.options = try ServerOptions.parse(place + (ca.map { ["--ca", $0] } ?? []))
        self.token = token
    }

    /// Sends one request without a body.
    func send(_ method: String, _ path: String, accept: String) async throws -> HTTPClientResponse {
        var headers = HTTPFields()
        headers.append("accept", accept)
        if let token { headers.append("authorization", "bearer \(token)") }
        let request = HTTPClientRequest(method: method, path: path, headers: headers, body: [])
        return try await self.options.withConnection { try await $0.send(request) }
    }
}
