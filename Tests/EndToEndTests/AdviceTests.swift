import Foundation
import Testing

/// What the dashboard says that somebody should do, from the numbers alone: its rules, run by Node.js.
@Suite struct AdviceTests {
    private struct Advice: Decodable, Equatable {
        let level: String
        let text: String
    }

    @Test(
        arguments: [
            (
                #"{"of": {"app": "a.b"}, "since": "2026-11-25", "by": "night", "isConfigured": true}"#,
                "Paused: a.b, since "
            ),
            (
                #"{"of": {"app": "a.b", "kind": "k"}, "since": "2026-11-25", "isConfigured": false}"#,
                "Paused: k of a.b (not in the configuration any more), since "
            ),
            (
                #"{"of": {"sender": "TEAM"}, "since": "2026-11-25", "isConfigured": true}"#,
                "Paused: Pushes of TEAM, since "
            ),
        ]
    )
    func `what is paused is said above every view`(order: String, sentence: String) async throws {
        let said = try await self.run("pauseText(\(order))", as: String.self)
        #expect(said.hasPrefix(sentence) && said.hasSuffix("until somebody resumes it."), "\(said)")
        #expect(said.contains(" by night") == order.contains("night"))
    }

    private static func health(_ state: String, _ more: String = "") -> String {
        """
        {"state": "\(state)", "attempts": 9, "waiting": 3, "oldestWaitingSeconds": 90, "troubleSince": "2026-11-25T10:00:00Z",
         "lastAnswer": {"result": "failure", "at": "2026-11-25T10:01:00Z", "status": 503, "reason": "ServiceUnavailable"}\(more)}
        """
    }

    @Test(arguments: ["upstreams", "webhooks"])
    func `what takes nothing is something to do, what failed once is not`(list: String) async throws {
        for (state, isTold) in [("inTrouble", true), ("failing", false), ("well", false), ("untried", false)] {
            let places = #"{"\#(list)": [{"app": "a.b", "health": \#(Self.health(state))}]}"#
            let found = try await self.run("advice({ stats: {}, places: \(places) })", as: [Advice].self)
            #expect(found.count == (isTold ? 1 : 0))
            #expect(found.allSatisfy { $0.level == "bad" && $0.text.contains("a.b has only failed since ") })
        }
    }

    @Test func `a timeline provider that is down is something to do, with what it said and what waits`() async throws {
        let provider = #"{"app": "a.b", "kind": "k", "health": \#(Self.health("inTrouble"))}"#
        let said = try await self.run(
            "advice({ stats: {}, providers: [\(provider)] }).map((one) => one.text + one.act)",
            as: [String].self
        )
        #expect(said.count == 1)
        #expect(said[0].hasPrefix("The timeline provider of k of a.b has only failed since "), "\(said)")
        #expect(said[0].contains("It said: 503 ServiceUnavailable at "), "\(said)")
        #expect(said[0].hasSuffix(" 3 wait, the oldest for 1 min 30 s."), "\(said)")
    }

    private func advice(_ stats: String) async throws -> [Advice] {
        try await self.run("advice({ stats: \(stats) })", as: [Advice].self)
    }

    /// What an expression of the rules comes to.
    private func run<Value: Decodable>(_ expression: String, as type: Value.Type) async throws -> Value {
        let folder = try TestGateway.makeFolder()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try #"{"type": "module"}"#.write(toFile: "\(folder)/package.json", atomically: true, encoding: .utf8)
        for file in ["advice.js", "numbers.js"] {
            let page = "\(TestGateway.root)/Sources/DashboardPage/Page/\(file)"
            try FileManager.default.copyItem(atPath: page, toPath: "\(folder)/\(file)")
        }
        let script = """
            import { advice, pauseText } from "./advice.js";
            console.log(JSON.stringify(\(expression)));
            """
        try script.write(toFile: "\(folder)/ask.js", atomically: true, encoding: .utf8)
        let result = try await Command.run("node", ["\(folder)/ask.js"])
        try #require(result.status == 0, "\(result.errors)")
        return try JSONDecoder().decode(type, from: Data(result.output.utf8))
    }

    private static func stats(_ secondsAgo: Int) -> String {
        """
        {"ready": true, "listeners": {"push": {"cutOff":
            {"maxWindowUpdates": {"times": 3, "peer": "192.0.2.7:5", "secondsAgo": \(secondsAgo)}}}, "ops": {}}}
        """
    }

    @Test(arguments: [0, 3600])
    func `connections that a limit has ended are something to look at, for an hour`(secondsAgo: Int) async throws {
        let found = try await self.advice(Self.stats(secondsAgo))
        let ago = secondsAgo == 0 ? "1 s" : "1 h"
        let text = "Connections of push that the limit maxWindowUpdates ended: 3, the last from 192.0.2.7:5 \(ago) ago."
        #expect(found == [Advice(level: "warn", text: text)])
        #expect(try await self.advice(Self.stats(3601)) == [])
    }
}
