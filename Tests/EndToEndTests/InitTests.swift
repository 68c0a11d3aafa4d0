import Foundation
import Settings
import TestSupport
import Testing

/// `freshet init`: a folder with everything that a gateway needs.
@Suite struct InitTests {
    private static func run(_ arguments: [String]) async throws -> Command.Result {
        try await Command.run(TestGateway.program, ["init"] + arguments)
    }

    /// The commands among lines of a shell, each of one line or several.
    private static func commands(in text: String) -> [String] {
        let lines = text.replacingOccurrences(of: "\\\n", with: "").components(separatedBy: "\n")
        return lines.filter { !$0.hasPrefix("#") && !$0.isEmpty }
    }

    private static func mode(_ file: String) throws -> Int? {
        let attributes = try FileManager.default.attributesOfItem(atPath: file)
        return (attributes[.posixPermissions] as? NSNumber)?.intValue
    }

    @Test func `what it prints, run as it stands, brings a push to one widget of two`() async throws {
        let place = try TestGateway.makeFolder()
        // A name that a shell has to be told in quotes.
        let folder = "\(place)/it's a trial"
        let ports = try (0..<3).map { _ in try LonePort.find() }
        let made = try await Self.run(
            [
                folder, "--push-port", "\(ports[0])", "--host-port", "\(ports[1])", "--ops-port", "\(ports[2])",
                "--kind", "yes",
            ]
        )
        try #require(made.status == 0, "\(made.errors)")
        let commands = Self.commands(in: made.output)
        try #require(commands.count == 4, "\(made.output)")
        let file = ["--config", "\(folder)/freshet.yaml"]
        let check = try await Command.run(TestGateway.program, ["check-config", "--live"] + file)
        #expect(check.status == 0 && check.errors.isEmpty, "\(check.errors)")

        let gateway = try Command("bash", ["-c", "exec \(commands[0])"])
        defer { gateway.killHard() }
        var log: [String] = []
        for await line in gateway.lines {
            log.append(line)
            if line.contains(#""message":"ready""#) { break }
        }
        try #require(log.last?.contains(#""message":"ready""#) == true, "\(log)")
        let registered = try await Command.run("bash", ["-c", commands[1]])
        #expect(registered.status == 0 && registered.output.contains(#""added":2"#), "\(registered)")
        let sent = try await Command.run("bash", ["-c", commands[2]])
        #expect(sent.status == 0 && sent.output.hasPrefix("accepted "), "\(sent)")
        let dashboard = try await Command.run("bash", ["-c", commands[3]])
        #expect(dashboard.status == 0, "\(dashboard)")
        let address = try #require(URL(string: dashboard.output.trimmingCharacters(in: .newlines)))
        let token = try #require(address.fragment()?.split(separator: "=").last.map(String.init))
        // The push has found one of the two widgets, as operators see who come with the token in the address.
        let id = sent.output.dropFirst("accepted ".count).trimmingCharacters(in: .newlines)
        let push = try await Command.run(
            "curl",
            [
                "--silent", "--cacert", "\(folder)/certs/ca.pem", "--header", "authorization: bearer \(token)",
                "https://localhost:\(ports[2])/v1/pushes/\(id)",
            ]
        )
        let object = try JSONSerialization.jsonObject(with: Data(push.output.utf8)) as? [String: Any]
        #expect(object?["matched"] as? Int == 1, "\(push.output)")
        gateway.terminate()
        #expect(await gateway.wait().status == 0)
        try FileManager.default.removeItem(atPath: place)
    }

    @Test(arguments: [
        // A gateway without a team and an app.
        nil, "{name: team, type: string, required: true}",
        "{name: side, type: enumeration, cases: [it's, left], required: true}",
    ])
    func `the first steps that its dashboard shows, run as they stand, register a host and push to it`(
        parameter: String?
    ) async throws {
        let folder = try TestGateway.makeFolder()
        let ports = try (0..<3).map { _ in try LonePort.find() }
        let options = ["--push-port", "\(ports[0])", "--host-port", "\(ports[1])", "--ops-port", "\(ports[2])"]
        let made = try await Self.run([folder, "--yes", "--team", "TEAM", "--kid", "KEY", "--kind", "tides"] + options)
        try #require(made.status == 0, "\(made.errors)")
        let file = "\(folder)/freshet.yaml"
        let text = try String(contentsOfFile: file, encoding: .utf8)
        let first = try #require(
            text.firstMatch(of: /parameters:\n(?<lines>(?: +(?:- )?(?:name|type|required): .*\n?)+)/)
        )
        let used = parameter.map { text.replacing(first.output.0, with: "parameters: [\($0)]\n") }
        try (used ?? "\(text.components(separatedBy: "\nteams:")[0])\n")
            .write(toFile: file, atomically: true, encoding: .utf8)
        let gateway = try Command(TestGateway.program, ["serve", "--config", file])
        defer { gateway.killHard() }
        for await line in gateway.lines where line.contains(#""message":"ready""#) { break }
        let token = try String(contentsOfFile: "\(folder)/data/operator-token", encoding: .utf8)
        func ask(_ path: String) async throws -> String {
            let secret = "authorization: bearer \(token.trimmingCharacters(in: .newlines))"
            let url = "https://localhost:\(ports[2])/v1/\(path)"
            return try await Command.run("curl", ["-s", "--cacert", "\(folder)/certs/ca.pem", "-H", secret, url]).output
        }
        let steps = try await DashboardRules.run(
            "firstSteps(\(try await ask("stats")), (\(try await ask("config"))).configuration, \"localhost\")"
                + ".filter((one) => !one.isDone).map((one) => one.command)",
            as: [String].self
        )
        try #require(steps.count == (parameter == nil ? 4 : 2), "\(steps)")
        // The page's commands call the program by its name.
        let path = "PATH=\(URL(filePath: TestGateway.program).deletingLastPathComponent().path):$PATH; cd '\(folder)'; "
        let done = ["is in force as given.", "is in force as given.", #""added":1"#, "accepted "].suffix(steps.count)
        for (step, said) in zip(steps, done) {
            let result = try await Command.run("bash", ["-c", path + step])
            #expect(result.status == 0 && result.output.contains(said), "\(step): \(result)")
        }
        let stats = try await ask("stats")
        #expect(stats.contains(#""matched":1,"#), "\(stats)")
        gateway.terminate()
        #expect(await gateway.wait().status == 0)
        try FileManager.default.removeItem(atPath: folder)
    }

    @Test func `secrets are their user's alone, and programs are told where everything is`() async throws {
        let folder = try TestGateway.makeFolder()
        let made = try await Self.run([folder, "--team", "TEAM", "--kid", "KEY", "--app", "com.example.app", "--json"])
        try #require(made.status == 0, "\(made.errors)")
        let object = try JSONSerialization.jsonObject(with: Data(made.output.utf8)) as? [String: Any]
        #expect(object?["team"] as? String == "TEAM" && object?["kid"] as? String == "KEY")
        #expect(object?["config"] as? String == "\(folder)/freshet.yaml")
        #expect((object?["commands"] as? [[String: String]])?.count == 4)
        let token = try #require(object?["operatorToken"] as? String)
        let key = try #require(object?["key"] as? String)
        for secret in [token, key, "\(folder)/certs/ca.key", "\(folder)/certs/server.key"] {
            #expect(try Self.mode(secret) == 0o600, "\(secret)")
        }
        for own in ["data", "certs"] { #expect(try Self.mode("\(folder)/\(own)") == 0o700) }
        try FileManager.default.removeItem(atPath: folder)
    }

    @Test func `one folder is for all machines of a cluster, with a certificate for both uses`() async throws {
        let place = try TestGateway.makeFolder()
        let folder = "\(place)/trial"
        let servers = (1...3).flatMap { ["--jetstream-server", "nats://10.0.0.\($0):4222"] }
        let made = try await Self.run([folder, "--json", "--partitions", "6", "--host", "push.example.com"] + servers)
        try #require(made.status == 0, "\(made.errors)")
        let object = try JSONSerialization.jsonObject(with: Data(made.output.utf8)) as? [String: Any]
        #expect(object?["brokerConfig"] as? String == "\(folder)/broker.conf")
        let commands = try #require(object?["commands"] as? [[String: String]]).compactMap { $0["command"] }
        try #require(commands.count == 6, "\(commands)")
        #expect(commands[0].hasPrefix("for machine in 10.0.0.2 10.0.0.3; do scp -r "), "\(commands[0])")
        #expect(commands[1].contains("MACHINE=10.0.0.1 nats-server -c broker.conf"), "\(commands[1])")

        let check = try await Command.run(TestGateway.program, ["check-config", "--config", "\(folder)/freshet.yaml"])
        #expect(check.status == 0, "\(check.errors)")
        let broker = try String(contentsOfFile: "\(folder)/broker.conf", encoding: .utf8)
        for name in ["broker-password", "system-password"] {
            let line = try String(contentsOfFile: "\(folder)/\(name)", encoding: .utf8)
            let secret = line.trimmingCharacters(in: .newlines)
            #expect(secret.utf8.count == 48 && broker.contains("password: \"\(secret)\""))
        }
        let secrets = broker.matches(of: /password: "([0-9a-f]{48})"/).map { String($0.output.1) }
        #expect(Set(secrets).count == 3, "\(broker)")
        for secret in ["broker.conf", "broker-password", "system-password"] {
            #expect(try Self.mode("\(folder)/\(secret)") == 0o600, "\(secret)")
        }
        let names = [("-verify_ip", "10.0.0.3"), ("-verify_ip", "127.0.0.1"), ("-verify_hostname", "push.example.com")]
        for purpose in ["sslserver", "sslclient"] {
            for (option, name) in names {
                let files = ["-CAfile", "\(folder)/certs/ca.pem", "\(folder)/certs/server.pem"]
                let verdict = try await Command.run("openssl", ["verify", "-purpose", purpose, option, name] + files)
                #expect(verdict.status == 0, "\(verdict.errors)")
            }
        }
        try FileManager.default.removeItem(atPath: place)
    }

    @Test(arguments: [
        (["--host=10.0.0.1"], "is an IP address, not a host name"),
        (["--address=gateway.example.com"], "is not an IP address"),
        (["--partitions=0"], "--partitions: must be an integer from 1 to 64"),
        (["--jetstream-server=10.0.0.1"], "--jetstream-server: must be a broker's address"),
        (["--jetstream-server=nats://a:1", "--jetstream-server=nats://b:1"], "--jetstream-server: has two brokers"),
        (
            ["--jetstream-server=nats://a:1", "--jetstream-server=nats://b:1", "--jetstream-server=nats://c:2"],
            "must have the same port"
        ),
    ])
    func `options that cannot be used leave no folder`(options: [String], reason: String) async throws {
        let place = try TestGateway.makeFolder()
        let wrong = try await Self.run(["\(place)/trial", "--yes"] + options)
        #expect(wrong.status == 64 && wrong.errors.contains(reason), "\(wrong.errors)")
        #expect(!FileManager.default.fileExists(atPath: "\(place)/trial"))
        try FileManager.default.removeItem(atPath: place)
    }

    @Test(
        arguments: [
            ([], "127.0.0.1"), (["--host=localhost", "--address=127.0.0.1", "--address=::1"], "127.0.0.1"),
            (["--host=gateway.example.com"], "0.0.0.0"), (["--host=gateway.example.com", "--address=fd00::1"], "::"),
        ] as [([String], String)]
    )
    func `senders and hosts may call from where the options say, operators from this machine`(
        options: [String],
        address: String
    ) async throws {
        let place = try TestGateway.makeFolder()
        let made = try await Self.run(["\(place)/trial", "--yes"] + options)
        try #require(made.status == 0, "\(made.errors)")
        let text = try String(contentsOfFile: "\(place)/trial/freshet.yaml", encoding: .utf8)
        let listeners = try ConfigurationFile.parse(text).configuration.listeners
        #expect(listeners.push.address == address && listeners.host.address == address, "\(text)")
        #expect(listeners.ops.address == "127.0.0.1", "\(text)")
        try FileManager.default.removeItem(atPath: place)
    }

    @Test func `a folder with something in it, and a file, are left as they are`() async throws {
        let folder = try TestGateway.makeFolder()
        try "mine".write(toFile: "\(folder)/.hidden", atomically: true, encoding: .utf8)
        let full = try await Self.run([folder, "--yes"])
        #expect(full.status == 1 && full.errors.contains("is not empty"), "\(full.errors)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == [".hidden"])
        let file = try await Self.run(["\(folder)/.hidden", "--yes"])
        #expect(file.status == 1 && file.errors.contains("is a file"), "\(file.errors)")
        let wrong = try await Self.run(["\(folder)/trial", "--app", "no bundle"])
        #expect(wrong.status == 64 && wrong.errors.contains("--app: "), "\(wrong.errors)")
        #expect(!FileManager.default.fileExists(atPath: "\(folder)/trial"))
        try FileManager.default.removeItem(atPath: folder)
    }

    @Test func `a terminal is asked, again where an answer cannot be used`() async throws {
        let place = try TestGateway.makeFolder()
        let session = "\(TestGateway.program) init \(place)/trial --team OPTION"
        // The key's id, the app twice, and defaults for the rest.
        let result = try await Command.run(
            "script",
            ["-qec", session, "/dev/null"],
            input: "MYKEY\nno bundle\ncom.example.mine\n\n\n"
        )
        #expect(result.status == 0, "\(result.output)")
        #expect(result.output.contains("The id of its key [F6G7H8J9K0]: ") && !result.output.contains("[A1B2C3D4E5]"))
        #expect(result.output.contains("--app: "), "\(result.output)")
        let text = try String(contentsOfFile: "\(place)/trial/freshet.yaml", encoding: .utf8)
        for part in ["OPTION", "MYKEY", "com.example.mine", "kind: scores"] { #expect(text.contains(part), "\(text)") }
        try FileManager.default.removeItem(atPath: place)
    }
}
