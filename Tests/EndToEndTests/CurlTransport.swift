import Foundation
import FreshetClient

/// FreshetClient's requests as curl makes them, which believes one gateway's authority.
struct CurlTransport: FreshetTransport {
    let ca: String

    func answer(to request: TransportRequest) async throws -> TransportAnswer {
        var arguments = ["--silent", "--no-buffer", "--include", "--http2", "--cacert", self.ca]
        arguments += ["--request", request.method]
        for (name, value) in request.headers { arguments += ["--header", "\(name): \(value)"] }
        if request.body != nil { arguments += ["--data-binary", "@-"] }
        let body = request.body.map { String(decoding: $0, as: UTF8.self) }
        let command = try Command("curl", arguments + [request.url.absoluteString], input: body)
        var head: [String] = []
        for await line in command.lines {
            let line = line.trimmingCharacters(in: .newlines)
            if line.isEmpty { break }
            head.append(line)
        }
        guard let status = head.first?.split(separator: " ").dropFirst().first.flatMap({ Int($0) }) else {
            throw TestGateway.Failure("curl \(request.url): exit \(await command.wait().status)")
        }
        let fields = head.dropFirst().compactMap { line in
            line.firstIndex(of: ":").map {
                (String(line[..<$0]), line[$0...].dropFirst().trimmingCharacters(in: .whitespaces))
            }
        }
        return TransportAnswer(
            status: status,
            headers: Dictionary(fields) { first, _ in first },
            body: Self.body(command)
        )
    }

    /// The rest of the output, line by line.
    private static func body(_ command: Command) -> AsyncThrowingStream<Data, any Error> {
        let (body, parts) = AsyncThrowingStream.makeStream(of: Data.self)
        parts.onTermination = { _ in command.terminate() }
        Task {
            for await line in command.lines { parts.yield(Data("\(line)\n".utf8)) }
            let status = await command.wait().status
            parts.finish(throwing: status == 0 ? nil : TestGateway.Failure("curl: exit \(status)"))
        }
        return body
    }
}

extension TestGateway {
    /// A listener, asked by curl.
    private func endpoint(_ url: String, _ bearer: String) throws -> Endpoint {
        guard let url = URL(string: url) else { throw Failure("\(url) is no address") }
        return Endpoint(url, token: .fixed(bearer), transport: CurlTransport(ca: self.ca), retries: .never)
    }

    func sender(_ bearer: String) throws -> Sender {
        Sender(app: Self.app, at: try self.endpoint(self.pushURL, bearer))
    }

    func backEnd(_ bearer: String) throws -> BackEnd {
        BackEnd(app: Self.app, at: try self.endpoint(self.hostURL, bearer))
    }

    func host(_ number: Int, _ bearer: String) throws -> WidgetHost {
        try self.backEnd(bearer).host(Self.token(number))
    }
}
