import ArgumentParser
import HTTPTransport

/// `freshet ping`
struct Ping: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Connect to a listener, send HTTP/2 PINGs and print the round-trip times.",
        discussion: """
            An answer shows that the listener can be reached, that its certificate is trusted, and that it speaks \
            HTTP/2. Without --server it is the listener for senders.

              freshet ping --server https://127.0.0.1:2197 --ca certs/ca.pem

            Exit codes: 0 answered, 1 no answer.
            """
    )

    @OptionGroup var connection: ConnectionOptions
    @Option(help: "How many PINGs.") var count = 3
    @Flag(help: "Print JSON.") var json = false

    func validate() throws {
        guard (1...1000).contains(self.count) else { throw ValidationError("--count takes 1 to 1000") }
    }

    func run() async throws {
        let count = self.count
        let access = try self.connection.access(.push)
        let times = try await access.withConnection { connection in
            var times: [Duration] = []
            for _ in 0..<count { times.append(try await connection.ping()) }
            return times
        }
        let microseconds = times.map {
            $0.components.seconds * 1_000_000 + $0.components.attoseconds / 1_000_000_000_000
        }
        if self.json {
            print("{\"microseconds\":[\(microseconds.map(String.init).joined(separator: ","))]}")
        } else {
            for (index, time) in microseconds.enumerated() {
                print("\(access.host):\(access.port) seq=\(index + 1) time=\(time) µs")
            }
        }
    }
}
