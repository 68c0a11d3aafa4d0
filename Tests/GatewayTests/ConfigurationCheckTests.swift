import FoundationEssentials
import Gateway
import Settings
import TLS
import Testing
import WidgetModel

/// Checks beyond a configuration's text: whether its files go together, and how long they are good.
@Suite struct ConfigurationCheckTests {
    private static let start = Instant(seconds: 1_800_000_000)

    /// A folder with a certificate that is valid for 30 days, its key, and a configuration that names them.
    private static func folder(_ more: String = "") throws -> String {
        let folder = FileManager.default.temporaryDirectory.appending(path: "freshet-check-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let validity = CertificateValidity(start: .at(seconds: Self.start.seconds), days: 30)
        let authority = try CertificateAuthority.make(commonName: "Authority", validity: validity)
        let issued = try authority.issueServer(dnsNames: ["localhost"], ipAddresses: [], validity: validity)
        try Self.write(issued.certificatePEM, "\(folder)/server.pem")
        try Self.write(issued.privateKeyPEM, "\(folder)/server.key")
        try Self.write("tls:\n  certificate: server.pem\n  key: server.key\n\(more)", "\(folder)/freshet.yaml")
        return folder
    }

    private static func write(_ text: String, _ path: String) throws {
        try Data(text.utf8).write(to: URL(filePath: path))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
    }

    private static func check(_ folder: String, at now: Instant) throws -> ConfigurationCheck {
        ConfigurationCheck(try ConfigurationFile.read(path: "\(folder)/freshet.yaml", environment: [:]), now: now)
    }

    @Test(
        arguments: [
            (-1, "is not valid before", 1, 0), (0, "", 0, 0), (16 * 86_400 - 1, "", 0, 0),
            (16 * 86_400, "expires at", 0, 1),
            (30 * 86_400 - 1, "expires at", 0, 1), (30 * 86_400, "expired at", 1, 0),
        ] as [(Int64, String, Int, Int)]
    )
    func `a certificate is judged by the time`(after: Int64, sentence: String, faults: Int, warnings: Int) throws {
        let folder = try Self.folder()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let check = try Self.check(folder, at: Self.start + .seconds(after))
        let warned = check.warnings.filter { !["teams", "apps"].contains($0.path) }
        #expect(check.faults.count == faults && warned.count == warnings, "\(check)")
        for fault in check.faults + warned {
            #expect(fault.place == .file("\(folder)/freshet.yaml", line: 2, column: 16))
            #expect(fault.path == "tls.certificate" && fault.sentence.contains(sentence))
        }
    }

    @Test(arguments: [(0o600, false), (0o640, false), (0o644, true), (0o604, true), (0o601, true)])
    func `a key that others can read is warned of`(mode: Int, isWarned: Bool) throws {
        let folder = try Self.folder()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: "\(folder)/server.key")
        let check = try Self.check(folder, at: Self.start)
        #expect(check.warnings.contains { $0.path == "tls.key" } == isWarned)
        #expect(check.faults.isEmpty)
    }

    @Test func `a key of another certificate is told with its line`() throws {
        let folder = try Self.folder()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let other = try Self.folder()
        defer { try? FileManager.default.removeItem(atPath: other) }
        try Self.write(try String(contentsOfFile: "\(other)/server.key", encoding: .utf8), "\(folder)/server.key")
        let fault = try #require(try Self.check(folder, at: Self.start).faults.first)
        guard case .file(_, let line, _) = fault.place else {
            Issue.record("\(fault)")
            return
        }
        #expect(line == 2 || line == 3)
        #expect(fault.path.hasPrefix("tls."))
    }

    @Test(arguments: [true, false])
    func `a key that reads where nothing listens for it is warned of`(isOff: Bool) throws {
        let folder = try Self.folder(
            "listeners: {ops: {enabled: \(!isOff)}}\nteams: [{id: T, keys: [{id: K, file: server.key, reads: true}]}]\n"
        )
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let check = try Self.check(folder, at: Self.start)
        #expect(check.faults.isEmpty, "\(check.faults)")
        #expect(check.warnings.contains { $0.path == "teams[0].keys[0].reads" } == isOff)
    }

    @Test func `without a team and an app there is nothing to do`() throws {
        let folder = try Self.folder()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        #expect(try Self.check(folder, at: Self.start).warnings.map(\.path) == ["teams", "apps"])
    }
}
