import Foundation
import Testing

/// Questions to a log, through the program and through the gateway.
@Suite struct HistoryTests {
    private static let instance = "com.example.scores/host-1:scores-0"

    /// A gateway with a widget that was pushed to, and the push's id.
    private static func pushed(extra: String = "") async throws -> (gateway: TestGateway, bearer: String) {
        let gateway = try await TestGateway.start(partitions: 2, extra: extra)
        let bearer = try await gateway.providerToken()
        _ = try await gateway.register(1, teams: ["seahawks"], bearer: bearer)
        for team in ["seahawks", "mariners"] {
            let answer = try await gateway.curl(
                "POST",
                "\(gateway.hostURL)/v1/apps/\(TestGateway.app)/reload",
                bearer: bearer,
                body: #"{"kind":"scores","match":{"team":"\#(team)"}}"#
            )
            #expect(answer.status == 200, "\(answer.body)")
            let push = try await Command.run(
                TestGateway.program,
                [
                    "send", "--app", TestGateway.app, "--kind", "scores", "--match", #"{"team":["\#(team)"]}"#,
                    "--priority", "10",
                ] + gateway.access(gateway.pushURL) + gateway.sender
            )
            #expect(push.status == 0, "\(push.errors)")
        }
        return (gateway, bearer)
    }

    @Test func `why tells the same of the data directory and through the gateway`() async throws {
        let (gateway, _) = try await Self.pushed()
        let answer = try await gateway.curl("GET", "\(gateway.opsURL)/v1/instances/\(Self.instance)/why?since=1h")
        #expect(answer.status == 200, "\(answer.body)")
        let pushes = answer.json["pushes"] as? [[String: Any]] ?? []
        #expect(pushes.count == 1)
        let conditions = pushes.first?["conditions"] as? [[String: Any]] ?? []
        #expect(conditions.map { $0["name"] as? String } == ["app", "kind", "team"])
        let misses = answer.json["misses"] as? [String: Any] ?? [:]
        #expect(misses["count"] as? Int == 1)
        #expect((misses["by"] as? [String: Int]) == ["team": 1])

        let offline = try await Command.run(
            TestGateway.program,
            ["why", Self.instance, "--data", "\(gateway.folder)/data", "--json"]
        )
        #expect(offline.status == 0, "\(offline.errors)")
        let told = try JSONSerialization.jsonObject(with: Data(offline.output.utf8)) as? [String: Any]
        #expect((told?["pushes"] as? [[String: Any]])?.count == 1)
        let text = try await Command.run(
            TestGateway.program,
            ["why", Self.instance, "--server", gateway.opsURL, "--ca", gateway.ca, "--data", "\(gateway.folder)/data"]
        )
        #expect(text.status == 0, "\(text.errors)")
        #expect(text.output.contains("matched: app = \(TestGateway.app), kind = scores, team = seahawks"))
        #expect(text.output.contains("1 because of team"))
        await gateway.stop()
    }

    @Test func `why says what is wrong with a question`() async throws {
        let (gateway, _) = try await Self.pushed()
        let why = "\(gateway.opsURL)/v1/instances"
        #expect(try await gateway.curl("GET", "\(why)/\(TestGateway.app)/host-1:none/why").reason == "unknown-instance")
        #expect(try await gateway.curl("GET", "\(why)/\(TestGateway.app)/host-1/why").reason == "bad-request")
        #expect(try await gateway.curl("GET", "\(why)/\(Self.instance)/why?since=soon").reason == "bad-request")
        let program = TestGateway.program
        let data = "\(gateway.folder)/data"
        #expect(try await Command.run(program, ["why", "\(TestGateway.app)/host-1:none", "--data", data]).status == 2)
        #expect(try await Command.run(program, ["why", Self.instance, "--data", "\(data)/none"]).status == 1)
        #expect(try await Command.run(program, ["why", "host-1:scores-0"]).status == 64)
        await gateway.stop()
    }

    @Test func `a log is verified, counted and exported beside its gateway and without it`() async throws {
        let (gateway, _) = try await Self.pushed()
        let data = "\(gateway.folder)/data"
        for isRunning in [true, false] {
            if !isRunning { #expect(await gateway.drain() == 0) }
            let verify = try await Command.run(TestGateway.program, ["log", "verify", "--data", data])
            #expect(verify.status == 0, "\(verify.output)")
            #expect(verify.output.hasSuffix("good\n"))
            let stats = try await Command.run(TestGateway.program, ["log", "stats", "--data", data, "--json"])
            let counted = try JSONSerialization.jsonObject(with: Data(stats.output.utf8)) as? [String: Any]
            let kinds = counted?["kinds"] as? [String: [String: Int]] ?? [:]
            // One for each of two partitions.
            #expect(kinds["push"]?["records"] == 4)
            #expect(kinds["register"]?["records"] == 1)
            let export = try await Command.run(
                TestGateway.program,
                ["log", "export", "--data", data, "--kind", "register"]
            )
            let lines = export.output.split(separator: "\n")
            #expect(lines.count == 1)
            #expect(
                lines.first?.contains(
                    #""record":"register","app":"com.example.scores","host":"host-1","token":"00000000…""#
                ) ?? false
            )
        }
        try FileManager.default.removeItem(atPath: "\(data)/journal.format")
        let verify = try await Command.run(TestGateway.program, ["log", "verify", "--data", data])
        #expect(verify.status == 1)
        #expect(verify.output.contains("FAULT file: journal.format"))
        await gateway.stop()
    }

    @Test func `a backup of a running gateway is restored, and a gateway goes on from it`() async throws {
        let (gateway, bearer) = try await Self.pushed()
        let backup = "\(gateway.folder)/backup"
        let made = try await Command.run(
            TestGateway.program,
            ["backup", "--data", "\(gateway.folder)/data", "--to", backup]
        )
        #expect(made.status == 0, "\(made.errors)")
        let again = try await Command.run(
            TestGateway.program,
            ["backup", "--data", "\(gateway.folder)/data", "--to", backup]
        )
        #expect(again.status == 1)
        #expect(again.errors.contains("is not empty"))
        _ = try await gateway.register(2, teams: ["kraken"], bearer: bearer)
        await gateway.crash()
        try FileManager.default.removeItem(atPath: "\(gateway.folder)/data")
        let restored = try await Command.run(
            TestGateway.program,
            ["restore", "--from", backup, "--data", "\(gateway.folder)/data"]
        )
        #expect(restored.status == 0, "\(restored.errors)")
        let second = try await TestGateway.start(in: gateway.folder, partitions: 2)
        let known = try await second.curl("GET", "\(second.opsURL)/v1/instances/\(Self.instance)")
        #expect(known.status == 200, "\(known.body)")
        // A host that came after the backup is not in it.
        let unknown = try await second.curl("GET", "\(second.opsURL)/v1/instances/com.example.scores/host-2:scores-0")
        #expect(unknown.status == 404)
        await second.stop()
    }

    @Test func `of the backups in a directory the newest are kept, and the gateway tells of the last`() async throws {
        let (gateway, _) = try await Self.pushed()
        let folder = "\(gateway.folder)/backups"
        let old = ["20260101T030000Z", "20260102T030000Z", "20260103T030000Z"]
        // Folders with other names stay; the rest of a failed copy goes.
        let others = ["notes", "20260101T03000Z", "20260101T030000Z-of-mine"]
        for name in old + others + ["20260104T030000Z.partial"] {
            try FileManager.default.createDirectory(atPath: "\(folder)/\(name)", withIntermediateDirectories: true)
        }
        let data = "\(gateway.folder)/data"
        let verb = ["backup", "--data", data, "--to", folder, "--quiet", "--keep"]
        #expect(try await Command.run(TestGateway.program, verb + ["0"]).status == 64)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder).count == 7)
        let before = Date.now.addingTimeInterval(-2)
        let made = try await Command.run(TestGateway.program, verb + ["2"])
        #expect(made.status == 0, "\(made.errors)")
        let left = try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
        let copy = try #require(left.first { !others.contains($0) && !old.contains($0) })
        #expect(Set(left) == Set(others + [old[2], copy]))
        let verify = ["log", "verify", "--data", "\(folder)/\(copy)"]
        #expect(try await Command.run(TestGateway.program, verify).status == 0)
        let told = try await gateway.eventually("the gateway tells of it") {
            let stats = try await gateway.curl("GET", "\(gateway.opsURL)/v1/stats").json
            return (stats["storage"] as? [String: Any])?["lastBackup"] as? String
        }
        let date = try #require(ISO8601DateFormatter().date(from: String(told.prefix(19)) + "Z"))
        #expect(date >= before && date <= Date.now)
        let metrics = try await gateway.curl("GET", "\(gateway.opsURL)/metrics").body
        #expect(metrics.contains("freshet_backup_last_success_timestamp_seconds "))
        await gateway.stop()
    }

    @Test func `a host, or all of an app, is erased at an operator's word`() async throws {
        let (gateway, bearer) = try await Self.pushed()
        for number in 2...5 { _ = try await gateway.register(number, teams: ["kraken"], bearer: bearer) }
        let place = ["--server", gateway.opsURL, "--ca", gateway.ca, "--data", "\(gateway.folder)/data"]
        let erase = ["hosts", "remove", "--yes"] + place
        let one = try await Command.run(TestGateway.program, erase + ["\(TestGateway.app)/host-1"])
        #expect(one.status == 0 && one.output == "Removed 1 host.\n", "\(one.errors)")
        let gone = try await gateway.curl("GET", "\(gateway.opsURL)/v1/instances/\(Self.instance)")
        #expect(gone.status == 404)
        #expect(try await Command.run(TestGateway.program, erase + ["\(TestGateway.app)/host-1"]).status == 2)
        let all = try await Command.run(TestGateway.program, erase + ["--all-of", TestGateway.app, "--json"])
        #expect(all.output == "{\"removed\":4}\n", "\(all.errors)")
        #expect(try await Command.run(TestGateway.program, erase + ["--all-of", TestGateway.app]).status == 2)
        #expect(try await Command.run(TestGateway.program, erase).status == 64)
        #expect(try await Command.run(TestGateway.program, erase + ["host-1"]).status == 64)
        // Earlier decisions about it can still be told, as long as the log has them.
        let why = try await Command.run(TestGateway.program, ["why", Self.instance] + place)
        #expect(why.status == 0, "\(why.errors)")
        #expect(why.output.contains("no host shows it any longer"))
        await gateway.stop()
    }

    @Test func `what is erased with its history is in no file of the data directory`() async throws {
        let (gateway, bearer) = try await Self.pushed()
        // Its token ends with bytes that nothing else has.
        let number = 0x5EC0_FFEE_77
        let token: [UInt8] = [0x5E, 0xC0, 0xFF, 0xEE, 0x77]
        let team = Array("wanderers".utf8)
        _ = try await gateway.register(number, teams: ["wanderers"], bearer: bearer)
        let data = "\(gateway.folder)/data"
        #expect(try !Self.files(in: data, holding: token).isEmpty)
        #expect(try !Self.files(in: data, holding: team).isEmpty)
        let erase =
            ["hosts", "remove", "\(TestGateway.app)/host-\(number)", "--yes", "--history", "--json"] + gateway.access()
        let erased = try await Command.run(TestGateway.program, erase)
        #expect(erased.status == 0, "\(erased.errors)")
        #expect(erased.output.hasPrefix("{\"removed\":1,\"files\":"), "\(erased.output)")
        #expect(try Self.files(in: data, holding: token) == [])
        #expect(try Self.files(in: data, holding: team) == [])
        #expect(try !Self.files(in: data, holding: Array("seahawks".utf8)).isEmpty)
        // With the history a host that is gone already is no mistake.
        let again = try await Command.run(TestGateway.program, erase)
        #expect(again.output.hasPrefix("{\"removed\":0,\"files\":"), "\(again.output) \(again.errors)")
        #expect(await gateway.drain() == 0)
        // The rest is a log that a start goes on with.
        let verified = try await Command.run(TestGateway.program, ["log", "verify", "--data", data, "--quiet"])
        #expect(verified.status == 0, "\(verified.output) \(verified.errors)")
        let second = try await TestGateway.start(in: gateway.folder, partitions: 2)
        #expect(try await second.curl("GET", "\(second.opsURL)/v1/instances/\(Self.instance)").status == 200)
        let gone = try await second.curl(
            "GET",
            "\(second.opsURL)/v1/instances/\(TestGateway.app)/host-\(number):scores-0"
        )
        #expect(gone.status == 404)
        await second.stop()
    }

    /// The files below a folder in which some bytes stand.
    private static func files(in folder: String, holding bytes: [UInt8]) throws -> [String] {
        let names = try FileManager.default.subpathsOfDirectory(atPath: folder)
        return names.filter { name in
            let content = FileManager.default.contents(atPath: "\(folder)/\(name)") ?? Data()
            return content.range(of: Data(bytes)) != nil
        }
    }

    @Test func `what if runs a gateway's log again, and makes a page and numbers of it`() async throws {
        let (gateway, _) = try await Self.pushed()
        let policy = "\(gateway.folder)/tight.yaml"
        try """
        name: tight
        source: "https://example.com/tight"
        date: "2026-11-02"
        rare: 2
        typical: 2
        frequent: 2
        """.write(toFile: policy, atomically: true, encoding: .utf8)
        let data = ["--data", "\(gateway.folder)/data"]
        let page = "\(gateway.folder)/what-if.html"
        let run = try await Command.run(
            TestGateway.program,
            ["what-if", "--policy", policy, "--since", "1h", "--html", page, "--json"] + data
        )
        #expect(run.status == 0, "\(run.errors)")
        let report = try JSONSerialization.jsonObject(with: Data(run.output.utf8)) as? [String: Any]
        #expect(report?["policy"] as? String == "tight")
        let actual = report?["actual"] as? [String: Any]
        #expect(((actual?["reloads"] as? [String: Any])?["issued"] as? Int ?? 0) > 0)
        #expect((actual?["senders"] as? [[String: Any]])?.first?["pushes"] as? Int != nil)
        let looks = try await ReportPageTests.looks(at: page, canvases: 2)
        #expect(looks.first?.text.contains("What if: tight") == true)
        let file = "\(gateway.folder)/what-if.json"
        try run.output.write(toFile: file, atomically: true, encoding: .utf8)
        #expect(try await SchemaTests.faults("what-if-report", [file], in: gateway.folder) == [])
        try "nonsense: 1".write(toFile: policy, atomically: true, encoding: .utf8)
        let bad = try await Command.run(TestGateway.program, ["what-if", "--policy", policy] + data)
        #expect(bad.status == 78)
        #expect(bad.errors.contains("nonsense"))
        await gateway.stop()
    }
}
