import Foundation
import Testing

/// The program's verbs, its start and its end.
@Suite struct ProgramTests {
    @Test func `a bad configuration is refused with every fault and its line`() async throws {
        let folder = try TestGateway.makeFolder()
        let file = "\(folder)/freshet.yaml"
        try """
        partitions: 0
        listeners:
          push: {port: 99999}
          hosst: {port: 1}
        teams:
          - id: TEAM
            keys: [{id: K, file: missing.p8}]
        """.write(toFile: file, atomically: true, encoding: .utf8)
        for verb in ["check-config", "serve"] {
            let result = try await Command.run(TestGateway.program, [verb, "--config", file])
            #expect(result.status == 78)
            for place in ["\(file):1:", "\(file):3:", "\(file):4:"] {
                #expect(result.errors.contains(place), "\(verb): \(result.errors)")
            }
            #expect(result.errors.contains("hosst"))
        }
        try FileManager.default.removeItem(atPath: folder)
    }

    private static func check(_ folder: String, _ options: [String] = []) async throws -> Command.Result {
        let file = ["--config", "\(folder)/freshet.yaml"]
        return try await Command.run(TestGateway.program, ["check-config"] + file + options)
    }

    @Test func `check-config tells programs what is wrong, and where`() async throws {
        let folder = try TestGateway.makeFolder()
        try await TestGateway.makeCertificates(in: folder)
        let other = try await TestGateway.makeCertificates(named: "other", in: folder, [])
        try "tls: {certificate: certs/server.pem, key: \(other)/server.key}".write(
            toFile: "\(folder)/freshet.yaml",
            atomically: true,
            encoding: .utf8
        )
        let result = try await Self.check(folder, ["--json"])
        #expect(result.status == 78)
        let found = try JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [String: Any]
        let fault = (found?["faults"] as? [[String: Any]])?.first
        #expect(
            fault?["file"] as? String == "\(folder)/freshet.yaml" && fault?["line"] as? Int == 1,
            "\(result.output)"
        )
        #expect((fault?["key"] as? String)?.hasPrefix("tls.") == true)
        let warnings = (found?["warnings"] as? [[String: Any]])?.compactMap { $0["key"] as? String }
        #expect(warnings == ["teams", "apps"])
        try FileManager.default.removeItem(atPath: folder)
    }

    @Test func `check-config tells programs of warnings, and on demand what is in force`() async throws {
        let folder = try TestGateway.makeFolder()
        try await TestGateway.makeCertificates(in: folder)
        try "tls: {certificate: certs/server.pem, key: certs/server.key}".write(
            toFile: "\(folder)/freshet.yaml",
            atomically: true,
            encoding: .utf8
        )
        for options in [["--json"], ["--json", "--show"]] {
            let result = try await Self.check(folder, options)
            #expect(result.status == 0 && result.errors.isEmpty, "\(result)")
            let found = try JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [String: Any]
            #expect((found?["faults"] as? [Any])?.isEmpty == true)
            let warnings = (found?["warnings"] as? [[String: Any]])?.compactMap { $0["key"] as? String }
            #expect(warnings == ["teams", "apps"])
            #expect((found?["configuration"] as? [String: Any] != nil) == (options.count == 2), "\(result)")
        }
        try FileManager.default.removeItem(atPath: folder)
    }

    @Test func `before a start check-config sees ports in use and a directory that cannot be made`() async throws {
        let gateway = try await TestGateway.start()
        let ports = ["host", "ops"].map { "\($0)=0" }.map { "listeners.\($0.replacing("=", with: ".port="))" }
        let free = ports.flatMap { ["--set", $0] }
        let taken = ["--live", "--set", "listeners.push.port=\(gateway.pushPort)"] + free
        #expect(try await Self.check(gateway.folder, free).status == 0)
        let result = try await Self.check(gateway.folder, taken)
        #expect(result.status == 78)
        #expect(
            result.errors.contains("listeners.push.port: ") && result.errors.contains("another program listens there"),
            "\(result.errors)"
        )
        let folder =
            ["--live", "--set", "listeners.push.port=0", "--set", "dataDirectory=\(gateway.folder)/freshet.yaml/data"]
            + free
        let refused = try await Self.check(gateway.folder, folder)
        #expect(refused.status == 78 && refused.errors.contains("freshet.yaml is not a folder"), "\(refused.errors)")
        await gateway.stop()
    }

    @Test func `a service manager is told that the gateway is up, how it does, and that it stops`() async throws {
        let folder = try TestGateway.makeFolder()
        // A path of at most 103 bytes, as sockets have it.
        let socket = "/tmp/freshet-\(UUID().uuidString.prefix(8)).sock"
        let listen = """
            import socket
            s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
            s.bind("\(socket)")
            print("listening", flush=True)
            while True:
                for line in s.recv(4096).decode().splitlines():
                    print(line, flush=True)
            """
        let manager = try Command("python3", ["-c", listen])
        var lines = manager.lines.makeAsyncIterator()
        #expect(await lines.next() == "listening")
        // A watchdog that bites after a day hears at once that all is well; one that watches another process is none.
        let gateway = try await TestGateway.start(
            in: folder,
            environment: ["NOTIFY_SOCKET": socket, "WATCHDOG_USEC": "86400000000"]
        )
        var heard: [String] = []
        let wanted = ["READY=1", "STATUS=ready", "WATCHDOG=1"]
        while !wanted.allSatisfy(heard.contains), let line = await lines.next() { heard.append(line) }
        for line in ["READY=1", "WATCHDOG=1"] { #expect(heard.filter { $0 == line }.count == 1) }
        gateway.sendTerminate()
        while !heard.contains("STATUS=draining"), let line = await lines.next() { heard.append(line) }
        #expect(heard.suffix(2) == ["STOPPING=1", "STATUS=draining"])
        #expect(await gateway.exitStatus() == 0)
        manager.killHard()
        _ = await manager.wait()
        try? FileManager.default.removeItem(atPath: socket)
        try FileManager.default.removeItem(atPath: folder)
    }

    @Test func `not ready any more, it goes on accepting for as long as it is to, and no longer`() async throws {
        let long = try await TestGateway.start(extra: "timeouts: {lameDuck: 10m}")
        long.sendTerminate()
        _ = try await long.eventually("it is not ready") {
            try await long.curl("GET", "\(long.opsURL)/readyz").status == 503 ? true : nil
        }
        // Each on a connection of its own.
        let bearer = try await long.hostCredential(TestGateway.token(1), host: "host-1")
        #expect(try await long.register(1, teams: ["kraken"], bearer: bearer).status == 200)
        #expect(try await long.curl("GET", "\(long.opsURL)/livez").status == 200)
        await long.crash()
        #expect(await long.log().contains("draining: not ready, but still accepting requests"))
        let short = try await TestGateway.start(extra: "timeouts: {lameDuck: 1ms}")
        short.sendTerminate()
        #expect(await short.exitStatus() == 0)
        for gateway in [long, short] { try FileManager.default.removeItem(atPath: gateway.folder) }
    }

    @Test(arguments: ["human", "json"])
    func `what systemd's journal takes has its level before it`(format: String) async throws {
        let folder = try TestGateway.makeFolder()
        try await TestGateway.makeCertificates(in: folder, ["--topic", TestGateway.topic])
        try TestGateway.configuration(1, "", "", false, "")
            .write(toFile: "\(folder)/freshet.yaml", atomically: true, encoding: .utf8)
        // Where standard error is another stream than the journal's, lines are as ever.
        let script = """
            import os, subprocess, sys
            for shift in [0, 1]:
                read, write = os.pipe()
                status = os.fstat(write)
                environment = dict(os.environ, JOURNAL_STREAM=f"{status.st_dev}:{status.st_ino + shift}")
                program = subprocess.Popen(sys.argv[1:], stderr=write, env=environment)
                os.close(write)
                for line in os.fdopen(read):
                    print(shift, line, end="")
                    if "ready" in line:
                        program.terminate()
                program.wait()
            """
        let serve = ["serve", "--config", "\(folder)/freshet.yaml", "--in-memory", "--set", "log.format=\(format)"]
        let result = try await Command.run("python3", ["-c", script, TestGateway.program] + serve)
        let lines = result.output.split(separator: "\n")
        let told = lines.filter { $0.hasPrefix("0 ") }.map { $0.dropFirst(2) }
        #expect(told.allSatisfy { $0.prefixMatch(of: /<[2-7]>/) != nil }, "\(result.output)")
        #expect(told.contains { $0.hasPrefix("<4>") && $0.contains("the log is in memory") })
        #expect(told.contains { $0.hasPrefix("<5>") && $0.contains("ready") })
        #expect(lines.contains { $0.hasPrefix("1 ") } && lines.allSatisfy { !$0.hasPrefix("1 <") })
        try FileManager.default.removeItem(atPath: folder)
    }

    @Test func `config diff shows what a reload would change`() async throws {
        let gateway = try await TestGateway.start()
        let verb = ["config", "diff"] + gateway.access()
        let same = try await Command.run(TestGateway.program, verb)
        #expect(same.status == 0 && same.output == "Nothing would change.\n", "\(same.errors)")
        let file = "\(gateway.folder)/freshet.yaml"
        let text = try String(contentsOfFile: file, encoding: .utf8)
        try (text + "\ndeliveries: {maxRetry: 1m}\n").write(toFile: file, atomically: true, encoding: .utf8)
        let changed = try await Command.run(TestGateway.program, verb)
        #expect(changed.status == 0 && changed.output == "deliveries.maxRetry: 15m -> 1m\n", "\(changed.output)")
        try (text + "\ndeliveriess: {}\n").write(toFile: file, atomically: true, encoding: .utf8)
        let refused = try await Command.run(TestGateway.program, verb)
        #expect(refused.status == 78 && refused.errors.contains("did you mean deliveries?"), "\(refused.errors)")
        await gateway.stop()
    }

    @Test func `a missing key is told before anything starts`() async throws {
        let folder = try TestGateway.makeFolder()
        let file = "\(folder)/freshet.yaml"
        try "tls: {certificate: none.pem, key: none.key}".write(toFile: file, atomically: true, encoding: .utf8)
        let result = try await Command.run(TestGateway.program, ["check-config", "--config", file])
        #expect(result.status == 78)
        #expect(result.errors.contains("none.pem"))
        try FileManager.default.removeItem(atPath: folder)
    }

    @Test func `SIGTERM drains: connections get GOAWAY and the process ends well`() async throws {
        let gateway = try await TestGateway.start()
        let bearer = try await gateway.providerToken()
        _ = try await gateway.register(1, teams: ["seahawks"], bearer: bearer)
        let stream = try Command(
            "curl",
            [
                "--silent", "--no-buffer", "--http2", "--cacert", gateway.ca, "--header",
                "authorization: bearer \(bearer)", "\(gateway.hostURL)/v1/hosts/\(TestGateway.token(1))/events",
            ]
        )
        var lines = stream.lines.makeAsyncIterator()
        while let line = await lines.next(), !line.hasPrefix("data: ") {}
        gateway.sendTerminate()
        #expect(await gateway.exitStatus() == 0)
        // The stream was finished, not cut: curl is content.
        #expect(await stream.wait().status == 0)
        try FileManager.default.removeItem(atPath: gateway.folder)
    }

    /// The pushes are more work than a drain has time for: each searches many long values for many patterns in vain.
    @Test func `SIGTERM ends a gateway that has much to apply, also as it starts, and nothing is lost`() async throws {
        let (folder, pushes) = (try TestGateway.makeFolder(), 60)
        let patient = "fairness: {undecided: 1h, pushMax: 1h}\ntimeouts: {drain: 1s}"
        let first = try await TestGateway.start(in: folder, extra: patient)
        let bearer = try await first.providerToken()
        let values = (0..<200).map { String(repeating: "a", count: 900) + "\($0)" }
        _ = try await first.register(1, teams: values, bearer: bearer)
        let patterns = (0..<20).map { #"{"wildcard":"*\#(String(repeating: "a", count: 500 - $0))b*"}"# }
        let url = "\(first.pushURL)/v1/apps/\(TestGateway.app)/pushes"
        let sent = try await first.curl(
            "POST",
            url,
            bearer: bearer,
            body: """
                {"aps":{"content-changed":true},\
                "freshet":{"kind":"scores","match":{"team":[\(patterns.joined(separator: ","))]}}}
                """,
            options: ["--http2", "--parallel"] + Array(repeating: url, count: pushes - 1)
        )
        #expect(sent.status == 200, "\(sent.body)")
        let words = await first.log()
        #expect(words.contains("the next start applies the rest of the log"), "\(words)")
        #expect(words.contains(#""stopped""#), "\(words)")

        // It says that it may open few files before it begins to read its log.
        let serve = [TestGateway.program, "serve", "--config", "\(folder)/freshet.yaml"]
        let second = try Command("prlimit", ["--nofile=2000"] + serve)
        for await line in second.lines where line.contains("LimitNOFILE") { second.terminate() }
        let ended = await second.wait()
        #expect(ended.status == 0 && ended.errors.contains(#""stopped""#), "\(ended.errors)")
        #expect(!ended.errors.contains(#""ready""#))

        let third = try await TestGateway.start(in: folder, extra: patient)
        let stats = try await third.curl("GET", "\(third.opsURL)/v1/stats").json
        #expect((stats["pushes"] as? [String: Any])?["accepted"] as? Int == pushes)
        await third.stop()
    }

    @Test func `what was registered and pushed is there after a restart`() async throws {
        let folder = try TestGateway.makeFolder()
        let first = try await TestGateway.start(in: folder)
        let bearer = try await first.providerToken()
        _ = try await first.register(1, teams: ["seahawks"], bearer: bearer)
        let timeline = try await first.curl(
            "PUT",
            "\(first.hostURL)/v1/hosts/\(TestGateway.token(1))/widgets/scores-0/timeline",
            bearer: bearer,
            body: #"{"policy":"never","digest":"sha256:1","entries":[{"date":"2026-11-21T12:00:00Z"}]}"#
        )
        #expect(timeline.status == 200, "\(timeline.body)")
        let before = try await first.curl("GET", "\(first.opsURL)/v1/instances/com.example.scores/host-1:scores-0")
        #expect(await first.drain() == 0)

        let second = try await TestGateway.start(in: folder)
        let after = try await second.curl("GET", "\(second.opsURL)/v1/instances/com.example.scores/host-1:scores-0")
        #expect(before.status == 200)
        // The next conforming instant moves with the clock; all decisions stay.
        for key in ["configuration", "timeline", "outstanding", "decisions", "generation"] {
            #expect(try Self.text(before, key) == Self.text(after, key), "\(key)")
        }
        await second.stop()
    }

    /// A member of an answer as JSON with sorted names.
    private static func text(_ answer: TestGateway.Answer, _ key: String) throws -> String {
        let value = try #require(answer.json[key])
        let data = try JSONSerialization.data(withJSONObject: [value], options: .sortedKeys)
        return String(decoding: data, as: UTF8.self)
    }

    @Test func `two gateways cannot own one data directory`() async throws {
        let gateway = try await TestGateway.start()
        let result = try await Command.run(
            TestGateway.program,
            ["serve", "--config", "\(gateway.folder)/freshet.yaml"]
        )
        #expect(result.status == 1)
        #expect(result.errors.contains("\(gateway.pid)"), "\(result.errors)")
        await gateway.stop()
    }

    @Test func `ping, send, import and export talk to a gateway`() async throws {
        let gateway = try await TestGateway.start()
        let ping = try await Command.run(
            TestGateway.program,
            ["ping", "--count", "2"] + gateway.access(gateway.pushURL)
        )
        #expect(ping.status == 0, "\(ping.errors)")
        #expect(ping.output.split(separator: "\n").count == 2)

        let file = "\(gateway.folder)/hosts.ndjson"
        try (1...3).map { TestGateway.registration($0, teams: ["seahawks"], token: TestGateway.token($0)) }
            .joined(separator: "\n").write(toFile: file, atomically: true, encoding: .utf8)
        let imported = try await Command.run(
            TestGateway.program,
            ["import", "--app", TestGateway.app, file] + gateway.access(gateway.hostURL) + gateway.sender
        )
        #expect(imported.status == 0, "\(imported.errors)")

        func export(_ gateway: TestGateway, _ name: String) async throws -> [String] {
            let path = "\(gateway.folder)/\(name)"
            let verb = ["export", "--app", TestGateway.app, "--batch", "2", path]
            let options = gateway.access(gateway.hostURL) + gateway.sender
            let exported = try await Command.run(TestGateway.program, verb + options)
            #expect(exported.status == 0, "\(exported.errors)")
            let again = try await Command.run(TestGateway.program, verb + options)
            #expect(again.status == 1 && again.errors.contains("exists already"), "\(again.errors)")
            return try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").map { "\($0)" }.sorted()
        }
        let lines = try await export(gateway, "exported.ndjson")
        #expect(lines.count == 3)
        let other = try await TestGateway.start(partitions: 3)
        let moved = try await Command.run(
            TestGateway.program,
            ["import", "--app", TestGateway.app, "\(gateway.folder)/exported.ndjson"]
                + other.access(other.hostURL) + other.sender
        )
        #expect(moved.status == 0, "\(moved.errors)")
        #expect(try await export(other, "again.ndjson") == lines)
        await other.stop()

        let send = ["send", "--app", TestGateway.app] + gateway.access(gateway.pushURL) + gateway.sender
        let dry = try await Command.run(
            TestGateway.program,
            send + ["--kind", "scores", "--match", #"{"team":["seahawks"]}"#, "--dry-run"]
        )
        #expect(dry.output.contains(#""matched":3"#), "\(dry.output)\(dry.errors)")
        let pushed = try await Command.run(TestGateway.program, send + ["--push-token", TestGateway.token(2)])
        #expect(pushed.status == 0)
        #expect(pushed.output.hasPrefix("accepted "))
        let bulk = "\(gateway.folder)/pushes.ndjson"
        let payload = #"{"aps":{"content-changed":true},"freshet":{"all":true}}"#
        try [#"{"payload":\#(payload)}"#, #"{"apns-priority":2,"payload":\#(payload)}"#].joined(separator: "\n")
            .write(toFile: bulk, atomically: true, encoding: .utf8)
        let sent = try await Command.run(TestGateway.program, send + ["--bulk", bulk])
        #expect(sent.status == 2, "\(sent.errors)")
        #expect(sent.output.contains(#"{"line":1,"status":200,"#), "\(sent.output)")
        #expect(sent.output.contains(#""rejection":{"reason":"BadPriority""#), "\(sent.output)")
        #expect(try await Command.run(TestGateway.program, send + ["--bulk", bulk, "--all"]).status == 64)
        for aim in [[], ["--all", "--kind", "scores"], ["--all", "--push-token", TestGateway.token(2)]] {
            #expect(try await Command.run(TestGateway.program, send + aim).status == 64, "\(aim)")
        }
        let refused = try await Command.run(TestGateway.program, send + ["--push-token", TestGateway.token(9)])
        #expect(refused.status == 2)
        #expect(refused.output.contains("BadDeviceToken"))
        await gateway.stop()
    }

    @Test func `an untrusted certificate is told with what to do`() async throws {
        let gateway = try await TestGateway.start()
        let result = try await Command.run(
            TestGateway.program,
            ["ping", "--server", gateway.pushURL]
        )
        #expect(result.status == 1)
        #expect(
            result.errors.contains("is not trusted") && result.errors.contains("give the CA with --ca"),
            "\(result.errors)"
        )
        await gateway.stop()
    }
}
