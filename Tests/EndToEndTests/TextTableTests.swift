import Testing
import WidgetModel

@testable import FreshetCLI

/// Tables, ages and cards for people.
@Suite struct TextTableTests {
    private static func row(_ name: String, _ count: Int64, _ note: String) -> JSONValue {
        .object([
            .init(name: "name", value: .string(name)), .init(name: "count", value: .int(count)),
            .init(name: "note", value: .string(note)),
        ])
    }

    private static let columns: [TextTable.Column] = [
        .text("NAME", "name"), .count("COUNT", "count"), .text("NOTE", "note", isElastic: true),
    ]
    private static let rows = [
        Self.row("a", 1_234_567, "short"), Self.row("longer", 0, "a note that is a little longer"),
    ]

    private static func lines(_ screen: Screen) -> [String] {
        var table = TextTable(Self.columns)
        return table.lines(Self.rows, now: .epoch, on: screen)
    }

    @Test func `columns stand below each other, numbers on the right`() {
        #expect(
            Self.lines(Screen()) == [
                "NAME        COUNT  NOTE", "a       1,234,567  short",
                "longer          0  a note that is a little longer",
            ]
        )
    }

    @Test(arguments: [49, 48, 43, 42, 5])
    func `what may be shortened is, and ids never`(columns: Int) {
        let lines = Self.lines(Screen(columns: columns))
        let width = max(43, min(49, columns))
        #expect(lines.map(\.count).max() == width, "\(lines)")
        #expect(lines[2].hasSuffix(columns < 49 ? "…" : "longer"))
        #expect(lines[2].hasPrefix("longer          0  a note"))
    }

    @Test func `colours are for terminals, and take no room`() {
        let lines = Self.lines(Screen(columns: 80, isStyled: true))
        #expect(lines[0] == "\u{1B}[1mNAME\u{1B}[0m        \u{1B}[1mCOUNT\u{1B}[0m  \u{1B}[1mNOTE\u{1B}[0m")
        #expect(lines[1] == "a       1,234,567  short")
    }

    @Test func `what a gateway says moves no cursor`() {
        var table = TextTable([.text("NAME", "name")])
        let lines = table.lines([Self.row("a\u{1B}[2Jb\nc", 0, "")], now: .epoch, on: Screen(), isFirst: false)
        #expect(lines == ["a\u{FFFD}[2Jb\u{FFFD}c"])
    }

    @Test func `what is not there is a dash`() {
        var table = TextTable([.text("A", "a"), .count("B", "b"), .time("C", "c"), .list("D", "d"), .health])
        #expect(table.lines([.object([])], now: .epoch, on: Screen(), isFirst: false) == ["–  –  –  –  –"])
    }

    @Test(
        arguments: [
            (0, "(now)"), (-59, "(59s ago)"), (-60, "(1m ago)"), (-3599, "(59m ago)"), (3600, "(in 1h)"),
            (172_799, "(in 47h)"), (-172_800, "(2d ago)"),
        ] as [(Int64, String)]
    )
    func `an instant has its distance`(seconds: Int64, text: String) {
        let now = Instant(seconds: 1_800_000_000)
        #expect(Moment.text(now + .seconds(seconds), now: now).hasSuffix(text))
        #expect(Moment.text("2027-01-15T08:00:00Z", now: now) == "2027-01-15 08:00:00Z (now)")
        #expect(Moment.text("no date", now: now) == "no date")
    }
}
