import Foundation
import Testing

/// `freshet top`: the dashboard's first view in a terminal.
@Suite struct TopTests {
    private static func arguments(_ gateway: TestGateway, _ more: [String] = []) -> [String] {
        ["top", "--server", gateway.opsURL, "--ca", gateway.ca, "--data", "\(gateway.folder)/data"] + more
    }

    private static func push(_ gateway: TestGateway, bearer: String) async throws {
        let answer = try await gateway.curl(
            "POST",
            "\(gateway.pushURL)/v1/apps/\(TestGateway.app)/pushes",
            bearer: bearer,
            body: #"{"aps":{"content-changed":true},"freshet":{"kind":"scores"}}"#
        )
        try #require(answer.status == 200, "\(answer.body)")
    }

    @Test func `one reading is plain lines, or an object whose numbers add up`() async throws {
        let gateway = try await TestGateway.start(partitions: 2)
        let bearer = try await gateway.providerToken()
        _ = try await gateway.register(1, teams: ["seahawks"], bearer: bearer)
        _ = try await gateway.register(2, teams: ["bears"], bearer: bearer)
        for _ in 0..<3 { try await Self.push(gateway, bearer: bearer) }
        let object = try await gateway.eventually("both partitions have applied") {
            let result = try await Command.run(
                TestGateway.program,
                Self.arguments(gateway, ["--once", "--json"])
            )
            try #require(result.status == 0, "\(result.errors)")
            let object = try JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [String: Any]
            return object?["matched"] as? Int == 6 ? object : nil
        }
        let outcomes = try #require(object["outcomes"] as? [String: Int])
        #expect(outcomes.values.reduce(0, +) == 6)
        #expect(object["accepted"] as? Int == 3)
        #expect(object["balanced"] as? Bool == true)
        // For each of them a reload is out.
        #expect(object["freshness"] as? String == "catchingUp")
        #expect(object["widgets"] as? Int == 4 && object["behind"] as? Int == 4 && object["late"] as? Int == 0)
        let senders = try #require(object["senders"] as? [[String: Any]])
        #expect(senders.map { $0["team"] as? String } == [TestGateway.team])
        #expect(senders.map { $0["pushes"] as? Int } == [3])
        let stats = try await gateway.curl("GET", "\(gateway.opsURL)/v1/stats").json
        let pushes = stats["pushes"] as? [String: Any]
        #expect(pushes?["outcomes"] as? [String: Int] == outcomes.filter { $0.value > 0 })

        let plain = try await Command.run(TestGateway.program, Self.arguments(gateway, ["--once"]))
        #expect(plain.status == 0)
        #expect(!plain.output.contains("\u{1B}"), "a pipe gets no control characters")
        #expect(plain.output.contains("matched") && plain.output.contains(TestGateway.team))
        await gateway.stop()
    }

    @Test func `a terminal is given back as it was, keys sort and end`() async throws {
        let gateway = try await TestGateway.start()
        let program = ([TestGateway.program] + Self.arguments(gateway)).joined(separator: " ")
        // `script` gives it a terminal; what the terminal is set to before and after is said by stty.
        let session = "stty rows 30 cols 100; stty -g; \(program); echo status $?; stty -g"
        let result = try await Command.run("script", ["-qec", session, "/dev/null"], input: "ssq")
        let output = result.output
        let settings = output.split(whereSeparator: \.isNewline).filter { $0.split(separator: ":").count > 10 }
        // What is typed too early is echoed before the first line.
        let after = try #require(settings.last)
        #expect(settings.count == 2 && settings.first?.hasSuffix(after) == true, "\(settings)")
        #expect(output.contains("sorted by pushes") && output.contains("sorted by matched"))
        #expect(output.contains("status 0"), "\(output)")
        #expect(output.contains("\u{1B}[?1049h") && output.contains("\u{1B}[?25h\u{1B}[?1049l"))
        await gateway.stop()
    }

    @Test func `it says when the gateway is away, refuses or is none`() async throws {
        let token = "an-operator-token-of-a-test"
        let gateway = try await TestGateway.start(environment: ["FRESHET_OPS_TOKENS": token])
        let refused = try await Command.run(TestGateway.program, Self.arguments(gateway, ["--once"]))
        #expect(refused.status == 2)
        #expect(refused.errors.contains("401"), "\(refused.errors)")
        let file = "\(gateway.folder)/operator"
        try "# mine\n\(token)\n".write(toFile: file, atomically: true, encoding: .utf8)
        let admitted = try await Command.run(
            TestGateway.program,
            Self.arguments(gateway, ["--once", "--token-file", file])
        )
        #expect(admitted.status == 0, "\(admitted.errors)")
        // It goes on asking; what it knew stays on the screen.
        let following = try Command(
            TestGateway.program,
            Self.arguments(gateway, ["--interval", "1", "--token-file", file])
        )
        var hasCrashed = false
        for await line in following.lines {
            if !hasCrashed, line.hasPrefix("SENDER") {
                hasCrashed = true
                await gateway.crash()
            }
            if line.contains("does not answer") { break }
        }
        following.terminate()
        let ended = await following.wait()
        #expect(ended.status == 0 && ended.errors.contains("does not answer"), "\(ended.errors)")
        let away = try await Command.run(TestGateway.program, Self.arguments(gateway, ["--once"]))
        #expect(away.status == 1)
        #expect(away.errors.contains("does not answer") && !away.errors.contains(token), "\(away.errors)")
        for bad in [["--interval", "0"], ["--sort", "cost"]] {
            #expect(try await Command.run(TestGateway.program, Self.arguments(gateway, bad)).status == 64)
        }
        await gateway.stop()
    }
}
