import Foundation
import Testing

/// A verb that fails names the file and the system's reason, in words for people.
@Suite struct VerbFailureTests {
    /// Words that are for programmers.
    private static func checkWords(_ result: Command.Result) {
        for word in ["Domain", "NSCocoa", "Code=", "UserInfo", "formatMismatch", "journal failing", "journal corrupt"] {
            #expect(!result.errors.contains(word) && !result.output.contains(word), "\(word): \(result)")
        }
    }

    @Test(arguments: [
        ["certs", "--out", "/proc/x"], ["init", "/proc/x", "--yes"], ["init", "/dev/null/x", "--yes"],
        ["backup", "--data", "DATA", "--to", "/proc/x"],
        ["backup", "--data", "DATA", "--to", "/proc/x", "--keep", "2"],
        ["restore", "--from", "DATA", "--data", "/proc/x"],
    ])
    func `a folder that cannot be made is told with the reason`(words: [String]) async throws {
        let folder = try TestGateway.makeFolder()
        let gateway = try await words.contains("DATA") ? TestGateway.start(in: folder) : nil
        if let gateway { #expect(await gateway.drain() == 0) }
        let words = words.map { $0 == "DATA" ? "\(folder)/data" : $0 }
        let result = try await Command.run(TestGateway.program, words)
        Self.checkWords(result)
        #expect(result.status == 1)
        let reason = words.contains("/dev/null/x") ? "Not a directory" : "No such file or directory"
        let path = try #require(words.first { $0.hasPrefix("/proc") || $0.hasPrefix("/dev") })
        #expect(result.errors.contains(path) && result.errors.contains(reason), "\(result)")
        #expect(!result.errors.contains("\(folder)/data:"), "\(result)")
        try FileManager.default.removeItem(atPath: folder)
    }

    @Test func `certificates do not go into a file`() async throws {
        let folder = try TestGateway.makeFolder()
        try "mine".write(toFile: "\(folder)/file", atomically: true, encoding: .utf8)
        let result = try await Command.run(TestGateway.program, ["certs", "--out", "\(folder)/file"])
        Self.checkWords(result)
        #expect(result.status == 1 && result.errors == "\(folder)/file cannot be used: File exists\n", "\(result)")
        try FileManager.default.removeItem(atPath: folder)
    }

    @Test(arguments: [
        ["restore", "--from", "FOLDER", "--data", "FOLDER/new"], ["backup", "--data", "FOLDER", "--to", "FOLDER/new"],
        ["log", "stats", "--data", "FOLDER"], ["log", "export", "--data", "FOLDER"], ["settle", "--data", "FOLDER"],
        ["what-if", "--policy", "POLICY", "--data", "FOLDER"],
    ])
    func `a folder that is no data directory is called so`(words: [String]) async throws {
        let folder = try TestGateway.makeFolder()
        let policy = "\(TestGateway.root)/deploy/policies/trmnl.yaml"
        let words = words.map {
            $0 == "POLICY" ? policy : $0.replacing("FOLDER", with: folder)
        }
        let result = try await Command.run(TestGateway.program, words)
        Self.checkWords(result)
        let sentence = "\(folder) is not a data directory: it has no journal.format\n"
        #expect(result.status == 1 && result.errors == sentence, "\(result)")
        try FileManager.default.removeItem(atPath: folder)
    }

    @Test func `a refused export is told in a sentence, and a typo in a list with the names that there are`()
        async throws
    {
        let gateway = try await TestGateway.start()
        let words = ["export", "--app", "com.nope", "--server", gateway.hostURL, "--ca", gateway.ca]
        let export = try await Command.run(TestGateway.program, words + gateway.sender + ["\(gateway.folder)/hosts"])
        #expect(export.status == 2 && !export.errors.contains("{"), "\(export)")
        #expect(export.errors.hasPrefix("the gateway refused the export: "), "\(export)")
        for (verb, option, known) in [
            ("instances", "--app", TestGateway.app), ("instances", "--kind", "scores"),
            ("pushes", "--sender", TestGateway.team),
            ("hosts", "--app", TestGateway.app), ("pushes", "--kind", "scores"),
        ] {
            let typo = try await gateway.runVerb([verb, "list", option, "com.nope"])
            #expect(
                typo.status == 2 && typo.output.isEmpty && typo.errors.contains(known),
                "\(verb) \(option): \(typo)"
            )
        }
        await gateway.stop()
    }

    @Test func `verbs of this machine answer in JSON, too`() async throws {
        let folder = try TestGateway.makeFolder()
        let environment = ["FRESHET_CONTEXTS=\(folder)/contexts.yaml"]
        func ask(_ words: [String]) async throws -> [String: Any] {
            let result = try await Command.run("env", environment + [TestGateway.program] + words + ["--json"])
            #expect(result.status == 0, "\(words): \(result)")
            return try JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [String: Any] ?? [:]
        }
        let certs = try await ask(["certs", "--out", "\(folder)/certs"])
        let key = try #require(certs["providerKey"] as? String)
        #expect(FileManager.default.fileExists(atPath: key) && certs.count == 7)
        let token = try await ask(["token", "mint", "--key", key, "--kid", "K", "--team", "T"])
        let text = try #require(token["token"] as? String)
        #expect(token["header"] as? String == "authorization: bearer \(text)")
        let set = try await ask(["context", "set", "here"])
        #expect(set["current"] as? String == "here" && set["context"] as? String == "here")
        #expect(try await ask(["context", "remove", "here"])["current"] is NSNull)
        #expect(try await ask(["dashboard"])["address"] as? String != nil)
        let gateway = try await TestGateway.start(in: folder)
        let data = ["--data", "\(folder)/data"]
        let copy = try await ask(["backup", "--to", "\(folder)/copy"] + data)
        #expect(copy["directory"] as? String == "\(folder)/copy" && (copy["files"] as? Int ?? 0) > 0, "\(copy)")
        let restored = try await ask(["restore", "--from", "\(folder)/copy", "--data", "\(folder)/restored"])
        #expect(restored["directory"] as? String == "\(folder)/restored")
        #expect(await gateway.drain() == 0)
        #expect(try await ask(["settle"] + data)["snapshots"] is [[String: Any]])
        try FileManager.default.removeItem(atPath: folder)
    }
}
