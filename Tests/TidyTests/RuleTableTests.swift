import Testing

/// The table of Apple's rules in docs/engine.md names a test for each, and the tests are there.
@Suite struct RuleTableTests {
    @Test func `every rule of Apple's pages is shown by a test that exists`() throws {
        let page = try #require(Tree.text("docs/engine.md"))
        let rows = page.split(separator: "\n")
            .drop { !$0.hasPrefix("## Apple's rules") }
            .prefix { !$0.hasPrefix("## Sources") }
            .filter { $0.hasPrefix("| ") && !$0.hasPrefix("| rule |") }
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
