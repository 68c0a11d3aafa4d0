import Foundation
import TLS
import Testing

/// A configuration's faults are found before they break anything: at a start, and when it is read again.
@Suite struct ConfigurationVerbTests {
    /// A folder with certificates that ended yesterday, and a configuration that names them.
    private static func ended() throws -> String {
        let folder = try TestGateway.makeFolder()
        let yesterday = Int64(Date().timeIntervalSince1970) - 86_400
        let validity = CertificateValidity(start: .at(seconds: yesterday - 10 * 86_400), days: 10)
        let authority = try CertificateAuthority.make(commonName: "Authority", validity: validity)
        let issued = try authority.issueServer(dnsNames: ["localhost"], ipAddresses: [], validity: validity)
        try issued.certificatePEM.write(toFile: "\(folder)/server.pem", atomically: true, encoding: .utf8)
        try issued.privateKeyPEM.write(toFile: "\(folder)/server.key", atomically: true, encoding: .utf8)
        try "tls:\n  certificate: server.pem\n  key: server.key\ndataDirectory: data\n"
            .write(toFile: "\(folder)/freshet.yaml", atomically: true, encoding: .utf8)
        return folder
    }

    @Test(arguments: ["serve", "check-config"])
    func `a certificate that has ended is refused with its file and the remedy`(verb: String) async throws {
        let folder = try Self.ended()
        let result = try await Command.run(TestGateway.program, [verb, "--config", "\(folder)/freshet.yaml"])
        #expect(result.status == 78)
        let place = "\(folder)/freshet.yaml:2:16: tls.certificate: \(folder)/server.pem expired at "
        #expect(result.errors.contains(place) && result.errors.contains("replace it with a newer one"), "\(result)")
        #expect(!FileManager.default.fileExists(atPath: "\(folder)/data"), "nothing was begun")
        try FileManager.default.removeItem(atPath: folder)
    }

    @Test func `a key with a passphrase is told with its line`() async throws {
        let folder = try TestGateway.makeFolder()
        try await TestGateway.makeCertificates(in: folder)
        let lock = ["pkey", "-aes256", "-passout", "pass:secret", "-in", "\(folder)/certs/server.key"]
        let locked = try await Command.run("openssl", lock + ["-out", "\(folder)/locked.key"])
        try #require(locked.status == 0, "\(locked.errors)")
        try "tls:\n  certificate: certs/server.pem\n  key: locked.key\n"
            .write(toFile: "\(folder)/freshet.yaml", atomically: true, encoding: .utf8)
        let result = try await Command.run(TestGateway.program, ["check-config", "-c", "\(folder)/freshet.yaml"])
        #expect(result.status == 78 && result.errors.contains("freshet.yaml:3:8: tls.key: "), "\(result.errors)")
        #expect(result.errors.contains("passphrase") && !result.errors.contains("secret"), "\(result.errors)")
        try FileManager.default.removeItem(atPath: folder)
    }

    /// The systemd unit's command for a reload, for the program beside the tests and a gateway of theirs.
    private static func execReload(_ gateway: TestGateway) throws -> [String] {
        let unit = try String(contentsOfFile: "\(TestGateway.root)/deploy/freshet.service", encoding: .utf8)
        let line = try #require(unit.split(separator: "\n").first { $0.hasPrefix("ExecReload=") })
        let words = line.dropFirst("ExecReload=".count).split(separator: " ").map(String.init)
        // The package's unit has the program elsewhere, by exactly this beginning.
        try #require(words.first == "/usr/local/bin/freshet", "\(line)")
        return words.dropFirst().map { $0.replacing("/var/lib/freshet", with: "\(gateway.folder)/data") }
    }

    @Test func `the unit's reload waits, says what came of it, and fails where it is refused`() async throws {
        let gateway = try await TestGateway.start(extra: "log: {level: info}")
        let reload = try Self.execReload(gateway)
        let file = "\(gateway.folder)/freshet.yaml"
        let text = try String(contentsOfFile: file, encoding: .utf8)
        func run(_ text: String) async throws -> Command.Result {
            try text.write(toFile: file, atomically: true, encoding: .utf8)
            return try await Command.run(TestGateway.program, reload)
        }
        func inForce() async throws -> String? {
            let answer = try await gateway.curl("GET", "\(gateway.opsURL)/v1/config").json
            let log = (answer["configuration"] as? [String: Any])?["log"] as? [String: Any]
            return log?["level"] as? String
        }
        let good = try await run(text.replacing("level: info", with: "level: notice"))
        #expect(good.status == 0 && good.output == "In force: log.level.\n", "\(good)")
        #expect(try await inForce() == "notice")
        let refused = try await run(text.replacing("level: info", with: "levell: debug"))
        #expect(refused.status == 78 && refused.output.isEmpty, "\(refused)")
        #expect(refused.errors.contains("\(file):") && refused.errors.contains("did you mean level?"), "\(refused)")
        #expect(try await inForce() == "notice")
        let damaged = try await run("a: [")
        #expect(damaged.status == 78 && damaged.errors.contains(file), "\(damaged)")
        // The certificates may be the fault to mend, so the verb needs neither TLS nor a token.
        let alone = try await run(text.replacing("certs/server.key", with: "certs/ca.key"))
        #expect(alone.status == 78 && alone.errors.contains("does not match certificate"), "\(alone)")
        #expect(try await run(text).status == 0)
        #expect(try await inForce() == "info")
        let attributes = try FileManager.default.attributesOfItem(atPath: "\(gateway.folder)/data/reload")
        #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)
        // A reader that has gone, as head has, is no reason to crash.
        let piped = try await Command.run("sh", ["-c", #""$0" "$@" | true"#, TestGateway.program] + reload)
        #expect(piped.errors.isEmpty, "\(piped.errors)")
        let both = try await Command.run(TestGateway.program, reload + ["--server", gateway.opsURL])
        #expect(both.status == 64 && both.errors.contains("leave out --server and --context"), "\(both)")
        #expect(await gateway.drain() == 0)
        let gone = try await Command.run(TestGateway.program, reload)
        #expect(gone.status == 1 && gone.errors.contains("there is no such socket"), "\(gone)")
        try FileManager.default.removeItem(atPath: gateway.folder)
    }

    @Test func `what a killed gateway has left of its socket is replaced`() async throws {
        let killed = try await TestGateway.start()
        await killed.crash()
        let reload = try Self.execReload(killed)
        let nobody = try await Command.run(TestGateway.program, reload)
        #expect(nobody.status == 1 && nobody.errors.contains("nothing listens there"), "\(nobody)")
        let gateway = try await TestGateway.start(in: killed.folder)
        let again = try await Command.run(TestGateway.program, reload)
        #expect(again.status == 0 && again.output == "Read again: nothing has changed.\n", "\(again)")
        await gateway.stop()
    }

    @Test func `a SIGHUP that is refused logs the refusal, and one that finds nothing new no file`() async throws {
        let gateway = try await TestGateway.start()
        let file = "\(gateway.folder)/freshet.yaml"
        let text = try String(contentsOfFile: file, encoding: .utf8)
        func hangUp(_ text: String, _ result: String) async throws {
            try text.write(toFile: file, atomically: true, encoding: .utf8)
            let before = try await gateway.curl("GET", "\(gateway.opsURL)/v1/config").json["loadedAt"] as? String
            gateway.sendHangup()
            _ = try await gateway.eventually("the configuration was read") {
                let report = try await gateway.curl("GET", "\(gateway.opsURL)/v1/config").json
                return report["loadedAt"] as? String != before && report["result"] as? String == result ? true : nil
            }
        }
        try await hangUp(text + "\ndeliveriess: {}\n", "refused")
        try await hangUp(text, "loaded")
        let log = await gateway.log()
        let lines = log.split(separator: "\n")
        #expect(lines.filter { $0.contains("the configuration cannot be used") }.count == 1, "\(log)")
        #expect(lines.filter { $0.contains("read again") }.count == 1, "\(log)")
        #expect(lines.contains { $0.contains("the configuration was read again") }, "\(log)")
        #expect(!lines.contains { $0.contains("not taken") }, "\(log)")
        try FileManager.default.removeItem(atPath: gateway.folder)
    }
}
