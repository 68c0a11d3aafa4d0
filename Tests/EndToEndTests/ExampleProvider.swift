import Foundation
import FreshetClient
import Testing

/// An example provider of the documentation, with a state of its own.
final class ExampleProvider: Sendable {
    enum Language: CaseIterable { case python, swift }

    let url: String
    private let command: Command
    private let state: String

    /// - Parameter port: Where one was before that is to be there again; 0 for any.
    convenience init(_ language: Language = .python, in folder: String, port: Int = 0) async throws {
        try await self.init(try await Self.program(language), in: folder, port: port)
    }

    /// One over HTTP/2 and TLS, with a gateway's certificate, for those who know its token.
    convenience init(token: String, in folder: String) async throws {
        let certificates = ["--certificate", "\(folder)/certs/server.pem", "--key", "\(folder)/certs/server.key"]
        let script = "\(TestGateway.root)/Tests/EndToEndTests/Clients/secure_provider.py"
        try await self.init([TestGateway.python, script, "--token", token] + certificates, in: folder)
    }

    /// One whose timelines have an entry of now, and one so many seconds later.
    convenience init(later seconds: Int, in folder: String) async throws {
        let script = "\(TestGateway.root)/Tests/EndToEndTests/Clients/later_provider.py"
        try await self.init(["python3", script, "--later", "\(seconds)"], state: "\(folder)/state.json")
    }

    private convenience init(_ program: [String], in folder: String, port: Int = 0) async throws {
        let state = "\(folder)/state.json"
        try Self.write(#"{}"#, to: state)
        try await self.init(program + ["--port", "\(port)", "--state", state], state: state)
    }

    private init(_ program: [String], state: String) async throws {
        self.state = state
        self.command = try Command(program[0], Array(program.dropFirst()))
        var url: String?
        for await line in self.command.lines where line.hasPrefix("listening on ") {
            url = String(line.dropFirst("listening on ".count))
            break
        }
        self.url = try #require(url)
    }

    /// How it is started; the one in Swift is a package of its own, which is built first.
    private static func program(_ language: Language) async throws -> [String] {
        let examples = "\(TestGateway.root)/docs/examples"
        switch language {
        case .python: return ["python3", "\(examples)/provider-python/provider.py"]
        case .swift:
            let scratch = "\(TestGateway.root)/.build/provider-swift"
            let build = ["build", "--package-path", "\(examples)/provider-swift", "--scratch-path", scratch]
            let built = try await Command.run("swift", build)
            try #require(built.status == 0, "\(built.output)\(built.errors)")
            return ["\(scratch)/debug/TimelineProvider"]
        }
    }

    private static func write(_ text: String, to file: String) throws {
        try text.write(toFile: file, atomically: true, encoding: .utf8)
    }

    /// A test that has failed leaves no process behind.
    deinit {
        self.command.killHard()
    }

    /// - Parameter team: The one that plays, and is relevant.
    func set(us: Int, them: Int, team: String = "seahawks") throws {
        let game = #"{"opponent":"rams","us":\#(us),"them":\#(them),"minute":52}"#
        try Self.write(#"{"scores":{"\#(team)":\#(game)},"characters":{"panda":{"health":40}}}"#, to: self.state)
    }

    /// Lets it fail with every timeline of a score; placeholders need no state.
    func breakScores() throws { try Self.write(#"{"scores":5}"#, to: self.state) }

    /// - Returns: Its printed lines.
    @discardableResult
    func stop() async -> [Substring] {
        self.command.terminate()
        return await self.command.wait().output.split(separator: "\n")
    }
}

extension TestGateway {
    /// Pushes that the score of the Seahawks has changed.
    ///
    /// - Returns: Its apns-id.
    func pushScore(_ bearer: String) async throws -> String {
        let target = Target.kind("scores", matching: ["team": ["seahawks"]])
        return try await self.sender(bearer).push(Push(priority: .immediate), to: target).id.uuidString.lowercased()
    }
}
