import Foundation
import Testing

/// The pages of reports in a browser: of load tests, simulations and what-if.
@Suite struct ReportPageTests {
    /// One look at a page: wide or as on a phone, light or dark.
    struct Look: Decodable {
        struct Focus: Decodable {
            let isInOrder: Bool
            let unseen: [String]
        }

        let size: String
        let scheme: String
        let violations: [String]
        let contrasts: Int
        let overflow: Int
        let blank: [String]
        let canvases: Int
        let tables: Int
        let focus: Focus
        let verdict: String
        let figures: [String]
        let text: String
        let asked: [String]
    }

    private struct Complaints: Decodable {
        let complaints: [String]
    }

    /// Looks at a page in every way, and expects what every report's page has to be. The pictures stay in `.build/reports`.
    static func looks(at page: String, canvases: Int) async throws -> [Look] {
        let result = try await Command.run(
            TestGateway.python,
            [
                "\(TestGateway.root)/Tests/EndToEndTests/Clients/report.py", "--shots",
                "\(TestGateway.root)/.build/reports",
                page,
            ]
        )
        try #require(result.status == 0, "\(result.errors.suffix(4000))")
        let lines = result.output.split(separator: "\n").map { Data($0.utf8) }
        let looks = lines.compactMap { try? JSONDecoder().decode(Look.self, from: $0) }
        #expect(looks.count == 4)
        for look in looks {
            let name = "\(look.size) \(look.scheme)"
            #expect(look.violations == [], "\(name)")
            #expect(look.contrasts > 5, "\(name): of too few texts the contrast was computed")
            #expect(look.overflow == 0, "\(name) is wider than its window")
            #expect(look.blank == [], "\(name): charts in which nothing is drawn")
            #expect(look.canvases == canvases, "\(name)")
            #expect(look.focus.isInOrder && look.focus.unseen == [], "\(name)")
            #expect(look.figures.count == 3 && !look.verdict.isEmpty, "\(name)")
            #expect(!look.text.contains("undefined") && !look.text.contains("NaN"), "\(name): \(look.text)")
            #expect(look.asked == [], "\(name)")
        }
        let complaints = lines.compactMap { try? JSONDecoder().decode(Complaints.self, from: $0) }
        #expect(complaints.map(\.complaints) == [[]])
        return looks
    }

    private static func bench(
        _ scenario: [String],
        _ name: String,
        _ options: [String] = []
    ) async throws -> (page: String, output: String) {
        let page = "\(try TestGateway.makeFolder())/\(name).html"
        let result = try await Command.run(TestGateway.program, ["bench"] + scenario + ["--html", page] + options)
        #expect(result.status == 0 || result.status == 1, "\(result.errors)")
        return (page, result.output)
    }

    private static let size = ["--widgets", "60", "--rate", "200", "--seconds", "2"]

    @Test func `a load test's page has its verdict, three figures and charts`() async throws {
        let (page, output) = try await Self.bench(["--quick", "burst", "--json"] + Self.size, "bench-burst")
        // Operations, percentiles, and each of the four stages over time.
        let looks = try await Self.looks(at: page, canvases: 6)
        let report = try JSONSerialization.jsonObject(with: Data(output.utf8)) as? [String: Any]
        let generator = try #require(report?["generator"] as? [String: Any])
        // On a busy machine the generator is late, and the page must say so.
        let wasLate = generator["wasBottleneck"] as? Bool == true
        #expect(Set(looks.map(\.verdict)) == [wasLate ? "Do not believe the latencies" : "All objectives are met"])
        #expect(looks[0].text.contains("Decided at once: pushes") && looks[0].text.contains("generator"))
        try FileManager.default.removeItem(atPath: URL(filePath: page).deletingLastPathComponent().path)
    }

    @Test func `what is missed, away or refused is on the page`() async throws {
        let folder = try TestGateway.makeFolder()
        try """
        name: Refused & <b>away</b>
        for: 1s
        settle: 10m
        restartAt: 300ms
        connections: 1
        loads: [{name: strangers, send: pushes, rate: 200}]
        objectives: [accepted p50 <= 1us, errors <= 0]
        """.write(toFile: "\(folder)/a.yaml", atomically: true, encoding: .utf8)
        let (page, _) = try await Self.bench(["\(folder)/a.yaml", "--no-setup"], "bench-refused")
        let look = try #require(try await Self.looks(at: page, canvases: 1).first)
        #expect(look.verdict == "An objective is missed")
        for text in [
            "Missed: accepted p50 <= 1us", "Missed: errors <= 0", "400 BadDeviceToken", "the push listener was away",
            "Refused & <b>away</b>", "never",
        ] {
            #expect(look.text.contains(text), "\(text)")
        }
        try FileManager.default.removeItem(atPath: folder)
        try FileManager.default.removeItem(atPath: URL(filePath: page).deletingLastPathComponent().path)
    }

    @Test func `without the chart library the page shows tables, and bench says why`() async throws {
        let page = "\(try TestGateway.makeFolder())/bench-tables.html"
        let options = ["--html", page, "--chart-script", "/nowhere/chart.js"]
        let result = try await Command.run(TestGateway.program, ["bench", "--quick", "steady"] + Self.size + options)
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.errors.contains("install libjs-chart.js or give --chart-script"), "\(result.errors)")
        let look = try #require(try await Self.looks(at: page, canvases: 0).first)
        #expect(look.tables > 6)
        try FileManager.default.removeItem(atPath: URL(filePath: page).deletingLastPathComponent().path)
    }

    @Test func `a simulation's page has its verdict, three figures and charts`() async throws {
        let folder = try TestGateway.makeFolder()
        let page = "\(folder)/simulation.html"
        let scenario = "\(TestGateway.root)/docs/examples/scenarios/sports-night.yaml"
        let result = try await Command.run(
            TestGateway.program,
            ["simulate", "--scenario", scenario, "--days", "1", "--html", page, "--json"]
        )
        #expect(result.status == 0, "\(result.errors)")
        let look = try #require(try await Self.looks(at: page, canvases: 6).first)
        #expect(look.verdict.hasPrefix("A change is shown within "))
        let json = try #require(try JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [String: Any])
        let reloads = try #require((json["reloads"] as? [String: Any])?["issued"] as? Int)
        #expect(look.text.contains("\(reloads.formatted(.number.locale(Locale(identifier: "en_US")))) in all"))
        #expect(look.text.contains(try #require(json["digest"] as? String)))
        let file = "\(folder)/simulation.json"
        try result.output.write(toFile: file, atomically: true, encoding: .utf8)
        #expect(try await SchemaTests.faults("simulation-report", [file], in: folder) == [])
        try FileManager.default.removeItem(atPath: folder)
    }
}
