import Engine
import Foundation
import Simulation
import Testing

/// The page of charts: whole, alone, and with the report's numbers.
@Suite struct PageTests {
    private static let report: Result<SimulationReport, any Error> = Result {
        var scenario = try Scenarios.small("sports-night", days: 1)
        scenario.name = "Goals & <script>alert(1)</script> \"quoted\""
        return Scenarios.report(scenario)
    }

    @Test func `every tag is closed where it was opened`() throws {
        let text = try Self.report.get().pageText
        var open: [Substring] = []
        var rest = text[...]
        var count = 0
        while let start = rest.firstIndex(of: "<") {
            let end = try #require(rest[start...].firstIndex(of: ">"))
            let tag = rest[rest.index(after: start)..<end]
            rest = rest[rest.index(after: end)...]
            let name = tag.drop { $0 == "/" }.prefix { $0.isLetter || $0.isNumber }
            count += 1
            if tag.first == "!" || tag.last == "/" { continue }
            if tag.first == "/" { #expect(open.popLast() == name) } else { open.append(name) }
            // Attributes are quoted, and quotes in them escaped.
            #expect(tag.count { $0 == "\"" }.isMultiple(of: 2), "\(tag)")
        }
        #expect(open == [])
        #expect(count > 500)
        #expect(text.hasPrefix("<!DOCTYPE html>"))
    }

    @Test func `it asks for nothing, and no coordinate is missing`() throws {
        let text = try Self.report.get().pageText
        for forbidden in [
            "http:", "https:", "src=", "href=", "url(", "@import", "<link", "<img", "nan", "NaN", "inf\"",
        ] {
            #expect(!text.contains(forbidden), "\(forbidden)")
        }
        #expect(text.contains("default-src 'none'"))
        #expect(text.contains("prefers-color-scheme:dark"))
        #expect(text.contains("width=device-width"))
        #expect(!text.contains("<script>alert"))
    }

    @Test func `its numbers are the report's`() throws {
        let report = try Self.report.get()
        let text = report.pageText
        let marker = "<script type=\"application/json\" id=\"report\">"
        let start = try #require(text.range(of: marker)).upperBound
        let end = try #require(text.range(of: "</script>", range: start..<text.endIndex)).lowerBound
        let inside = try JSONSerialization.jsonObject(with: Data(text[start..<end].utf8)) as? NSDictionary
        let written = try JSONSerialization.jsonObject(with: Data(report.jsonText)) as? NSDictionary
        #expect(inside != nil)
        #expect(inside == written)
        let reloads = try #require(written?["reloads"] as? [String: Any])
        let issued = try #require(reloads["issued"] as? Int)
        #expect(text.contains(issued.formatted(.number.locale(Locale(identifier: "en_US")))))
        #expect(issued == report.measures.engine.reloadsIssued)
        let pushes = try #require(written?["pushes"] as? [String: Any])
        let outcomes = try #require(pushes["outcomes"] as? [String: Int])
        #expect(outcomes.values.reduce(0, +) == pushes["matched"] as? Int)
        let hours = try #require(written?["hours"] as? [[String: Any]])
        let byHour = hours.reduce(0) { sum, hour in
            sum + ["push", "policy", "other", "exempt"].reduce(0) { $0 + (hour[$1] as? Int ?? 0) }
        }
        #expect(byHour == issued)
        #expect(text.contains(report.digest))
    }
}
