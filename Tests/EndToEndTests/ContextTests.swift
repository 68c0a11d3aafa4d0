import Foundation
import Settings
import Testing
@testable import FreshetCLI

/// Which gateway a verb talks to, and what it is shown: by options, variables and contexts.
@Suite struct ContextTests {
    /// A file of contexts in a folder of its own, for its user alone.
    private static func file(_ text: String, mode: Int = 0o600) throws -> String {
        let path = "\(try TestGateway.makeFolder())/contexts.yaml"
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
        return path
    }

    private static let two = """
        current: here
        contexts:
          - {name: here, server: "https://localhost:1001", ca: ca.pem, operatorToken: of-here, kid: K}
          - {name: there, server: "https://there.example", pushServer: "https://push.example:1003", tokenFile: /etc/token}
        """

    private static func access(
        _ listener: GatewayListener = .ops,
        _ options: [GatewaySetting: String] = [:],
        context: String? = nil,
        _ variables: [String: String] = [:],
        file: String = "/nowhere/contexts.yaml"
    ) throws -> GatewayAccess {
        let environment = variables.merging(["FRESHET_CONTEXTS": file]) { first, _ in first }
        return try GatewayAccess(listener, options: options, context: context, environment: environment)
    }

    @Test func `options count before variables, variables before contexts, contexts before this machine`() throws {
        let file = try Self.file(Self.two)
        let flag: [GatewaySetting: String] = [.server: "https://flag.example:1"]
        let variable = ["FRESHET_SERVER": "https://variable.example:2"]
        for (options, variables, url, place) in [
            (flag, variable, "https://flag.example:1", "the command line"),
            ([:], variable, "https://variable.example:2", "FRESHET_SERVER"),
            ([:], ["FRESHET_CONTEXT": "there"], "https://there.example:9443", "the context there"),
            ([:], [:], "https://localhost:1001", "the context here"),
        ] as [([GatewaySetting: String], [String: String], String, String)] {
            let access = try Self.access(.ops, options, variables, file: file)
            #expect(access.url == url && access.place == place, "\(access)")
        }
        let none = try Self.access()
        #expect(none.url == "https://127.0.0.1:9443" && none.place == "the default")
        // One that an option names is as good as options.
        let named = try Self.access(context: "there", variable, file: file)
        #expect(named.url == "https://there.example:9443" && named.value(.tokenFile)?.text == "/etc/token")
    }

    @Test func `nothing of a context is shown to a gateway that something else names`() throws {
        let file = try Self.file(Self.two)
        #expect(try Self.access(file: file).operatorToken()?.text == "of-here")
        let flag = try Self.access(.ops, [.server: "https://localhost:1001"], file: file)
        #expect(flag.value(.operatorToken) == nil && flag.value(.kid) == nil)
        #expect(try Self.access(.ops, [:], ["FRESHET_SERVER": "https://a.example"], file: file).value(.ca) == nil)
        // A variable counts before the value of the context that is talked to.
        let token = try Self.access(.ops, [:], ["FRESHET_OPERATOR_TOKEN": "mine"], file: file).operatorToken()
        #expect(token?.text == "mine" && token?.place == "FRESHET_OPERATOR_TOKEN")
    }

    @Test func `listeners for senders and hosts are beside the one for operators, or where they are said to be`() throws
    {
        let file = try Self.file(Self.two)
        #expect(try Self.access(.push, file: file).url == "https://localhost:2197")
        #expect(try Self.access(.host, file: file).url == "https://localhost:8443")
        #expect(try Self.access(.push, context: "there", file: file).url == "https://push.example:1003")
        let variables = ["FRESHET_SERVER": "https://[::1]:7", "FRESHET_HOST_SERVER": "https://h.example:8"]
        #expect(try Self.access(.push, [:], variables).url == "https://[::1]:2197")
        #expect(try Self.access(.host, [:], variables).url == "https://h.example:8")
        #expect(try Self.access(.host, [.hostServer: "https://h.example"], variables).url == "https://h.example:8443")
    }

    @Test(arguments: ["http://a.example", "a.example:9443", "https://", "https://a.example/path", ""])
    func `what is no address of a gateway is refused`(text: String) {
        #expect(throws: (any Error).self) { try Self.access(.ops, [.server: text]) }
    }

    @Test(arguments: [(0o600, true), (0o400, true), (0o640, false), (0o604, false), (0o602, false)])
    func `a file that others may use is refused, with what to do`(mode: Int, isTaken: Bool) throws {
        let path = try Self.file(Self.two, mode: mode)
        guard !isTaken else {
            #expect(try ContextFile.read(path).contexts.map(\.name) == ["here", "there"])
            return
        }
        let fault = #expect(throws: ContextFile.ReadError.self) { try ContextFile.read(path) }
        #expect(fault?.description.contains("chmod 600 \(path)") == true)
    }

    @Test func `a file says what is wrong with it, and where`() throws {
        for (text, sentence) in [
            ("contexts:\n  - {name: a, serverr: x}", ":2:15: contexts[0].serverr: is not a key of this section"),
            ("contexts:\n  - {server: x}", ":2:5: contexts[0].name: is missing"),
            ("contexts: [{name: a}, {name: a}]", "is also the name of another context"), ("a: [", "is not YAML"),
        ] {
            let fault = #expect(throws: ContextFile.ReadError.self) { try ContextFile.parse(text, "/x/contexts.yaml") }
            #expect(fault?.description.contains(sentence) == true, "\(fault as Any)")
        }
        #expect(try ContextFile.parse("# nothing yet\n", "/x/contexts.yaml") == ContextFile())
        let path = try ContextFile.parse("contexts: [{name: a, ca: b/ca.pem}]", "/x/contexts.yaml")
        #expect(path.contexts[0].values == [.ca: "/x/b/ca.pem"])
    }

    @Test func `what is written is read, whatever is in it`() throws {
        var file = ContextFile(current: "it's \"one\": #1")
        for (index, setting) in GatewaySetting.ofContexts.enumerated() {
            let value = setting.isPath ? "/a b/'\(index)\"" : "x: \(index) # \\ é"
            file.contexts.append(.init(name: "it's \"one\": #\(index)", values: [setting: value]))
        }
        let path = "\(try TestGateway.makeFolder())/deep/er/contexts.yaml"
        try file.write(path)
        #expect(try ContextFile.read(path) == file)
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
    }

    @Test func `a gateway takes no variable of the verbs for a setting`() {
        for setting in GatewaySetting.allCases where setting != .dataDirectory {
            #expect(EnvironmentNames.others.contains(setting.variable), "\(setting.variable)")
        }
        for name in [ContextFile.pathVariable, ContextFile.nameVariable] {
            #expect(EnvironmentNames.others.contains(name))
        }
    }

    /// The whole way: named once, used by verbs of operators, senders and hosts.
    @Test func `a gateway is named once for all verbs`() async throws {
        let gateway = try await TestGateway.start()
        let contexts = "FRESHET_CONTEXTS=\(gateway.folder)/config/contexts.yaml"
        func run(_ verb: [String], _ more: [String] = []) async throws -> Command.Result {
            try await Command.run("env", ["--chdir", gateway.folder, contexts] + more + [TestGateway.program] + verb)
        }
        let empty = try await run(["context"])
        #expect(empty.status == 0 && empty.output.contains("has no contexts"), "\(empty.errors)")
        let set = try await run(
            ["context", "set", "test", "--server", gateway.opsURL, "--push-server", gateway.pushURL, "--data", "data"]
                + ["--host-server", gateway.hostURL, "--ca", "certs/ca.pem"] + gateway.sender
        )
        #expect(set.status == 0 && set.output.contains("the current one"), "\(set.errors)")
        for verb in [["status"], ["ping"], ["orders"], ["config", "diff"]] {
            let result = try await run(verb)
            #expect(result.status == 0, "\(verb): \(result.errors)")
        }
        let sent = try await run(["send", "--app", TestGateway.app, "--all", "--dry-run"])
        #expect(sent.status == 0, "\(sent.errors)")
        let exported = try await run(["export", "--app", TestGateway.app, "-"])
        #expect(exported.status == 0 && exported.errors == "0 lines\n", "\(exported.errors)")
        // Another one, without a token and at another place.
        #expect(try await run(["context", "set", "away", "--server", "https://localhost:1"]).status == 0)
        let list = try await run(["context", "list"])
        #expect(list.output.contains("*  test") && list.output.contains("   away"), "\(list.output)")
        #expect(try await run(["status"], ["FRESHET_CONTEXT=away"]).status == 1)
        #expect(try await run(["context", "use", "away"]).status == 0)
        let away = try await run(["status"])
        #expect(away.status == 1 && away.errors.contains("comes from the context away"), "\(away.errors)")
        #expect(try await run(["status", "--context", "test"]).status == 0)
        #expect(try await run(["context", "remove", "away"]).status == 0)
        let unknown = try await run(["status", "--context", "away"])
        #expect(unknown.status == 78 && unknown.errors.contains("it has test"), "\(unknown.errors)")
        let both = try await run(["status", "--context", "test", "--server", gateway.opsURL])
        #expect(both.status == 64, "\(both.errors)")
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o644],
            ofItemAtPath: "\(gateway.folder)/config/contexts.yaml"
        )
        let open = try await run(["status", "--context", "test"])
        #expect(open.status == 78 && open.errors.contains("chmod 600"), "\(open.errors)")
        await gateway.stop()
    }
}
