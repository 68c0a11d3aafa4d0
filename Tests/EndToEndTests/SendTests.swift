import Foundation
import Testing

/// `freshet send` beyond a plain push, and tokens as a shell wants them.
@Suite struct SendTests {
    private static func send(_ gateway: TestGateway, _ options: [String]) -> [String] {
        ["send", "--app", TestGateway.app] + gateway.access(gateway.pushURL) + gateway.sender + options
    }

    @Test func `a token can be printed as the header that it is sent in`() async throws {
        let gateway = try await TestGateway.start()
        let signer = ["--key", gateway.key, "--kid", TestGateway.kid, "--team", TestGateway.team, "--header"]
        let minted = try await Command.run(TestGateway.program, ["token", "mint"] + signer)
        let host = ["--app", TestGateway.app, "--push-token", TestGateway.token(1)]
        let credential = try await Command.run(TestGateway.program, ["token", "host"] + signer + host)
        for text in [minted.output, credential.output] {
            let header = text.trimmingCharacters(in: .newlines)
            #expect(header.hasPrefix("authorization: bearer ey"))
            let answer = try await gateway.curl(
                "PUT",
                "\(gateway.hostURL)/v1/hosts/\(TestGateway.token(1))/widgets",
                headers: [header],
                body: #"{"app":"\#(TestGateway.app)","instances":[]}"#
            )
            #expect(answer.status == 200, "\(answer.body)")
        }
        await gateway.stop()
    }

    @Test(arguments: [false, true])
    func `a push is followed until nothing can become of it any more`(isJSON: Bool) async throws {
        let gateway = try await TestGateway.start()
        let bearer = try await gateway.providerToken()
        _ = try await gateway.register(1, teams: ["seahawks"], bearer: bearer)
        let options = ["--kind", "scores", "--priority", "10", "--follow"] + (isJSON ? ["--json"] : [])
        let following = try Command(TestGateway.program, Self.send(gateway, options))
        var lines: [String] = []
        for await line in following.lines {
            lines.append(line)
            guard line.contains("1 issued") || line.contains(#""issued":1"#) else { continue }
            try await gateway.acknowledge(try await gateway.outstanding(1, bearer: bearer), bearer: bearer)
        }
        #expect(await following.wait().status == 0, "\(lines)")
        #expect(lines.first?.hasPrefix(isJSON ? #"{"apns-id":""# : "accepted ") == true, "\(lines)")
        let last = try #require(lines.last)
        let end = isJSON ? #""outcomes":{"reloaded":1},"isComplete":true"# : "matched 1: 1 reloaded"
        #expect(last.contains(end), "\(last)")
        await gateway.stop()
    }

    @Test func `attributes, a date and a bound are sent as they are given`() async throws {
        let gateway = try await TestGateway.start()
        let bearer = try await gateway.providerToken()
        let answer = try await gateway.curl(
            "PUT",
            "\(gateway.hostURL)/v1/hosts/\(TestGateway.token(1))/widgets",
            bearer: bearer,
            body: """
                {"app":"\(TestGateway.app)","instances":[
                {"id":"a","kind":"scores","family":"systemSmall","configuration":{"team":"rams"}},
                {"id":"b","kind":"scores","family":"systemSmall","configuration":{"team":"rams"},"when":{"inning":7}}]}
                """
        )
        try #require(answer.status == 200, "\(answer.body)")
        func run(_ options: [String]) async throws -> Command.Result {
            try await Command.run(TestGateway.program, Self.send(gateway, ["--kind", "scores"] + options))
        }
        #expect(try await run(["--dry-run"]).output.contains(#""matched":1,"#))
        #expect(try await run(["--dry-run", "--attributes", #"{"inning":7}"#]).output.contains(#""matched":2,"#))
        let bounded = try await run(["--attributes", #"{"inning":7}"#, "--max-matched", "1"])
        #expect(bounded.status == 2 && bounded.output.contains("409"), "\(bounded.output)")
        let tomorrow = "\(Int(Date().timeIntervalSince1970) + 86_400)"
        let id = UUID().uuidString.lowercased()
        let late = try await run(["--not-before", tomorrow, "--max-matched", "1", "--id", id])
        #expect(late.output == "accepted \(id)\n", "\(late.output)\(late.errors)")
        #expect(try await gateway.settled(id).json["outcomes"] as? [String: Int] == ["deferred": 1])
        await gateway.stop()
    }

    @Test(arguments: [
        ["--all", "--dry-run", "--follow"], ["--all", "--max-matched", "0"], ["--all", "--attributes", "{"],
        ["--push-token", TestGateway.token(1), "--max-matched", "1"],
    ])
    func `what does not go together is wrong usage`(_ options: [String]) async throws {
        let command = ["send", "--app", TestGateway.app] + options
        let result = try await Command.run(TestGateway.program, command)
        #expect(result.status == 64, "\(result.output)\(result.errors)")
    }
}
