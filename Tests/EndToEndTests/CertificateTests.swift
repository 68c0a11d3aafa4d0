import Foundation
import Testing

/// Client certificates, the server's own, and changes of both while the gateway runs.
@Suite struct CertificateTests {
    private static let controls = "com.example.scores.push-type.controls"

    /// Makes more client certificates of the gateway's authority, each in a folder of its own; its files' common name.
    private func client(_ name: String, in folder: String, _ options: [String]) async throws -> String {
        try await TestGateway.makeCertificates(named: name, in: folder, ["--client", name] + options) + "/client"
    }

    private func makeAuthority() async throws -> String {
        let folder = try TestGateway.makeFolder()
        try await TestGateway.makeCertificates(in: folder)
        return folder
    }

    private func push(_ gateway: TestGateway, _ client: String, topic: String? = TestGateway.topic) async throws
        -> [String]
    {
        let probe = try Probe(
            gateway,
            client: client,
            push: true,
            topic: topic,
            options: ["--close-after", "response"]
        )
        return await probe.all().filter { $0.hasPrefix("response") || $0.hasPrefix("body") || $0.hasPrefix("goaway") }
    }

    @Test func `a certificate speaks for the topics that it lists, where those are believed`() async throws {
        let folder = try await self.makeAuthority()
        let widgets = try await self.client("widgets", in: folder, ["--topic", TestGateway.topic])
        let controls = try await self.client("controls", in: folder, ["--topic", Self.controls])
        let silent = try await self.client("silent", in: folder, [])
        let gateway = try await TestGateway.start(
            in: folder,
            extra: "clientCertificates: {unnamed: topics}",
            appSettings: "    unknownTokens: accept"
        )
        #expect(try await self.push(gateway, widgets) == ["response 200"])
        #expect(try await self.push(gateway, controls) == ["response 400", "body TopicDisallowed"])
        #expect(try await self.push(gateway, silent) == ["response 403", "body BadCertificate"])
        await gateway.stop()
    }

    @Test func `a certificate with one topic needs no apns-topic, one with several does`() async throws {
        let folder = try await self.makeAuthority()
        let one = try await self.client("one", in: folder, ["--topic", TestGateway.topic])
        let two = try await self.client("two", in: folder, ["--topic", TestGateway.topic, "--topic", Self.controls])
        let gateway = try await TestGateway.start(
            in: folder,
            extra: "clientCertificates: {unnamed: topics}",
            appSettings: "    unknownTokens: accept"
        )
        #expect(try await self.push(gateway, one, topic: nil) == ["response 200"])
        #expect(try await self.push(gateway, two, topic: nil) == ["response 400", "body MissingTopic"])
        #expect(try await self.push(gateway, two) == ["response 200"])
        await gateway.stop()
    }

    @Test func `a certificate for the other environment is told so before any request`() async throws {
        let folder = try await self.makeAuthority()
        let options = ["--topic", TestGateway.topic, "--environment"]
        let development = try await self.client("development", in: folder, options + ["development"])
        let production = try await self.client("production", in: folder, options + ["production"])
        let gateway = try await TestGateway.start(
            in: folder,
            extra: "clientCertificates: {unnamed: topics}",
            appSettings: "    unknownTokens: accept"
        )
        let probe = try Probe(gateway, client: development, push: true)
        #expect(
            await probe.all() == [
                "tls TLSv1.3 h2", "settings 1000", #"goaway 0 last 0 {"reason":"BadCertificateEnvironment"}"#, "closed",
            ]
        )
        #expect(try await self.push(gateway, production) == ["response 200"])
        await gateway.stop()
    }

    @Test func `a certificate that is revoked while it is in use ends with the next push`() async throws {
        let folder = try await self.makeAuthority()
        let listed = try await self.client("listed", in: folder, ["--topic", TestGateway.topic])
        let other = try await self.client("other", in: folder, ["--topic", TestGateway.topic])
        let list = "\(folder)/revoked.txt"
        try "# empty so far\n".write(toFile: list, atomically: true, encoding: .utf8)
        let gateway = try await TestGateway.start(
            in: folder,
            extra: "clientCertificates: {unnamed: topics, revocationList: revoked.txt}",
            appSettings: "    unknownTokens: accept"
        )
        #expect(try await self.push(gateway, listed) == ["response 200"])
        let print = try await Command.run(
            "openssl",
            ["x509", "-in", "\(listed).pem", "-noout", "-fingerprint", "-sha256"]
        )
        try print.output.write(toFile: list, atomically: true, encoding: .utf8)
        gateway.sendHangup()
        try await gateway.eventuallyEverywhere("the list is in force") {
            try await self.push(gateway, listed) == [#"goaway 0 last 0 {"reason":"BadCertificate"}"#]
        }
        #expect(try await self.push(gateway, other) == ["response 200"])
        await gateway.stop()
    }

    @Test func `a server's certificate that is kept does not get other names in silence`() async throws {
        let folder = try TestGateway.makeFolder()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        func make(_ options: String...) async throws -> Command.Result {
            try await Command.run(TestGateway.program, ["certs", "--out", "\(folder)/certs"] + options)
        }
        #expect(try await make("--host", "a.example.com").errors == "")
        #expect(try await make().errors == "")
        let kept = try await make("--host", "b.example.com")
        #expect(kept.status == 0 && kept.errors.contains("server.pem is kept as it is"), "\(kept.errors)")
    }

    @Test func `a server's certificate is for a client's use, too, where that is asked for`() async throws {
        let folder = try TestGateway.makeFolder()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let names = ["--host", "localhost", "--address", "10.0.0.1", "--address", "10.0.0.2"]
        try await TestGateway.makeCertificates(in: folder, names)
        let peer = try await TestGateway.makeCertificates(named: "peer", in: folder, names + ["--peer"])
        // Both are of one authority.
        func verdict(_ certificate: String, _ purpose: String) async throws -> Int32 {
            let asked = ["verify", "-x509_strict", "-purpose", purpose, "-verify_ip", "10.0.0.2"]
            let files = ["-CAfile", "\(folder)/certs/ca.pem", "\(certificate)/server.pem"]
            return try await Command.run("openssl", asked + files).status
        }
        #expect(try await verdict("\(folder)/certs", "sslserver") == 0)
        #expect(try await verdict("\(folder)/certs", "sslclient") != 0)
        #expect(try await verdict(peer, "sslserver") == 0)
        #expect(try await verdict(peer, "sslclient") == 0)
        let kept = try await Command.run(TestGateway.program, ["certs", "--out", peer, "--peer"])
        #expect(kept.status == 0 && kept.errors.contains("server.pem is kept as it is"), "\(kept.errors)")
    }

    @Test func `a revocation list is looked at again when the authorities change`() async throws {
        let folder = try await self.makeAuthority()
        let made = try await Command.run(TestGateway.program, ["certs", "--out", "\(folder)/second"])
        try #require(made.status == 0, "\(made.errors)")
        let configuration = "\(folder)/openssl.cnf"
        try "[ca]\ndefault_ca = d\n[d]\ndatabase = \(folder)/index.txt\ndefault_md = sha256\n"
            .write(toFile: configuration, atomically: true, encoding: .utf8)
        try "".write(toFile: "\(folder)/index.txt", atomically: true, encoding: .utf8)
        let authority = ["-cert", "\(folder)/second/ca.pem", "-keyfile", "\(folder)/second/ca.key"]
        let list = try await Command.run(
            "openssl",
            ["ca", "-gencrl", "-crldays", "9", "-config", configuration, "-out", "\(folder)/second.crl"] + authority
        )
        try #require(list.status == 0, "\(list.errors)")
        try "# empty so far\n".write(toFile: "\(folder)/revoked.pem", atomically: true, encoding: .utf8)
        let gateway = try await TestGateway.start(
            in: folder,
            extra: "clientCertificates: {unnamed: topics, revocationList: revoked.pem}",
            environment: ["FRESHET_TLS_CHECK_INTERVAL": "1s"]
        )
        func shown() async throws -> [String: Any] {
            let stats = try await gateway.curl("GET", "\(gateway.opsURL)/v1/stats")
            return stats.json["clientCertificates"] as? [String: Any] ?? [:]
        }
        try String(contentsOfFile: "\(folder)/second.crl", encoding: .utf8)
            .write(toFile: "\(folder)/revoked.pem", atomically: true, encoding: .utf8)
        _ = try await gateway.eventually("a stranger's list is refused") { try await shown()["refusal"] as? String }
        #expect(try await shown()["nextUpdate"] == nil)

        let authorities = try ["certs", "second"].map {
            try String(contentsOfFile: "\(folder)/\($0)/ca.pem", encoding: .utf8)
        }
        try authorities.joined().write(toFile: "\(folder)/certs/ca.pem", atomically: true, encoding: .utf8)
        try await gateway.eventuallyEverywhere("it is in force") { try await shown()["nextUpdate"] != nil }
        #expect(try await shown()["refusal"] == nil)
        await gateway.stop()
    }

    @Test func `a certificate that the configuration names anew is known after SIGHUP`() async throws {
        let folder = try await self.makeAuthority()
        let client = try await self.client("named", in: folder, ["--user-id", "scores-back-end"])
        let gateway = try await TestGateway.start(in: folder, appSettings: "    unknownTokens: accept")
        #expect(try await self.push(gateway, client) == ["response 403", "body BadCertificate"])
        let file = "\(folder)/freshet.yaml"
        let text = try String(contentsOfFile: file, encoding: .utf8)
        try text.replacing(
            "    unknownTokens: accept",
            with: "    unknownTokens: accept\n    allowedClientCertificates: [{userID: scores-back-end}]"
        ).write(toFile: file, atomically: true, encoding: .utf8)
        gateway.sendHangup()
        try await gateway.eventuallyEverywhere("the name is known") {
            try await self.push(gateway, client) == ["response 200"]
        }
        await gateway.stop()
    }

    /// The push listener's certificate, and how often it was replaced.
    private func shown(_ gateway: TestGateway) async throws -> (name: String?, replaced: Int?, refusal: String?) {
        let stats = try await gateway.curl("GET", "\(gateway.opsURL)/v1/stats")
        let push = (stats.json["tls"] as? [[String: Any]])?.first { $0["listener"] as? String == "push" }
        return (push?["commonName"] as? String, push?["replaced"] as? Int, push?["refusal"] as? String)
    }

    @Test func `a new server certificate is shown without a restart, a broken one is not`() async throws {
        let folder = try await self.makeAuthority()
        let made = try await TestGateway.makeCertificates(
            named: "renewed",
            in: folder,
            ["--host", "renewed.example", "--host", "localhost"]
        )
        let gateway = try await TestGateway.start(in: folder, environment: ["FRESHET_TLS_CHECK_INTERVAL": "1s"])
        let before = try await self.shown(gateway)
        #expect(before.name == "localhost")
        #expect(before.replaced == 0)

        // The certificate alone does not fit the key that is there.
        let pem = "\(folder)/certs/server.pem"
        let key = "\(folder)/certs/server.key"
        try String(contentsOfFile: "\(made)/server.pem", encoding: .utf8)
            .write(toFile: pem, atomically: true, encoding: .utf8)
        let refusal = try await gateway.eventually("the mismatch is noticed") {
            try await self.shown(gateway).refusal
        }
        #expect(refusal.hasSuffix("server.key: key does not match certificate \(pem)"))
        #expect(try await self.shown(gateway).name == "localhost")

        try String(contentsOfFile: "\(made)/server.key", encoding: .utf8)
            .write(toFile: key, atomically: true, encoding: .utf8)
        try await gateway.eventuallyEverywhere("the new certificate is shown") {
            try await self.shown(gateway).name == "renewed.example"
        }
        let after = try await self.shown(gateway)
        #expect(after.replaced == 1)
        #expect(after.refusal == nil)
        let seen = try await Command.run(
            "openssl",
            [
                "s_client", "-connect", "127.0.0.1:\(gateway.pushPort)", "-servername", "localhost", "-CAfile",
                gateway.ca, "-alpn", "h2",
            ],
            input: ""
        )
        #expect(seen.output.contains("CN = renewed.example"))

        try "not a certificate".write(toFile: pem, atomically: true, encoding: .utf8)
        gateway.sendHangup()
        _ = try await gateway.eventually("the broken file is noticed") { try await self.shown(gateway).refusal }
        #expect(try await self.shown(gateway).name == "renewed.example")
        await gateway.stop()
    }
}
