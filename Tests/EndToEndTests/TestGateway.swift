import Foundation
import FreshetClient
import Testing

/// A gateway of its own for one test: the real program on real sockets of the loopback interface, in a temporary folder.
final class TestGateway: Sendable {
    static let app = "com.example.scores"
    static let topic = "com.example.scores.push-type.widgets"
    static let team = "TESTTEAM01"
    /// A second app, whose kind has a timeline provider that is away, and a sample; for `extra`.
    static let providedApp = "com.example.panels"
    static let providedApps = """
          - bundleID: \(providedApp)
            team: \(team)
            kinds:
              - kind: panel
                sample: {text: nothing yet}
                timelineProvider: {url: "http://127.0.0.1:9/"}
        """
    static let kid = "TESTKEY001"

    let folder: String
    /// The token that the gateway has made for operators; nil where they have others, or need none.
    let operatorToken: String?
    private let ownPorts: (push: Int, manage: Int?, host: Int, ops: Int)
    private let command: Command
    /// The gateways that share its log, if there are any: each use of a port or an address is that of the next.
    private let peers: TestPeers?

    var ca: String { "\(self.folder)/certs/ca.pem" }
    var key: String { "\(self.folder)/certs/provider-key.p8" }
    var pushPort: Int { self.next.ownPorts.push }
    /// nil unless it was asked for.
    var managePort: Int? { self.next.ownPorts.manage }
    var hostPort: Int { self.next.ownPorts.host }
    var opsPort: Int { self.next.ownPorts.ops }
    var pushURL: String { "https://localhost:\(self.pushPort)" }
    var hostURL: String { "https://localhost:\(self.hostPort)" }
    var opsURL: String { "https://localhost:\(self.opsPort)" }
    var pid: Int32 { self.command.pid }

    /// The options by which a verb finds this gateway's listener for operators, or another one by its address.
    func access(_ url: String? = nil) -> [String] {
        let server = ["--server", url ?? self.opsURL, "--ca", self.ca]
        return url == nil ? server + ["--data", "\(self.folder)/data"] : server
    }

    /// The options by which a verb of senders proves its identity.
    var sender: [String] { ["--key", self.key, "--kid", Self.kid, "--team", Self.team] }

    /// The program that was built beside the tests.
    static let program: String = {
        let runner = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
        return runner.appending(path: "freshet").path
    }()

    /// The repository's root.
    static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().path

    /// The Python of the clients' environment, which `make setup` makes.
    static var python: String { "\(self.root)/.venv/bin/python" }

    private init(
        folder: String,
        command: Command,
        ports: [String: Int],
        operatorToken: String?,
        peers: TestPeers?
    ) throws {
        self.operatorToken = operatorToken
        self.folder = folder
        self.command = command
        let push = try #require(ports["push"])
        // Where listeners are merged, the push listener takes what hosts ask.
        self.ownPorts = (push, ports["manage"], ports["host"] ?? push, try #require(ports["ops"]))
        self.peers = peers
    }

    /// The gateway that is asked next: this one, unless it has peers.
    private var next: TestGateway { self.peers?.next(after: self) ?? self }

    /// This one, and those that share its log.
    var members: [TestGateway] { [self] + (self.peers?.gateways ?? []) }

    /// The addresses for operators of all of them.
    var opsURLs: [String] { self.members.map { "https://localhost:\($0.ownPorts.ops)" } }

    /// Whether an address is one of the ops listener.
    private func isForOperators(_ url: String) -> Bool { self.opsURLs.contains { url.hasPrefix($0) } }

    /// Starts a gateway.
    ///
    /// - Parameters:
    ///   - log: Where its log is; with a shared one it has two peers.
    ///   - folder: An existing folder of an earlier gateway, to start again on its data.
    ///   - extra: Lines that are appended to the configuration.
    ///   - appSettings: Lines of the app, indented by four.
    ///   - environment: Settings by variables.
    ///   - managesChannels: Whether it has the listener for that, too.
    ///   - options: Further options of `serve`.
    ///   - timelineProvider: Where the timelines of both kinds are made.
    ///   - providerSettings: Further settings of that provider, as YAML's `key: value, …`.
    ///   - descriptors: How many files and connections it may have open, nil for as many as the tests.
    ///   - disk: A disk of its own for the log, which goes with it.
    ///   - peers: The gateways that share its log, and are asked in turn with it.
    static func start(
        on log: TestLog = .usual,
        in folder: String? = nil,
        partitions: Int = 1,
        extra: String = "",
        appSettings: String = "",
        environment: [String: String] = [:],
        managesChannels: Bool = false,
        options: [String] = [],
        timelineProvider: String? = nil,
        providerSettings: String = "",
        descriptors: Int? = nil,
        disk: SmallDisk? = nil,
        peers: TestPeers? = nil
    ) async throws -> TestGateway {
        if log == .sharedLog {
            return try await self.startThree(in: folder) { folder, journal, more, peers in
                try await self.start(
                    on: .ownDisk,
                    in: folder,
                    partitions: partitions,
                    extra: "\(extra)\n\(journal)",
                    appSettings: appSettings,
                    environment: environment,
                    managesChannels: managesChannels,
                    options: options + more,
                    timelineProvider: timelineProvider,
                    providerSettings: providerSettings,
                    descriptors: descriptors,
                    disk: disk,
                    peers: peers
                )
            }
        }
        let folder = try folder ?? disk?.folder ?? self.makeFolder()
        if !FileManager.default.fileExists(atPath: "\(folder)/certs/ca.pem") {
            try await self.makeCertificates(in: folder, ["--topic", self.topic])
        }
        let provider = timelineProvider.map { #"timelineProvider: {url: "\#($0)", \#(providerSettings)}"# } ?? ""
        try self.configuration(partitions, extra, appSettings, managesChannels, provider)
            .write(toFile: "\(folder)/freshet.yaml", atomically: true, encoding: .utf8)
        // The program under `env`, since variables of its own are what it takes last but options.
        // SwiftNIO then ends a program that asks anything of a loop that is gone, of which it would only complain.
        let settings = disk.map { environment.merging($0.environment) { $1 } } ?? environment
        let variables = ["SWIFTNIO_STRICT=1"] + settings.map { "\($0.key)=\($0.value)" }.sorted()
        let serve = [self.program, "serve", "--config", "\(folder)/freshet.yaml"] + options
        let limiter = descriptors.map { ["prlimit", "--nofile=\($0)"] } ?? []
        let command = try Command("env", variables + limiter + (disk?.launcher ?? []) + serve)
        let (ports, token) = try await self.awaitReady(command, hasDisk: disk != nil)
        return try TestGateway(folder: folder, command: command, ports: ports, operatorToken: token, peers: peers)
    }

    /// Waits until a gateway is ready: its ports, and the token that it has made for operators.
    private static func awaitReady(_ command: Command, hasDisk: Bool) async throws -> (
        ports: [String: Int], token: String?
    ) {
        var lines: [String] = []
        var token: String?
        for await line in command.lines {
            lines.append(line)
            if let file = self.entry(line, "operators need the token in this file")?["file"] as? String {
                // On a disk of its own the file is seen by way of the process alone.
                let path = hasDisk ? "/proc/\(command.pid)/root\(file)" : file
                token = try String(contentsOfFile: path, encoding: .utf8).trimmingCharacters(in: .newlines)
            }
            if let ports = self.ports(in: line) { return (ports, token) }
        }
        throw Failure("the gateway did not start:\n\(lines.joined(separator: "\n"))")
    }

    struct Failure: Error, CustomStringConvertible {
        let description: String
        init(_ description: String) { self.description = description }
    }

    static func makeFolder() throws -> String {
        let folder = FileManager.default.temporaryDirectory.appending(path: "freshet-test-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        return folder
    }

    /// A folder for one more gateway, with the certificates of another.
    static func makeFolder(beside other: String) throws -> String {
        let folder = try self.makeFolder()
        try FileManager.default.copyItem(atPath: "\(other)/certs", toPath: "\(folder)/certs")
        return folder
    }

    /// Makes certificates and keys for a gateway that is to be started in the folder.
    static func makeCertificates(in folder: String, _ options: [String] = []) async throws {
        let made = try await Command.run(self.program, ["certs", "--out", "\(folder)/certs"] + options)
        try #require(made.status == 0, "\(made.errors)")
    }

    /// Makes further certificates of the authority that there is in the folder.
    ///
    /// - Returns: A folder of their own.
    static func makeCertificates(named name: String, in folder: String, _ options: [String]) async throws -> String {
        let own = "\(folder)/\(name)"
        try FileManager.default.createDirectory(atPath: own, withIntermediateDirectories: true)
        for file in ["ca.pem", "ca.key"] {
            try FileManager.default.copyItem(atPath: "\(folder)/certs/\(file)", toPath: "\(own)/\(file)")
        }
        let made = try await Command.run(self.program, ["certs", "--out", own] + options)
        try #require(made.status == 0, "\(made.errors)")
        return own
    }

    /// A line of the log, if it has that message.
    private static func entry(_ line: String, _ message: String) -> [String: Any]? {
        let object = try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
        return object?["message"] as? String == message ? object : nil
    }

    private static func ports(in line: String) -> [String: Int]? {
        guard let object = self.entry(line, "ready") else { return nil }
        var ports: [String: Int] = [:]
        for name in ["push", "manage", "host", "ops", "health"] {
            ports[name] = (object[name] as? String).flatMap { Int($0) }
        }
        return ports
    }

    static func configuration(
        _ partitions: Int,
        _ extra: String,
        _ appSettings: String,
        _ managesChannels: Bool = false,
        _ provider: String = ""
    ) -> String {
        """
        dataDirectory: data
        partitions: \(partitions)
        tls: {certificate: certs/server.pem, key: certs/server.key, clientCA: certs/ca.pem}
        listeners:
          push: {port: 0}
          manage: {enabled: \(managesChannels), port: 0}
          host: {port: 0}
          ops: {port: 0}
        teams:
          - id: \(self.team)
            keys:
              - {id: \(self.kid), file: certs/provider-key.public.pem}
        apps:
          - bundleID: \(self.app)
            team: \(self.team)
        \(appSettings)
            kinds:
              - kind: scores
                \(provider)
                parameters:
                  - {name: team, type: string, required: true}
                  - {name: league, type: string, default: nfl}
                  - {name: limit, type: int}
              - kind: character
                \(provider)
                parameters:
                  - {name: character, type: string, required: true}
        \(extra)
        """
    }

    /// A test that has failed before it came to ``stop()`` leaves no process behind.
    deinit {
        self.command.killHard()
    }

    /// Ends the gateway as an operator does, waits for it, then its peers, and removes its folder.
    func stop() async {
        for member in self.members { _ = await member.drain() }
        try? FileManager.default.removeItem(atPath: self.folder)
    }

    /// SIGTERM; the exit status once the process has ended.
    func drain() async -> Int32 {
        self.command.terminate()
        return await self.command.wait().status
    }

    /// SIGTERM; what the gateway and its peers have written once they have ended.
    func log() async -> String {
        var log = ""
        for member in self.members {
            member.command.terminate()
            let result = await member.command.wait()
            log += result.output + result.errors
        }
        return log
    }

    /// The lines of its log so far.
    var logged: [Substring] { self.command.written.split(separator: "\n") }

    /// Runs a verb of operators, as an operator of this gateway.
    func runVerb(_ words: [String]) async throws -> Command.Result {
        let token = self.operatorToken.map { ["FRESHET_OPERATOR_TOKEN=\($0)"] } ?? []
        return try await Command.run(
            "env",
            token + [Self.program] + words + ["--server", self.opsURL, "--ca", self.ca]
        )
    }

    func sendTerminate() { self.command.terminate() }
    func sendHangup() { for member in self.members { member.command.hangUp() } }
    func exitStatus() async -> Int32 { await self.command.wait().status }

    /// Kill -9, and wait for the end.
    func crash() async {
        self.command.killHard()
        _ = await self.command.wait()
    }
}

extension TestGateway {
    func hostCredential(_ pushToken: String, host: String? = nil) async throws -> String {
        let result = try await Command.run(
            Self.program,
            [
                "token", "host", "--key", self.key, "--kid", Self.kid, "--team", Self.team, "--app", Self.app,
                "--push-token", pushToken,
            ] + (host.map { ["--host", $0] } ?? [])
        )
        try #require(result.status == 0, "\(result.errors)")
        return result.output.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// An answer, as curl tells it.
    struct Answer: Sendable {
        let status: Int
        let headers: [String: String]
        let body: String

        var json: [String: Any] {
            (try? JSONSerialization.jsonObject(with: Data(self.body.utf8)) as? [String: Any]) ?? [:]
        }

        /// APNs' reason, or a problem's code.
        var reason: String? { self.json["reason"] as? String ?? self.json["code"] as? String }
    }

    /// A request by curl, over HTTP/2 unless told otherwise; to the ops listener as an operator, unless told otherwise.
    func curl(
        _ method: String,
        _ url: String,
        bearer: String? = nil,
        headers: [String] = [],
        body: String? = nil,
        options: [String] = ["--http2"],
        isOperator: Bool = true
    ) async throws -> Answer {
        let isForOperators = self.isForOperators(url)
        let bearer = bearer ?? (isOperator && isForOperators ? self.operatorToken : nil)
        let isSaid = headers.contains { $0.lowercased().hasPrefix("content-type:") }
        let headers = headers + (isForOperators && body != nil && !isSaid ? ["content-type: application/json"] : [])
        var arguments = ["--silent", "--show-error", "--include", "--max-time", "300", "--cacert", self.ca]
        arguments += ["--request", method] + options
        if let bearer { arguments += ["--header", "authorization: bearer \(bearer)"] }
        for header in headers { arguments += ["--header", header] }
        if body != nil { arguments += ["--data-binary", "@-"] }
        let result = try await Command.run("curl", arguments + [url], input: body)
        guard result.status == 0 else { throw Failure("curl \(url): exit \(result.status): \(result.errors)") }
        return try Self.parse(result.output)
    }

    private static func parse(_ text: String) throws -> Answer {
        let parts = text.replacingOccurrences(of: "\r\n", with: "\n").components(separatedBy: "\n\n")
        let head = parts[0].components(separatedBy: "\n")
        let status = head[0].split(separator: " ").dropFirst().first.flatMap { Int($0) }
        var headers: [String: String] = [:]
        for line in head.dropFirst() {
            guard let colon = line.firstIndex(of: ":") else { continue }
            headers[line[..<colon].lowercased()] = line[line.index(after: colon)...].trimmingCharacters(
                in: .whitespaces
            )
        }
        return Answer(
            status: try #require(status),
            headers: headers,
            body: parts.dropFirst().joined(separator: "\n\n")
        )
    }

    /// A host's token: a number as 64 hex digits.
    static func token(_ number: Int) -> String {
        String(repeating: "0", count: 64 - String(number, radix: 16).count) + String(number, radix: 16)
    }

    /// Registers a host that shows score widgets of these teams and a game character.
    func register(_ number: Int, teams: [String], bearer: String, revision: Int = 1) async throws -> Answer {
        let answer = try await self.curl(
            "PUT",
            "\(self.hostURL)/v1/hosts/\(Self.token(number))/widgets",
            bearer: bearer,
            body: Self.registration(number, teams: teams, revision: revision)
        )
        try #require(answer.status == 200, "\(answer.body)")
        return answer
    }

    static func registration(_ number: Int, teams: [String], revision: Int = 1, token: String? = nil) -> String {
        let scores = teams.enumerated().map { index, team in
            #"{"id":"scores-\#(index)","kind":"scores","family":"systemSmall","configuration":{"team":"\#(team)"}}"#
        }
        let character =
            #"{"id":"character","kind":"character","family":"systemSmall","configuration":{"character":"panda"}}"#
        let instances = (scores + [character]).joined(separator: ",")
        let own = token.map { #""token":"\#($0)","# } ?? ""
        return
            #"{\#(own)"app":"\#(self.app)","host":"host-\#(number)","revision":\#(revision),"instances":[\#(instances)]}"#
    }

    /// Asks again until a condition holds; every attempt is a request that takes its time. It gives up after minutes and many
    /// attempts only, for a machine may be slow.
    func eventually<Value>(_ what: String, _ body: () async throws -> Value?) async throws -> Value {
        var attempts = Attempts()
        while attempts.isAnother() {
            if let value = try await body() { return value }
        }
        throw Failure("never happened: \(what)")
    }

    /// The same until it holds at this gateway and at each that shares its log.
    ///
    /// - Parameter holds: Asks one gateway, once.
    func eventuallyEverywhere(_ what: String, _ holds: () async throws -> Bool) async throws {
        var inRow = 0
        _ = try await self.eventually(what) {
            inRow = try await holds() ? inRow + 1 : 0
            return inRow == self.members.count ? true : nil
        }
    }

    /// Expects what a change by a request brings: at once of one gateway, and soon of those that share its log.
    ///
    /// - Parameter holds: Asks one gateway, once.
    func expectEverywhere(_ what: String, _ holds: () async throws -> Bool) async throws {
        guard self.peers == nil else { return try await self.eventuallyEverywhere(what, holds) }
        #expect(try await holds(), "\(what)")
    }

    /// Does something again and again, and to its end each time, for as long as something else is done.
    static func keepUp(_ work: @escaping @Sendable () async throws -> Void, during body: () async throws -> Void)
        async throws
    {
        try await withThrowingTaskGroup(of: Void.self) { group in
            // In a task of its own, which is not cancelled half way.
            group.addTask { while !Task.isCancelled { try await Task { try await work() }.value } }
            try await body()
            group.cancelAll()
            try await group.waitForAll()
        }
    }

    /// The outcome of a push, once no reload of it is on its way.
    func settled(_ id: String) async throws -> Answer {
        try await self.eventually("push \(id) is settled") {
            let answer = try await self.curl("GET", "\(self.opsURL)/v1/pushes/\(id)")
            guard answer.status == 200 else { return nil }
            let outcomes = answer.json["outcomes"] as? [String: Int] ?? [:]
            return outcomes["issued"] == nil ? answer : nil
        }
    }

    /// Acknowledges everything that is outstanding for an app, as its back end may.
    func acknowledge(_ reloads: [String], bearer: String) async throws {
        try await self.backEnd(bearer).acknowledge(reloads)
    }

    /// The ids of the reloads that a host has not acknowledged.
    func outstanding(_ number: Int, bearer: String) async throws -> [String] {
        try await self.host(number, bearer).state().outstanding.map(\.id)
    }
}

// MARK: - Senders

extension TestGateway {
    /// A new key pair: the files of its halves.
    static func makeKey(_ name: String, in folder: String) async throws -> (key: String, publicKey: String) {
        let (key, publicKey) = ("\(folder)/\(name).p8", "\(folder)/\(name).public.pem")
        let made = try await Command.run(
            "openssl",
            ["genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", key]
        )
        try #require(made.status == 0, "\(made.errors)")
        let half = try await Command.run("openssl", ["pkey", "-in", key, "-pubout", "-out", publicKey])
        try #require(half.status == 0, "\(half.errors)")
        return (key, publicKey)
    }

    /// A provider token that a key signs.
    static func providerToken(_ key: String, kid: String = kid, team: String = team) async throws -> String {
        let minted = try await Command.run(
            self.program,
            ["token", "mint", "--key", key, "--kid", kid, "--team", team]
        )
        try #require(minted.status == 0, "\(minted.errors)")
        return minted.output.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    func providerToken(kid: String = kid) async throws -> String { try await Self.providerToken(self.key, kid: kid) }

    /// Pushes to a host of an app.
    ///
    /// - Parameters:
    ///   - url: Of the gateway that is asked; nil for this one.
    ///   - headers: Beside topic and type.
    func push(
        to number: Int,
        of app: String = app,
        at url: String? = nil,
        headers: [String] = [],
        bearer: String,
        body: String = #"{"aps":{"content-changed":true}}"#
    ) async throws -> Answer {
        try await self.curl(
            "POST",
            "\(url ?? self.pushURL)/3/device/\(Self.token(number))",
            bearer: bearer,
            headers: ["apns-topic: \(app).push-type.widgets", "apns-push-type: widgets"] + headers,
            body: body
        )
    }

    /// The answer to a push to a host of an app: the status, or APNs' reason.
    func push(_ number: Int, of app: String = app, bearer: String) async throws -> String {
        let answer = try await self.push(to: number, of: app, bearer: bearer)
        return answer.reason ?? "\(answer.status)"
    }

    /// Waits until so many pushes are accepted, and looks whether the numbers add up.
    ///
    /// - Parameters:
    ///   - matched: How many instances they are about in all.
    ///   - url: Of the gateway that is asked; nil for this one.
    func checkBooks(accepted: Int, matched: Int, at url: String? = nil) async throws {
        let pushes = try await self.eventually("all are decided") {
            let stats = try await self.curl("GET", "\(url ?? self.opsURL)/v1/stats")
            let pushes = stats.json["pushes"] as? [String: Any]
            return pushes?["accepted"] as? Int == accepted ? pushes : nil
        }
        #expect(pushes["balanced"] as? Bool == true)
        #expect(pushes["matched"] as? Int == matched)
    }
}
