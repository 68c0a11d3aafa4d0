import ArgumentParser
import FlyingFox
import Foundation

/// Answers Freshet's questions about a scores widget and a character widget.
@main struct TimelineProvider: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "TimelineProvider",
        abstract: "A timeline provider for a scores widget and a character widget.",
        discussion: """
            It reads its state file for every question. To change a score, write the file:

            {"scores": {"seahawks": {"opponent": "rams", "us": 14, "them": 10, "minute": 52}},
             "characters": {"panda": {"health": 80}}}
            """
    )

    @Option(help: "0 lets the system choose.") var port: UInt16 = 8080
    @Option(help: "The file of its state.", completion: .file(extensions: ["json"])) var state = "state.json"

    func run() async throws {
        let file = URL(filePath: self.state)
        let server = try HTTPServer(address: .inet(ip4: "127.0.0.1", port: self.port))
        await server.appendRoute("POST /timelines") { request in
            if let findings = request.headers[HTTPHeader("freshet-findings")] { Self.say("findings: \(findings)") }
            let question: Question
            do {
                question = try JSONDecoder.gateway.decode(Question.self, from: await request.bodyData)
            } catch {
                return HTTPResponse(statusCode: .badRequest, body: Data("\(error)\n".utf8))
            }
            let kinds = Kinds(state: try State(contentsOf: file))
            let answers = question.requests.map { kinds.answer(question, $0) }
            Self.say("\(question.question) \(question.kind): \(answers.count)")
            return HTTPResponse(
                statusCode: .ok,
                headers: [.contentType: "application/json"],
                body: try JSONEncoder.gateway.encode(Answers(answers: answers))
            )
        }
        async let served: Void = server.run()
        try await server.waitUntilListening()
        if case .ip4(_, let port) = await server.listeningAddress {
            Self.say("listening on http://127.0.0.1:\(port)/timelines")
        }
        try await served
    }

    /// Prints a line at once, even into a pipe.
    private static func say(_ line: String) {
        FileHandle.standardOutput.write(Data("\(line)\n".utf8))
    }
}
