import Foundation
import Testing

/// Each client gets each of APNs' answers: only the host name, the port, the CA and the push type differ from what it
/// would send to Apple.
@Suite struct ClientMatrixTests {
    enum Client: String, CaseIterable {
        case aioapns, httpx, kalyke, curl
    }

    /// The credential that a client shows.
    enum Credential: String, CaseIterable {
        /// A provider token of the team's key.
        case providerToken
        /// A provider token that names a key which the gateway does not know.
        case unknownKey
        /// The certificate that the configuration names, and no provider token.
        case certificate
    }

    /// One answer, as a client tells it.
    struct Answer: Equatable, Decodable {
        let status: Int
        var reason: String?
        var timestamp: Int64?
        /// Whether the `apns-id` came back as it was sent.
        var echoed = true
    }

    private static let known = TestGateway.token(1)
    private static let unknown = TestGateway.token(2)
    private static let removed = TestGateway.token(3)

    @Test(arguments: TestLog.present)
    func `each client gets 200, 400, 403 and 410, by token and by certificate`(log: TestLog) async throws {
        let gateway = try await self.start(on: log)
        let bearer = try await gateway.providerToken()
        _ = try await gateway.register(1, teams: ["seahawks"], bearer: bearer)
        let removedAt = try await self.remove(3, from: gateway, bearer: bearer)

        let answers = [
            Answer(status: 200),
            Answer(status: 400, reason: "BadDeviceToken"),
            Answer(status: 410, reason: "Unregistered", timestamp: removedAt),
        ]
        let forbidden = Answer(status: 403, reason: "InvalidProviderToken")
        let expected: [(Credential, [Answer])] = [
            (.providerToken, answers),
            (.unknownKey, [forbidden, forbidden, forbidden]),
            (.certificate, answers),
        ]
        for client in Client.allCases {
            for (credential, wanted) in expected {
                let told = try await self.push(with: client, credential, to: gateway)
                #expect(told == wanted, "\(client) with \(credential)")
            }
        }
        // Both 200s of each are durable, and no other push is.
        let accepted = 2 * Client.allCases.count
        try await gateway.checkBooks(accepted: accepted, matched: 2 * accepted)
        await gateway.stop()
    }

    /// A gateway that believes the client certificate, which stands in one file with its key.
    private func start(on log: TestLog) async throws -> TestGateway {
        let folder = try TestGateway.makeFolder()
        try await TestGateway.makeCertificates(in: folder)
        let parts = try ["client.pem", "client.key"].map {
            try String(contentsOfFile: "\(folder)/certs/\($0)", encoding: .utf8)
        }
        try parts.joined().write(toFile: "\(folder)/both.pem", atomically: true, encoding: .utf8)
        let fingerprint = try await Command.run(
            "openssl",
            ["x509", "-in", "\(folder)/certs/client.pem", "-noout", "-fingerprint", "-sha256"]
        )
        let hex = try #require(fingerprint.output.split(separator: "=").last).filter(\.isHexDigit)
        return try await TestGateway.start(
            on: log,
            in: folder,
            partitions: 4,
            appSettings: "    allowedClientCertificates:\n      - {fingerprint: \"\(hex)\"}"
        )
    }

    /// Registers a host and removes it; returns what a 410 has to say: when that was, in milliseconds.
    private func remove(_ number: Int, from gateway: TestGateway, bearer: String) async throws -> Int64 {
        _ = try await gateway.register(number, teams: ["rams"], bearer: bearer)
        let before = Int64(Date().timeIntervalSince1970 * 1000)
        let url = "\(gateway.hostURL)/v1/hosts/\(TestGateway.token(number))/widgets"
        let removal = try await gateway.curl("DELETE", url, bearer: bearer)
        try #require(removal.status == 200 || removal.status == 204, "\(removal.body)")
        let gone = try await gateway.push(to: number, bearer: bearer)
        let timestamp = try #require(gone.json["timestamp"] as? Int, "\(gone.body)")
        // Milliseconds, not seconds; the log's clock may be a little off the wall's.
        #expect(abs(Int64(timestamp) - before) < 3_600_000)
        return Int64(timestamp)
    }

    /// One push to each of the three tokens; what the client was answered, in their order.
    private func push(
        with client: Client,
        _ credential: Credential,
        to gateway: TestGateway
    ) async throws -> [Answer] {
        let tokens = [Self.known, Self.unknown, Self.removed]
        let kid = credential == .unknownKey ? "OTHERKEY01" : TestGateway.kid
        let bearer = credential == .certificate ? nil : try await gateway.providerToken(kid: kid)
        if client == .curl {
            var answers: [Answer] = []
            for token in tokens { answers.append(try await self.curl(token, bearer, gateway)) }
            return answers
        }
        var options = [
            "\(TestGateway.root)/Tests/EndToEndTests/Clients/\(client.rawValue)_client.py",
            "--port=\(gateway.pushPort)", "--ca=\(gateway.ca)", "--topic=\(TestGateway.topic)",
        ]
        if let bearer {
            options += [
                "--bearer=\(bearer)", "--key=\(gateway.key)", "--kid=\(kid)", "--team=\(TestGateway.team)",
            ]
        } else {
            options += ["--certificate=\(gateway.folder)/both.pem"]
        }
        let result = try await Command.run(TestGateway.python, options + tokens)
        try #require(result.status == 0, "\(client) with \(credential): \(result.errors)")
        return try result.output.split(separator: "\n").map {
            try JSONDecoder().decode(Answer.self, from: Data($0.utf8))
        }
    }

    private func curl(_ token: String, _ bearer: String?, _ gateway: TestGateway) async throws -> Answer {
        let id = UUID().uuidString.lowercased()
        let answer = try await gateway.curl(
            "POST",
            "\(gateway.pushURL)/3/device/\(token)",
            bearer: bearer,
            headers: ["apns-topic: \(TestGateway.topic)", "apns-push-type: widgets", "apns-id: \(id)"],
            body: #"{"aps":{"content-changed":true}}"#,
            options: ["--http2"] + (bearer == nil ? ["--cert", "\(gateway.folder)/both.pem"] : [])
        )
        return Answer(
            status: answer.status,
            reason: answer.json["reason"] as? String,
            timestamp: (answer.json["timestamp"] as? Int).map(Int64.init),
            echoed: answer.headers["apns-id"] == id
        )
    }
}
