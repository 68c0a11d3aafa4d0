import Foundation
import Testing

/// Provider keys that change while the gateway runs.
@Suite struct KeyReloadTests {
    /// A new key pair; the paths of its halves.
    private func makeKey(_ name: String, in folder: String) async throws -> (key: String, publicKey: String) {
        let (key, publicKey) = ("\(folder)/\(name).p8", "\(folder)/\(name).public.pem")
        let made = try await Command.run(
            "openssl",
            ["genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", key]
        )
        try #require(made.status == 0, "\(made.errors)")
        let half = try await Command.run("openssl", ["pkey", "-in", key, "-pubout", "-out", publicKey])
        try #require(half.status == 0, "\(half.errors)")
        return (key, publicKey)
    }

    private func token(_ key: String, _ kid: String = TestGateway.kid) async throws -> String {
        let minted = try await Command.run(
            TestGateway.program,
            ["token", "mint", "--key", key, "--kid", kid, "--team", TestGateway.team]
        )
        try #require(minted.status == 0, "\(minted.errors)")
        return minted.output.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// What a push gets: the status, or the reason.
    private func push(_ gateway: TestGateway, _ bearer: String) async throws -> String {
        let answer = try await gateway.curl(
            "POST",
            "\(gateway.pushURL)/3/device/\(TestGateway.token(1))",
            bearer: bearer,
            headers: ["apns-topic: \(TestGateway.topic)"],
            body: #"{"aps":{"content-changed":true}}"#
        )
        return answer.reason ?? "\(answer.status)"
    }

    /// Why the keys' files as they are now are not in force.
    private func refusal(_ gateway: TestGateway) async throws -> String? {
        let stats = try await gateway.curl("GET", "\(gateway.opsURL)/v1/stats")
        return (stats.json["providerKeys"] as? [String: Any])?["refusal"] as? String
    }

    /// Why the configuration was refused when it was read last.
    private func fault(_ gateway: TestGateway) async throws -> String? {
        let configuration = try await gateway.curl("GET", "\(gateway.opsURL)/v1/config").json
        return (configuration["faults"] as? [[String: Any]])?.first?["reason"] as? String
    }

    @Test(arguments: [true, false])
    func `another key takes the place of one, and a file that is none keeps it`(byHangup: Bool) async throws {
        let gateway = try await TestGateway.start(
            appSettings: "    unknownTokens: accept",
            environment: byHangup ? [:] : ["FRESHET_TLS_CHECK_INTERVAL": "1s"]
        )
        let file = "\(gateway.folder)/certs/provider-key.public.pem"
        let old = try await gateway.providerToken()
        #expect(try await self.push(gateway, old) == "200")

        try "no key\n".write(toFile: file, atomically: true, encoding: .utf8)
        if byHangup { gateway.sendHangup() }
        let refusal = try await gateway.eventually("the file is refused") {
            byHangup ? try await self.fault(gateway) : try await self.refusal(gateway)
        }
        #expect(refusal.contains(byHangup ? "provider-key.public.pem" : "provider key \(TestGateway.kid)"))
        #expect(try await self.push(gateway, old) == "200")

        let (key, publicKey) = try await self.makeKey("new", in: gateway.folder)
        let new = try await self.token(key)
        #expect(try await self.push(gateway, new) == "InvalidProviderToken")
        try String(contentsOfFile: publicKey, encoding: .utf8).write(toFile: file, atomically: true, encoding: .utf8)
        if byHangup { gateway.sendHangup() }
        _ = try await gateway.eventually("the new key is in force") {
            try await self.push(gateway, new) == "200" ? true : nil
        }
        // Verified before and remembered, but by a key that is gone.
        #expect(try await self.push(gateway, old) == "InvalidProviderToken")
        #expect(try await self.refusal(gateway) == nil)
        await gateway.stop()
    }

    @Test func `a key that the configuration names anew is known after SIGHUP, the old one gone`() async throws {
        let gateway = try await TestGateway.start(appSettings: "    unknownTokens: accept")
        let first = try await gateway.providerToken()
        let (key, _) = try await self.makeKey("second", in: gateway.folder)
        let second = try await self.token(key, "SECONDKEY1")
        #expect(try await self.push(gateway, first) == "200")
        #expect(try await self.push(gateway, second) == "InvalidProviderToken")

        let file = "\(gateway.folder)/freshet.yaml"
        let text = try String(contentsOfFile: file, encoding: .utf8)
        let line = "- {id: \(TestGateway.kid), file: certs/provider-key.public.pem}"
        let other = "- {id: SECONDKEY1, file: second.public.pem}"
        try text.replacing(line, with: other).write(toFile: file, atomically: true, encoding: .utf8)
        gateway.sendHangup()
        _ = try await gateway.eventually("the second key is in force") {
            try await self.push(gateway, second) == "200" ? true : nil
        }
        #expect(try await self.push(gateway, first) == "InvalidProviderToken")
        await gateway.stop()
    }
}
