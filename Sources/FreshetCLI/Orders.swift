import APNSWire
import ArgumentParser
import WidgetModel

/// `freshet orders`
struct Orders: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "List what operators have paused: since and until when, and who did.",
        discussion: """
            One line for each app, kind and sender that is paused. POST /v1/orders pauses and resumes.

              freshet orders --ca certs/ca.pem

            Exit codes: 0 told, 1 the gateway does not answer, 2 it refused.
            """
    )

    @OptionGroup var gateway: OperatorOptions
    @Flag(help: "Print the gateway's JSON.") var json = false

    func run() async throws {
        let answer = try await self.gateway.ask { client throws(OperatorClient.Fault) in
            try await client.get("/v1/orders")
        }
        guard !self.json else { return print(String(decoding: answer.jsonText, as: UTF8.self)) }
        guard case .array(let orders)? = answer["orders"], !orders.isEmpty else { return print("Nothing is paused.") }
        for order in orders { print(Self.line(order)) }
    }

    /// An order as a sentence.
    private static func line(_ order: JSONValue) -> String {
        func text(_ value: JSONValue?) -> String? {
            if case .string(let text)? = value { text } else { nil }
        }
        let place = order["of"]
        var words = text(place?["app"]) ?? text(place?["sender"]).map { "sender \($0)" } ?? "?"
        if let kind = text(place?["kind"]) { words += " \(kind)" }
        words += ": paused since \(text(order["since"]) ?? "?")"
        words += text(order["until"]).map { " until \($0)" } ?? ", until it is resumed"
        if let caller = text(order["by"]) { words += ", by \(caller)" }
        if order["isConfigured"] == .bool(false) { words += " (not in the configuration any more)" }
        return words
    }
}
