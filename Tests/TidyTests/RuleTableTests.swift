import Testing

/// The table of Apple's rules in docs/engine.md names types and a test for each, and all of them are there.
@Suite struct RuleTableTests {
    private static func rows() throws -> [Substring] {
        let page = try #require(Tree.text("docs/engine.md"))
        return page.split(separator: "\n")
            .drop { !$0.hasPrefix("## Apple's rules") }
            .prefix { !$0.hasPrefix("## Sources") }
            .filter { $0.hasPrefix("| ") && !$0.hasPrefix("| rule |") }
    }

    @Test func `every rule of Apple's pages is kept by types that exist`() throws {
        var words: Set<Substring> = []
        for path in Tree.files(in: "Sources", ending: ".swift") {
            let text = Tree.text(path) ?? ""
            words.formUnion(text.split { !$0.isLetter && !$0.isNumber && $0 != "_" })
        }
        for row in try Self.rows() {
            let cells = row.split(separator: "|", omittingEmptySubsequences: true)
            // Every other part stands between backquotes: `Timeline.entry(at:)`.
            let parts = cells.count == 4 ? cells[2].split(separator: "`", omittingEmptySubsequences: false) : []
            let names = parts.indices.filter { $0 % 2 == 1 }.map { parts[$0] }
            #expect(!names.isEmpty, "\(row)")
            for name in names {
                let missing = name.prefix { $0 != "(" }.split(separator: ".").filter { !words.contains($0) }
                #expect(missing == [], "\(row)")
            }
        }
    }

    @Test func `every rule of Apple's pages is shown by a test that exists`() throws {
        let rows = try Self.rows()
        var names: Set<Substring> = []
        for path in Tree.files(in: "Tests", ending: ".swift") {
            for line in (Tree.text(path) ?? "").split(separator: "\n") where line.contains("func `") {
                if let name = line.split(separator: "`").dropFirst().first { names.insert(name) }
            }
        }
        var missing: [Substring] = []
        for row in rows {
            let cells = row.split(separator: "|", omittingEmptySubsequences: true)
            let shown = cells.last.map { $0.split(separator: "`", omittingEmptySubsequences: false) } ?? []
            let isEmpty = cells.count != 4 || cells.contains { $0.allSatisfy(\.isWhitespace) }
            if isEmpty || (shown.count == 3 && !names.contains(shown[1])) { missing.append(row) }
        }
        #expect(rows.count > 30)
        #expect(missing == [])
    }
}
