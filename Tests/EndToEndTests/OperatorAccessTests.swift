import Foundation
import Testing

/// Operators' client certificates, and what operators change while the gateway runs, on the wire.
@Suite struct OperatorAccessTests {
    /// A client certificate of an authority; its files' common name.
    private func client(_ userID: String, in folder: String) async throws -> String {
        let options = ["--client", userID, "--user-id", userID]
        return try await TestGateway.makeCertificates(named: userID, in: folder, options) + "/client"
    }

    private func status(_ gateway: TestGateway, _ method: String, _ route: String, _ client: String?) async throws
        -> Int
    {
        let identity = client.map { ["--cert", "\($0).pem", "--key", "\($0).key"] } ?? []
        let url = "\(gateway.opsURL)\(route)"
        return try await gateway.curl(method, url, options: ["--http2"] + identity, isOperator: false).status
    }

    @Test func `a client certificate opens what its scope allows, until it is revoked`() async throws {
        let folder = try TestGateway.makeFolder()
        try await TestGateway.makeCertificates(in: folder)
        let reader = try await self.client("reader", in: folder)
        let boss = try await self.client("boss", in: folder)
        let stranger = try await self.client("stranger", in: folder)
        let list = "\(folder)/revoked.txt"
        try "# empty so far\n".write(toFile: list, atomically: true, encoding: .utf8)
        let gateway = try await TestGateway.start(
            in: folder,
            extra: """
                clientCertificates: {revocationList: revoked.txt}
                ops: {certificates: [{userID: reader}, {userID: boss, scope: admin}]}
                """
        )
        #expect(try await self.status(gateway, "GET", "/v1/stats", nil) == 401)
        #expect(try await self.status(gateway, "GET", "/v1/stats", stranger) == 401)
        #expect(try await self.status(gateway, "GET", "/v1/stats", reader) == 200)
        #expect(try await self.status(gateway, "POST", "/v1/config/reload", reader) == 403)
        #expect(try await self.status(gateway, "POST", "/v1/config/reload", boss) == 200)
        let print = try await Command.run(
            "openssl",
            ["x509", "-in", "\(boss).pem", "-noout", "-fingerprint", "-sha256"]
        )
        try print.output.write(toFile: list, atomically: true, encoding: .utf8)
        gateway.sendHangup()
        _ = try await gateway.eventually("the list is in force") {
            try await self.status(gateway, "GET", "/v1/stats", boss) == 401 ? true : nil
        }
        #expect(try await self.status(gateway, "GET", "/v1/stats", reader) == 200)
        await gateway.stop()
    }

    @Test func `a request reads the configuration again, all of it or nothing`() async throws {
        let policies = "policies: [{name: mine, rare: 10, typical: 20, frequent: 30}]"
        let gateway = try await TestGateway.start(extra: policies)
        let file = "\(gateway.folder)/freshet.yaml"
        func change(_ old: String, _ new: String) throws {
            let text = try String(contentsOfFile: file, encoding: .utf8)
            try #require(text.contains(old))
            try text.replacing(old, with: new).write(toFile: file, atomically: true, encoding: .utf8)
        }
        func reload() async throws -> TestGateway.Answer {
            try await gateway.curl("POST", "\(gateway.opsURL)/v1/config/reload")
        }
        func level() async throws -> String? {
            let levels = try await gateway.curl("GET", "\(gateway.opsURL)/v1/log-levels").json
            let rows = levels["subsystems"] as? [[String: Any]] ?? []
            return rows.first { $0["subsystem"] as? String == "http" }?["level"] as? String
        }
        func isLastTaken() async throws -> Bool {
            try await gateway.curl("GET", "\(gateway.opsURL)/metrics").body
                .contains("\nfreshet_config_last_reload_successful 1\n")
        }
        #expect(try await level() == "info")

        try change("typical: 20", "typical: 25")
        try change("policies:", "log: {levels: {http: debug}}\npolicies:")
        let taken = try await reload()
        #expect(taken.status == 200)
        #expect(taken.json["result"] as? String == "loaded")
        #expect(taken.json["applied"] as? [String] == ["log.levels.http", "policies[0].typical"])
        #expect(try await level() == "debug")
        #expect(try await isLastTaken())

        try change("http: debug", "http: error")
        try change("typical: 25", "typical: many")
        let refused = try await reload()
        #expect(refused.status == 409)
        #expect(refused.json["result"] as? String == "refused")
        let fault = try #require((refused.json["faults"] as? [[String: Any]])?.first)
        #expect(fault["key"] as? String == "policies[0].typical")
        #expect((fault["file"] as? String)?.hasSuffix("freshet.yaml") == true)
        #expect((fault["line"] as? Int ?? 0) > 1)
        #expect(try await level() == "debug")
        #expect(try await !isLastTaken())
        let shown = try await gateway.curl("GET", "\(gateway.opsURL)/v1/config").json
        #expect(shown["result"] as? String == "refused")
        let inForce = (shown["configuration"] as? [String: Any])?["policies"] as? [[String: Any]]
        #expect(inForce?.first?["typical"] as? Int == 25)

        try change("typical: many", "typical: 25")
        #expect(try await reload().status == 200)
        #expect(try await level() == "error")
        #expect(try await isLastTaken())
        let audit = try await gateway.curl("GET", "\(gateway.opsURL)/v1/audit").json
        let statuses = (audit["requests"] as? [[String: Any]] ?? []).map { $0["status"] as? Int }
        #expect(statuses == [200, 409, 200])
        await gateway.stop()
    }
}
