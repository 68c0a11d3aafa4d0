import WidgetModel

/// A table for people: aligned columns, no wider than the screen where a column can be shortened.
struct TextTable {
    /// A column: its title, and the part of a row that it shows.
    struct Column: Sendable {
        let title: String
        /// Whether it stands on the right, as numbers do.
        var isNumber = false
        /// Whether it may be shortened to fit: texts, but no ids, which people copy.
        var isElastic = false
        let cell: @Sendable (_ row: JSONValue, _ now: Instant) -> Cell
    }

    /// A column that can be shortened keeps so many characters.
    private static let elasticMin = 24
    private static let gap = "  "

    private let columns: [Column]
    /// Wide enough for the rows so far: a later part of a list stands below the first.
    private var widths: [Int]

    init(_ columns: [Column]) {
        self.columns = columns
        self.widths = columns.map { $0.title.count }
    }

    /// The rows' lines.
    ///
    /// - Parameter isFirst: Whether the titles stand above them.
    mutating func lines(_ rows: [JSONValue], now: Instant, on screen: Screen, isFirst: Bool = true) -> [String] {
        let cells = rows.map { row in self.columns.map { Self.printable($0.cell(row, now)) } }
        for row in cells {
            for (index, cell) in row.enumerated() { self.widths[index] = max(self.widths[index], cell.text.count) }
        }
        let fitting = self.fitting(screen.columns)
        let titles = self.columns.map { Cell($0.title, .title) }
        return ((isFirst ? [titles] : []) + cells).map { row in
            var line = ""
            for (index, cell) in row.enumerated() {
                let text = Self.cut(cell.text, to: fitting[index])
                let room = String(repeating: " ", count: max(0, fitting[index] - text.count))
                let shown = screen.show(Cell(text, cell.style))
                line += (index > 0 ? Self.gap : "") + (self.columns[index].isNumber ? room + shown : shown + room)
            }
            while line.last == " " { line.removeLast() }
            return line
        }
    }

    /// The columns' widths, the widest elastic ones made smaller until all fit.
    private func fitting(_ columns: Int?) -> [Int] {
        var widths = self.widths
        guard let columns else { return widths }
        var excess = widths.reduce(0, +) + Self.gap.count * (widths.count - 1) - columns
        while excess > 0 {
            let candidates = widths.indices.filter {
                self.columns[$0].isElastic && widths[$0] > max(Self.elasticMin, self.columns[$0].title.count)
            }
            guard let widest = candidates.max(by: { widths[$0] < widths[$1] }) else { return widths }
            widths[widest] -= 1
            excess -= 1
        }
        return widths
    }

    private static func cut(_ text: String, to width: Int) -> String {
        text.count <= width ? text : String(text.prefix(width - 1)) + "…"
    }

    /// Keeps a gateway's words from being orders to a terminal.
    private static func printable(_ cell: Cell) -> Cell { Cell(cell.text.printable, cell.style) }
}

extension String {
    /// Without control characters, which would move a terminal's cursor.
    var printable: String {
        guard self.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) else { return self }
        return String(
            String.UnicodeScalarView(
                self.unicodeScalars.map { $0.properties.generalCategory == .control ? "\u{FFFD}" : $0 }
            )
        )
    }
}

extension TextTable.Column {
    /// A text, or a value as JSON; `–` where there is none.
    static func text(_ title: String, _ path: String, isElastic: Bool = false) -> Self {
        Self(title: title, isElastic: isElastic) { row, _ in Cell(row.at(path)?.words ?? "–") }
    }

    /// A number with its digits in groups; `–` where it is not known.
    static func count(_ title: String, _ path: String) -> Self {
        Self(title: title, isNumber: true) { row, _ in Cell(row.at(path)?.whole.map { NumberText.grouped($0) } ?? "–") }
    }

    /// An instant.
    static func time(_ title: String, _ path: String) -> Self {
        Self(title: title) { row, now in Cell(row.at(path)?.text.map { Moment.text($0, now: now) } ?? "–") }
    }

    /// A list of words.
    static func list(_ title: String, _ path: String, isElastic: Bool = true) -> Self {
        Self(title: title, isElastic: isElastic) { row, _ in
            let words = row.at(path)?.elements.map(\.words) ?? []
            return Cell(words.isEmpty ? "–" : words.joined(separator: ", "))
        }
    }

    /// The widgets of an app or kind that are behind, those that are late, and the age of the oldest.
    static let behind = [
        Self.count("BEHIND", "freshness.behind"),
        Self(title: "LATE", isNumber: true) { row, _ in
            guard let late = row.at("freshness.late")?.whole else { return "–" }
            return Cell(NumberText.grouped(late), row.at("freshness.isMet") == .bool(false) ? .bad : .plain)
        },
        Self(title: "OLDEST", isNumber: true) { row, _ in
            Cell(row.at("freshness.oldestSeconds")?.whole.map { Moment.length(Int64($0)) } ?? "–")
        },
    ]

    /// Whether an event stream reaches a host: its own, or its app's.
    static let reached = Self(title: "REACHED") { row, _ in
        guard let isReached = row["reached"]?.isTrue else { return "–" }
        return isReached ? Cell("yes", .good) : "no"
    }

    /// Until when the row is paused.
    static let paused = Self(title: "PAUSED") { row, now in
        guard let order = row.at("paused") else { return "no" }
        return Cell(order["until"]?.text.map { "until \(Moment.text($0, now: now))" } ?? "yes", .warning)
    }

    /// How a target does, from its `health`.
    static let health = Self(title: "STATE") { row, _ in
        switch row.at("health.state")?.text {
        case "well": Cell("well", .good)
        case "failing": Cell("failing", .warning)
        case "inTrouble": Cell("in trouble", .bad)
        case let state?: Cell(state)
        case nil: "–"
        }
    }
}

extension JSONValue {
    /// Counts by name, as in `3 reloaded, 1 deferred`, those of nothing left out; `–` for none.
    var counts: String {
        let parts = self.members.compactMap { member in
            member.value.whole.flatMap { $0 == 0 ? nil : "\(NumberText.grouped($0)) \(member.name)" }
        }
        return parts.isEmpty ? "–" : parts.joined(separator: ", ")
    }
}

/// Lines of `name  value`, those without a value left out.
struct TextCard {
    private var rows: [(name: String, cell: Cell)] = []

    mutating func add(_ name: String, _ cell: Cell?) {
        if let cell { self.rows.append((name, cell)) }
    }

    mutating func add(_ name: String, _ text: String?) { self.add(name, text.map { Cell($0) }) }

    func lines(on screen: Screen) -> [String] {
        let width = self.rows.map(\.name.count).max() ?? 0
        return self.rows.map { row in
            let room = String(repeating: " ", count: width - row.name.count)
            return "\(row.name)\(room)  \(screen.show(Cell(row.cell.text.printable, row.cell.style)))"
        }
    }
}
