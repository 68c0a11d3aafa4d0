import Foundation
import Testing

/// The dashboard's rules, run by Node.js: what it says of a gateway's numbers, without a browser.
enum DashboardRules {
    /// The value of an expression of the rules.
    static func run<Value: Decodable>(_ expression: String, as type: Value.Type) async throws -> Value {
        let folder = try TestGateway.makeFolder()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try #"{"type": "module"}"#.write(toFile: "\(folder)/package.json", atomically: true, encoding: .utf8)
        let files = try FileManager.default.contentsOfDirectory(
            atPath: "\(TestGateway.root)/Sources/DashboardPage/Page"
        )
        for file in files where file.hasSuffix(".js") && file != "main.js" {
            let page = "\(TestGateway.root)/Sources/DashboardPage/Page/\(file)"
            try FileManager.default.copyItem(atPath: page, toPath: "\(folder)/\(file)")
        }
        let script = """
            import { advice, behindReasons, firstSteps, freshness, pauseText } from "./advice.js";
            import { marksOf } from "./flow.js";
            import { because, outcomes, sources } from "./numbers.js";
            console.log(JSON.stringify(\(expression)));
            """
        try script.write(toFile: "\(folder)/ask.js", atomically: true, encoding: .utf8)
        let result = try await Command.run("node", ["\(folder)/ask.js"])
        try #require(result.status == 0, "\(result.errors)")
        return try JSONDecoder().decode(type, from: Data(result.output.utf8))
    }

    /// The texts of a gateway's dashboard now: the advice, and the pauses at the top of every view.
    static func said(of gateway: TestGateway) async throws -> [String] {
        var answers: [String] = []
        for path in [
            "stats", "senders", "budget", "providers", "upstreams", "orders", "history?step=second",
            "history?step=minute",
        ] {
            answers.append(try await gateway.curl("GET", "\(gateway.opsURL)/v1/\(path)").body)
        }
        let state = """
            stats: \(answers[0]), senders: \(answers[1]).senders, budget: ((all) => all.survey ? all : null)(\(answers[2])),
            providers: \(answers[3]).providers, places: \(answers[4]), samples: \(answers[6]).samples,
            minutes: \(answers[7]).samples
            """
        return try await self.run(
            "[...advice({ \(state) }).map((one) => `${one.text} ${one.act}`), ...\(answers[5]).orders.map(pauseText)]",
            as: [String].self
        )
    }
}
