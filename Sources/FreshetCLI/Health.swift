import ArgumentParser
import HTTPTransport
import NIOCore
import NIOPosix

/// `freshet health`
struct Health: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Ask a gateway on this machine whether it is ready, without TLS and without a token.",
        discussion: """
            For a container's health check, in an image without a shell and curl. It sends GET /readyz to \
            listeners.health, which must be on.

              freshet health --port 9080

            Exit codes: 0 ready, 1 no answer, 2 not ready, and the output has the reasons.
            """
    )

    @Option(help: "The address of listeners.health.") var host = "127.0.0.1"
    @Option(help: "The port of listeners.health.") var port = 9080
    @Option(help: "The timeout of the answer, 1 to 60 seconds.") var seconds = 5
    @OptionGroup var answer: AnswerOptions

    func validate() throws {
        guard (1...65_535).contains(self.port) else { throw ValidationError("--port takes 1 to 65535") }
        guard (1...60).contains(self.seconds) else { throw ValidationError("--seconds takes 1 to 60") }
    }

    func run() async throws {
        var request = HTTPClientRequest(method: "GET", path: "/readyz", headers: [:], body: [])
        request.timeout = .seconds(Int64(self.seconds))
        let client = PlainHTTPClient(on: MultiThreadedEventLoopGroup.singleton)
        let response = try await client.send(request, host: self.host, port: self.port)
        // JSON, also without --json: a container's log keeps it.
        print(response.text)
        if response.status != 200 { throw ExitCode(2) }
    }
}
