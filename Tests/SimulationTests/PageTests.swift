import Engine
import Foundation
import ReportPages
import Simulation
import Testing

/// The page: alone, and with the report's numbers. `ReportPageTests` ask a browser how it looks.
@Suite struct PageTests {
    private static let report: Result<SimulationReport, any Error> = Result {
        var scenario = try Scenarios.small("sports-night", days: 1)
        scenario.name = "Goals & <script>alert(1)</script> \"quoted\""
        return Scenarios.report(scenario)
    }

    @Test func `it asks for nothing`() throws {
        let text = try Self.report.get().page.text(chartScript: nil)
        for forbidden in ["http:", "https:", "src=", "href=\"", "url(", "@import", "<link", "<img", "<script>alert"] {
            #expect(!text.contains(forbidden), "\(forbidden)")
        }
        #expect(text.contains("default-src 'none'"))
        #expect(text.contains("width=device-width"))
        #expect(text.contains("data-kind=\"simulation\" data-chart=\"no\""))
    }

    @Test func `its numbers are the report's`() throws {
        let report = try Self.report.get()
        let text = report.page.text(chartScript: nil)
        let marker = "<script type=\"application/json\" id=\"report\">"
        let start = try #require(text.range(of: marker)).upperBound
        let end = try #require(text.range(of: "</script>", range: start..<text.endIndex)).lowerBound
        let inside = try JSONSerialization.jsonObject(with: Data(text[start..<end].utf8)) as? NSDictionary
        let written = try JSONSerialization.jsonObject(with: Data(report.jsonText)) as? NSDictionary
        #expect(inside != nil)
        #expect(inside == written)
        let reloads = try #require(written?["reloads"] as? [String: Any])
        let issued = try #require(reloads["issued"] as? Int)
        #expect(issued == report.measures.engine.reloadsIssued)
        let pushes = try #require(written?["pushes"] as? [String: Any])
        let outcomes = try #require(pushes["outcomes"] as? [String: Int])
        #expect(outcomes.values.reduce(0, +) == pushes["matched"] as? Int)
        let hours = try #require(written?["hours"] as? [[String: Any]])
        let byHour = hours.reduce(0) { sum, hour in
            sum + ["push", "policy", "other", "exempt"].reduce(0) { $0 + (hour[$1] as? Int ?? 0) }
        }
        #expect(byHour == issued)
        #expect(written?["digest"] as? String == report.digest)
        let staleness = try #require(written?["staleness"] as? [String: Any])
        let shares = try #require(staleness["shares"] as? [[Double]])
        #expect(shares.map { $0[1] } == shares.map { $0[1] }.sorted() && shares.last?[1] == 1)
    }
}
