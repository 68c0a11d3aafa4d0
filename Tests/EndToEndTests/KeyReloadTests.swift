import Foundation
import Testing

/// Provider keys that change while the gateway runs.
@Suite struct KeyReloadTests {
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
        #expect(try await gateway.push(1, bearer: old) == "200")

        try "no key\n".write(toFile: file, atomically: true, encoding: .utf8)
        if byHangup { gateway.sendHangup() }
        let refusal = try await gateway.eventually("the file is refused") {
            byHangup ? try await self.fault(gateway) : try await self.refusal(gateway)
        }
        #expect(refusal.contains(byHangup ? "provider-key.public.pem" : "provider key \(TestGateway.kid)"))
        #expect(try await gateway.push(1, bearer: old) == "200")

        let (key, publicKey) = try await TestGateway.makeKey("new", in: gateway.folder)
        let new = try await TestGateway.providerToken(key)
        #expect(try await gateway.push(1, bearer: new) == "InvalidProviderToken")
        try String(contentsOfFile: publicKey, encoding: .utf8).write(toFile: file, atomically: true, encoding: .utf8)
        if byHangup { gateway.sendHangup() }
        try await gateway.eventuallyEverywhere("the new key is in force") {
            try await gateway.push(1, bearer: new) == "200"
        }
        // Verified before and remembered, but by a key that is gone.
        #expect(try await gateway.push(1, bearer: old) == "InvalidProviderToken")
        #expect(try await self.refusal(gateway) == nil)
        await gateway.stop()
    }

    @Test func `a key that the configuration names anew is known after SIGHUP, the old one gone`() async throws {
        let gateway = try await TestGateway.start(appSettings: "    unknownTokens: accept")
        let first = try await gateway.providerToken()
        let (key, _) = try await TestGateway.makeKey("second", in: gateway.folder)
        let second = try await TestGateway.providerToken(key, kid: "SECONDKEY1")
        #expect(try await gateway.push(1, bearer: first) == "200")
        #expect(try await gateway.push(1, bearer: second) == "InvalidProviderToken")

        let file = "\(gateway.folder)/freshet.yaml"
        let text = try String(contentsOfFile: file, encoding: .utf8)
        let line = "- {id: \(TestGateway.kid), file: certs/provider-key.public.pem}"
        let other = "- {id: SECONDKEY1, file: second.public.pem}"
        try text.replacing(line, with: other).write(toFile: file, atomically: true, encoding: .utf8)
        gateway.sendHangup()
        try await gateway.eventuallyEverywhere("the second key is in force") {
            try await gateway.push(1, bearer: second) == "200"
        }
        #expect(try await gateway.push(1, bearer: first) == "InvalidProviderToken")
        await gateway.stop()
    }
}
