import Foundation
import Testing

/// One version of Freshet goes on where another has ended. The other one is this program, whose snapshots are given the
/// number of other decision rules.
@Suite(.timeLimit(.minutes(60))) struct UpgradeTests {
    private static let partitions = 2
    private static let other = 7

    private static var rewriter: String {
        URL(filePath: TestGateway.program).deletingLastPathComponent().appending(path: "RulesRewriter").path
    }

    private static func start(in folder: String? = nil) async throws -> TestGateway {
        try await TestGateway.start(in: folder, partitions: Self.partitions)
    }

    private static func data(_ folder: String) -> String { "\(folder)/data" }

    private static func rewrite(_ folder: String, as rules: Int) async throws {
        let result = try await Command.run(Self.rewriter, [Self.data(folder), "\(rules)"])
        try #require(result.status == 0, "\(result.errors)")
    }

    private static func upgrade(_ folder: String, _ options: [String] = []) async throws -> Command.Result {
        try await Command.run(TestGateway.program, ["upgrade", "--data", Self.data(folder)] + options)
    }

    /// The program of the other rules: it decides the committed entries, and leaves snapshots of its own.
    private static func makePrevious(in folder: String) throws -> String {
        let path = "\(folder)/freshet-previous"
        try """
        #!/bin/sh
        set -e
        if [ "$1" = version ]; then exec '\(TestGateway.program)' version; fi
        '\(Self.rewriter)' "$3" 1
        '\(TestGateway.program)' "$@"
        '\(Self.rewriter)' "$3" \(Self.other)
        """.write(toFile: path, atomically: true, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
        return path
    }

    /// Every record of the log, how many outputs there are, and the bytes of every snapshot. Not the bytes of the log's files:
    /// SQLite may tidy one that a process has left open when it was killed.
    private static func contents(_ folder: String) async throws -> [String: Data] {
        let directory = Self.data(folder)
        var contents: [String: Data] = [:]
        for name in try FileManager.default.contentsOfDirectory(atPath: "\(directory)/snapshots") {
            contents[name] = try Data(contentsOf: URL(filePath: "\(directory)/snapshots/\(name)"))
        }
        for words in [["log", "export"], ["log", "stats", "--json"]] {
            let result = try await Command.run(TestGateway.program, words + ["--data", directory])
            try #require(result.status == 0, "\(result.errors)")
            contents[words.joined(separator: " ")] = Data(result.output.utf8)
        }
        let statistics = contents["log stats --json"].flatMap { try? JSONSerialization.jsonObject(with: $0) }
        var counts = try #require(statistics as? [String: Any])
        counts["fileBytes"] = nil
        contents["log stats --json"] = try JSONSerialization.data(withJSONObject: counts, options: .sortedKeys)
        return contents
    }

    /// Registers hosts in both partitions, and sends each a push.
    ///
    /// - Returns: The pushes' ids.
    private static func makeTraffic(_ gateway: TestGateway, revision: Int) async throws -> [String] {
        let bearer = try await gateway.providerToken()
        var ids: [String] = []
        for number in 1...4 {
            _ = try await gateway.register(number, teams: ["kraken"], bearer: bearer, revision: revision)
            let answer = try await gateway.push(to: number, bearer: bearer)
            try #require(answer.status == 200, "\(answer.body)")
            ids.append(try #require(answer.headers["apns-id"]))
        }
        return ids
    }

    /// The outcomes of pushes, once each is decided.
    private static func outcomes(_ ids: [String], _ gateway: TestGateway) async throws -> [String] {
        var outcomes: [String] = []
        for id in ids {
            let push = try await gateway.eventually("push \(id) is decided") {
                let answer = try await gateway.curl("GET", "\(gateway.opsURL)/v1/pushes/\(id)")
                return answer.status == 200 ? answer : nil
            }
            let matched = push.json["matched"] as? Int ?? -1
            outcomes.append("\(id) \(push.json["app"] ?? "?") \(matched)")
        }
        return outcomes
    }

    @Test func `after SIGTERM another version goes on from the last snapshots, and this one goes on from its`()
        async throws
    {
        var gateway = try await Self.start()
        let ids = try await Self.makeTraffic(gateway, revision: 1)
        let outcomes = try await Self.outcomes(ids, gateway)
        #expect(await gateway.drain() == 0)
        let folder = gateway.folder
        try await Self.rewrite(folder, as: Self.other)
        let before = try await Self.contents(folder)
        let dry = try await Self.upgrade(folder, ["--dry-run", "--json"])
        #expect(dry.status == 0, "\(dry.errors)")
        let answer = try #require(try JSONSerialization.jsonObject(with: Data(dry.output.utf8)) as? [String: Any])
        let partitions = try #require(answer["partitions"] as? [[String: Any]])
        #expect(partitions.map { $0["rules"] as? Int } == [Self.other, Self.other])
        #expect(partitions.map { $0["entriesBehind"] as? Int } == [0, 0])
        #expect(try await Self.contents(folder) == before)

        // A start does it by itself where nothing has to be decided before.
        gateway = try await Self.start(in: folder)
        #expect(gateway.logged.count { $0.contains("adopted a state that other decision rules wrote") } == 2)
        #expect(!gateway.logged.contains { $0.contains("\"message\":\"replayed\"") })
        #expect(try await Self.outcomes(ids, gateway) == outcomes)
        // Killed at once, it goes on by its own rules: the state is its own now.
        let more = try await Self.makeTraffic(gateway, revision: 2)
        await gateway.crash()
        // Nothing is to do, and how much a start replays is not counted.
        let same = try await Self.upgrade(folder)
        #expect(same.output.contains("partition 0: decided by rules 1 (Freshet 0.2.0)\n"), "\(same.output)")
        gateway = try await Self.start(in: folder)
        #expect(!gateway.logged.contains { $0.contains("adopted a state") })
        #expect(try await Self.outcomes(ids + more, gateway).count == 8)
        await gateway.stop()
    }

    @Test
    func `after kill -9 it refuses and changes nothing, until the version before has decided what is its to decide`()
        async throws
    {
        var gateway = try await Self.start()
        _ = try await Self.makeTraffic(gateway, revision: 1)
        #expect(await gateway.drain() == 0)
        let folder = gateway.folder
        gateway = try await Self.start(in: folder)
        let ids = try await Self.makeTraffic(gateway, revision: 2)
        await gateway.crash()
        try await Self.rewrite(folder, as: Self.other)

        let before = try await Self.contents(folder)
        let refused = try await Command.run(TestGateway.program, ["serve", "--config", "\(folder)/freshet.yaml"])
        #expect(refused.status == 1)
        for words in ["partition 0: ", "partition 1: ", "behind its newest snapshot", "Run freshet upgrade"] {
            #expect(refused.errors.contains(words), "\(refused.errors)")
        }
        // A folder is no program, and a text cannot run; the plan says so as the upgrade does.
        let text = "\(folder)/text"
        try Data("\u{7f}ELF".utf8).write(to: URL(filePath: text))
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: text)
        for (previous, reason) in [
            ("\(folder)/not-there", "There is no program"), (folder, "does not run"), (text, "does not run"),
        ] {
            for options in [["--dry-run"], []] {
                let missing = try await Self.upgrade(folder, ["--previous", previous] + options)
                #expect(missing.status == 1)
                for words in [previous, reason, "rules 7 (another version of Freshet)", "--previous"] {
                    #expect(missing.errors.contains(words), "\(words): \(missing.errors)")
                }
                #expect(missing.output.isEmpty)
            }
        }
        #expect(try await Self.contents(folder) == before)

        let previous = try Self.makePrevious(in: folder)
        let planned = try await Self.upgrade(folder, ["--previous", previous, "--dry-run"])
        #expect(planned.output.contains("\(previous) settle would apply the log to its end"))
        #expect(try await Self.contents(folder) == before)
        let upgraded = try await Self.upgrade(folder, ["--previous", previous])
        #expect(upgraded.status == 0, "\(upgraded.errors)")
        #expect(upgraded.output.contains("ready: 2 partitions continue"))
        let again = try await Self.upgrade(folder)
        #expect(again.output.contains("nothing to do"))

        gateway = try await Self.start(in: folder)
        #expect(try await Self.outcomes(ids, gateway).count == 4)
        #expect(await gateway.drain() == 0)
        // From where this program's rules begin.
        let verified = try await Command.run(TestGateway.program, ["log", "verify", "--data", Self.data(folder)])
        #expect(verified.status == 0, "\(verified.output)")
        try FileManager.default.removeItem(atPath: folder)
    }

    @Test func `an upgrade that was killed between two partitions is done by the next one`() async throws {
        let gateway = try await Self.start()
        _ = try await Self.makeTraffic(gateway, revision: 1)
        #expect(await gateway.drain() == 0)
        let folder = gateway.folder
        try await Self.rewrite(folder, as: Self.other)
        // Partition 0 has passed the gate to this program's rules, and its state was not taken over.
        let gate = try await Command.run(Self.rewriter, [Self.data(folder), "1", "0"])
        try #require(gate.status == 0, "\(gate.errors)")
        let upgraded = try await Self.upgrade(folder)
        #expect(upgraded.status == 0, "\(upgraded.errors)")
        #expect(upgraded.output.contains("ready: 2 partitions continue"))
        #expect(try await Self.upgrade(folder).output.contains("nothing to do"))
        let again = try await Self.start(in: folder)
        #expect(!again.logged.contains { $0.contains("adopted a state") })
        #expect(await again.drain() == 0)
        try FileManager.default.removeItem(atPath: folder)
    }

    @Test func `a folder without a log needs nothing, and a running gateway keeps its log to itself`() async throws {
        let folder = try TestGateway.makeFolder()
        #expect(try await Self.upgrade(folder).output.contains("there is no log yet"))
        try FileManager.default.removeItem(atPath: folder)
        let gateway = try await Self.start()
        _ = try await Self.makeTraffic(gateway, revision: 1)
        let settled = try await Command.run(TestGateway.program, ["settle", "--data", Self.data(gateway.folder)])
        #expect(settled.status == 1)
        #expect(settled.errors.contains("in use"), "\(settled.errors)")
        #expect(await gateway.drain() == 0)
        let done = try await Command.run(TestGateway.program, ["settle", "--data", Self.data(gateway.folder)])
        #expect(done.status == 0, "\(done.errors)")
        #expect(done.output.components(separatedBy: "holds everything committed").count == 3, "\(done.output)")
        await gateway.stop()
    }
}
