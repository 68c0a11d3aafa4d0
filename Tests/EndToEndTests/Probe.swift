import Foundation
import Testing

/// One HTTP/2 connection of a client that is not ours, and its events.
final class Probe {
    private let command: Command
    private(set) var seen: [String] = []

    /// - Parameters:
    ///   - client: The names of files without their suffix, of a client certificate and its key.
    ///   - push: Whether to push to host 1.
    init(
        _ gateway: TestGateway,
        client: String? = nil,
        push: Bool = false,
        bearer: String? = nil,
        topic: String? = TestGateway.topic,
        options: [String] = []
    ) throws {
        var arguments = [
            "\(TestGateway.root)/Tests/EndToEndTests/Clients/h2_probe.py", "\(gateway.pushPort)", gateway.ca,
        ]
        if let client { arguments += ["--cert", "\(client).pem", "--key", "\(client).key"] }
        if push { arguments += ["--token", TestGateway.token(1)] }
        if let topic { arguments += ["--topic", topic] }
        if let bearer { arguments += ["--bearer", bearer] }
        self.command = try Command(TestGateway.python, arguments + options)
    }

    /// Waits for an event that begins with a text; nil if the connection ends without it.
    func wait(for beginning: String) async -> String? {
        while let line = await self.next() {
            if line.hasPrefix(beginning) { return line }
        }
        return nil
    }

    /// All lines up to the end of the connection, with those that were waited for.
    func all() async -> [String] {
        while await self.next() != nil {}
        return self.seen
    }

    func stop() { self.command.terminate() }

    /// The next event in a short form: `settings 1000`, `goaway 0 last 1 {"reason":"Shutdown"}`, `response 200`.
    private func next() async -> String? {
        // A new round goes on where the last one stopped: the lines wait in the stream.
        for await line in self.command.lines {
            guard let event = try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any],
                let name = event["event"] as? String
            else {
                self.seen.append(line)
                continue
            }
            let text =
                switch name {
                case "settings": "settings \(event["streams"] as? Int ?? -1)"
                case "response": "response \(event["status"] as? Int ?? 0)"
                case "id": "id \(event["id"] as? String ?? "")"
                case "body": "body \((event["body"] as? [String: Any])?["reason"] as? String ?? "")"
                case "goaway":
                    "goaway \(event["code"] as? Int ?? -1) last \(event["last"] as? Int ?? -1) \(event["debug"] ?? "")"
                case "tls": "tls \(event["version"] ?? "") \(event["alpn"] as? String ?? "none")"
                default: name
                }
            self.seen.append(text)
            return text
        }
        return nil
    }
}
