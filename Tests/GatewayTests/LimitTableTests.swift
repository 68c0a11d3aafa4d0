import FoundationEssentials
import HTTP2
import HTTPTransport
import Settings
import Testing

/// `docs/limits.md`: every limit has its default, a counter and a test.
@Suite struct LimitTableTests {
    /// A row of the page.
    private struct Row: Hashable {
        let section: String
        let keys: [String]
        let defaults: [String]
        let counter: String
        let tests: [String]
    }

    private static let root = URL(filePath: #filePath).resolvingSymlinksInPath().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().path

    private static let lines = ((try? String(contentsOfFile: "\(Self.root)/docs/limits.md", encoding: .utf8)) ?? "")
        .split(separator: "\n")

    private static let rows: [Row] = {
        var rows: [Row] = []
        var section = ""
        for line in Self.lines {
            if line.hasPrefix("## ") { section = String(line.dropFirst(3).filter { $0 != "`" }) }
            let cells = line.split(separator: "|").map { Self.trimmed($0) }
            guard line.hasPrefix("|"), cells.count == 4, line.contains("Tests"), !cells[0].hasPrefix("---") else {
                continue
            }
            rows.append(
                Row(
                    section: section,
                    keys: Self.quoted(cells[0]),
                    defaults: cells[1].split(separator: ",").map { Self.trimmed($0) },
                    counter: cells[2],
                    tests: Self.quoted(cells[3]).filter { $0.contains("Tests/") }
                )
            )
        }
        return rows
    }()

    private static func trimmed(_ text: some StringProtocol) -> String {
        String(text.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
    }

    /// The texts between backticks.
    private static func quoted(_ text: String) -> [String] {
        text.split(separator: "`", omittingEmptySubsequences: false).enumerated()
            .filter { $0.offset % 2 == 1 }.map { String($0.element) }
    }

    /// The keys of the sections that the page is about, less what the engine keeps.
    private static let keys: Set<String> = {
        let engine: Set<String> = [
            "maxInstancesPerHost", "maxTokensPerHost", "maxTags", "maxPendingPerInstance", "maxPushesRetained",
            "pushRetention", "maxDecisionsRetained", "maxRepeatEntries", "maxAcknowledgement", "removedTokenRetention",
        ]
        // No limits: how often, over what, and whether.
        let others: Set<String> = [
            "heartbeat", "rotation", "maxRetry", "refreshScope", "bindConnections", "level", "levels", "format",
            "enabled", "endpoint", "ca", "file", "exportInterval",
        ]
        let sections: Set<String> = [
            "limits", "http2", "timeouts", "streams", "feed", "log", "rateLimits", "providerTokens", "storage",
            "tracing", "dryRun", "fairness",
        ]
        let paths = ConfigurationFile.keyPaths.map { $0.split(separator: ".").map(String.init) }
        return Set(
            paths.filter { $0.count >= 2 && sections.contains($0[0]) && !engine.union(others).contains($0[1]) }
                .map { "\($0[0]).\($0[1])" }
        )
    }()

    /// Sections of limits that no key sets.
    private static let keyless = ["The system's", "What operators ask", "Hosts that change their widgets' ids"]

    @Test func `every limit of connections and of the push contract has a row`() {
        let described = Self.rows.filter { !Self.keyless.contains($0.section) }.flatMap { row in
            row.keys.map { "\(row.section).\($0)" }
        }
        #expect(described.count == Set(described).count)
        #expect(Set(described) == Self.keys)
    }

    @Test func `every row has a default, a counter and a test that there is`() throws {
        for row in Self.rows where row.section != "The system's" {
            let hasKeys = !Self.keyless.contains(row.section)
            #expect(!hasKeys || row.defaults.count == row.keys.count, "\(row)")
            #expect(!row.counter.isEmpty && !row.tests.isEmpty, "\(row)")
            for test in row.tests {
                let path = "\(Self.root)/Tests/\(test)"
                let exists = [path, "\(path).swift"].contains { FileManager.default.fileExists(atPath: $0) }
                #expect(exists, "\(test)")
            }
        }
    }

    @Test func `every limit is of a gateway, of a partition or of the cluster`() {
        let section = Self.lines.drop { $0 != "## With several gateways" }.dropFirst().prefix { !$0.hasPrefix("## ") }
        let named = section.compactMap { line -> [String]? in
            let cells = line.split(separator: "|").map { Self.trimmed($0) }
            return line.hasPrefix("|") && cells.count == 2 ? Self.quoted(cells[1]) : nil
        }.joined()
        #expect(named.count == Set(named).count)
        let sections = Set(Self.keys.map { String($0.prefix { $0 != "." }) })
        #expect(Set(named).subtracting(Self.keys) == sections.intersection(named))
        for key in Self.keys where !named.contains(key) {
            #expect(named.contains(String(key.prefix { $0 != "." })), "\(key)")
        }
    }

    @Test func `the defaults are those of the example`() {
        let lines = ExampleFile.text.split(separator: "\n")
        for row in Self.rows where !Self.keyless.contains(row.section) {
            for (key, value) in zip(row.keys, row.defaults) where value != "none" {
                #expect(lines.contains { $0 == "  \(key): \(value)" }, "\(row.section).\(key): \(value)")
            }
        }
    }

    @Test func `counters of connections are those that there are`() {
        let limits = Set(HTTP2Limit.allCases.map(\.rawValue) + HTTPListenerLimit.allCases.map(\.rawValue))
        let deadlines = Set(HTTPListenerDeadline.allCases.map(\.rawValue))
        for row in Self.rows {
            for name in Self.quoted(row.counter) {
                let parts = name.split(separator: ".").map(String.init)
                guard parts.count == 4, parts[0] == "listeners" else { continue }
                #expect(parts[2] == "limits" ? limits.contains(parts[3]) : deadlines.contains(parts[3]), "\(name)")
            }
        }
    }
}
