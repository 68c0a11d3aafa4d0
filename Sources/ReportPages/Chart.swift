/// What is drawn in a figure: a value, so that any report can make one.
package enum Chart: Sendable {
    /// Stacked columns side by side.
    case columns(ColumnChart)
    /// Curves over numbers, perhaps with a band around them.
    case curves(CurveChart)
    /// Bars that lie on top of each other, with their names and counts.
    case ranks(RankChart)

    var keys: [ChartKey] {
        switch self {
        case .columns(let chart): chart.keys
        case .curves(let chart): chart.curves.map(\.key)
        case .ranks: []
        }
    }

    /// Draws it once for wide and once for narrow screens; the page's style shows one of them.
    func draw(_ markup: inout Markup, title: String) {
        for sheet in [ChartSheet.wide, .narrow] {
            let height: Double
            if case .ranks(let chart) = self { height = chart.height } else { height = sheet.height }
            markup.element(
                "svg",
                [
                    ("class", sheet.isNarrow ? "narrow" : "wide"), ("role", "img"), ("aria-label", title),
                    ("viewBox", "0 0 \(Markup.number(sheet.width)) \(Markup.number(height))"),
                ]
            ) { markup in
                switch self {
                case .columns(let chart): chart.draw(&markup, sheet)
                case .curves(let chart): chart.draw(&markup, sheet)
                case .ranks(let chart): chart.draw(&markup, sheet)
                }
            }
        }
    }
}

/// Stacked columns, one for each step of time.
package struct ColumnChart: Sendable {
    let keys: [ChartKey]
    /// By column and key. Narrow sheets add up neighbours.
    let columns: [[Int]]
    /// How many columns may be added up to one, from fine to coarse; 1 among them.
    let groupings: [Int]
    /// Marks under the columns, by the number of the column that they stand before.
    let ticks: [ChartTick]
    /// What a group of so many columns from one on is called, for who points at it.
    let name: @Sendable (_ first: Int, _ count: Int) -> String

    package init(
        keys: [ChartKey],
        columns: [[Int]],
        groupings: [Int],
        ticks: [ChartTick],
        name: @escaping @Sendable (_ first: Int, _ count: Int) -> String
    ) {
        self.keys = keys
        self.columns = columns
        self.groupings = groupings
        self.ticks = ticks
        self.name = name
    }

    private func grouping(_ sheet: ChartSheet) -> Int {
        let most = sheet.isNarrow ? 72 : 190
        return self.groupings.first { self.columns.count <= most * $0 } ?? self.groupings.last ?? 1
    }

    func draw(_ markup: inout Markup, _ sheet: ChartSheet) {
        let grouping = self.grouping(sheet)
        let groups = stride(from: 0, to: self.columns.count, by: grouping).map { first in
            self.columns[first..<min(first + grouping, self.columns.count)].reduce(self.keys.map { _ in 0 }) {
                sums,
                column in
                zip(sums, column).map(+)
            }
        }
        let y = ChartScale.counts(upTo: Double(max(1, groups.map { $0.reduce(0, +) }.max() ?? 1)))
        let x = ChartScale(lower: 0, upper: Double(self.columns.count), ticks: self.ticks)
        sheet.drawAxes(&markup, x: x, y: y)
        let step = sheet.plotWidth * Double(grouping) / Double(max(1, self.columns.count))
        let gap = step > 6 ? 2.0 : step > 3 ? 1 : 0.3
        for (index, group) in groups.enumerated() where group.contains(where: { $0 > 0 }) {
            markup.element("g") { markup in
                let name = self.name(index * grouping, grouping)
                let counts = zip(self.keys, group).map { "\($0.name) \(ReportText.count($1))" }
                markup.element("title", text: ([name] + counts).joined(separator: "\n"))
                var sum = 0
                for (key, count) in zip(self.keys, group) where count > 0 {
                    let low = sheet.y(Double(sum), y)
                    sum += count
                    let high = sheet.y(Double(sum), y)
                    markup.empty(
                        "rect",
                        [
                            ("class", key.color.rawValue),
                            ("x", Markup.number(sheet.left + Double(index) * step + gap / 2)),
                            ("y", Markup.number(high)), ("width", Markup.number(max(0.8, step - gap))),
                            ("height", Markup.number(max(0.5, low - high))),
                        ]
                    )
                }
            }
        }
    }
}

/// Curves over a scale of numbers.
package struct CurveChart: Sendable {
    package struct Curve: Sendable {
        let key: ChartKey
        package let points: [(x: Double, y: Double)]
        /// Whether the area under it is filled.
        let isFilled: Bool
        /// Whether a value holds until the next one.
        let isStepped: Bool

        package init(
            key: ChartKey,
            points: [(x: Double, y: Double)],
            isFilled: Bool = false,
            isStepped: Bool = false
        ) {
            self.key = key
            self.points = points
            self.isFilled = isFilled
            self.isStepped = isStepped
        }
    }

    let x: ChartScale
    let y: ChartScale
    let curves: [Curve]
    /// Lower and upper ends around the curves.
    let band: [(x: Double, low: Double, high: Double)]
    /// Points worth a name.
    let notes: [(x: Double, y: Double, text: String)]

    package init(
        x: ChartScale,
        y: ChartScale,
        curves: [Curve],
        band: [(x: Double, low: Double, high: Double)] = [],
        notes: [(x: Double, y: Double, text: String)] = []
    ) {
        self.x = x
        self.y = y
        self.curves = curves
        self.band = band
        self.notes = notes
    }

    func draw(_ markup: inout Markup, _ sheet: ChartSheet) {
        sheet.drawAxes(&markup, x: self.x, y: self.y)
        if !self.band.isEmpty {
            let upper = self.band.map { (x: $0.x, y: $0.high) }
            let lower = self.band.reversed().map { (x: $0.x, y: $0.low) }
            let path = self.path(upper + lower, sheet) + "Z"
            markup.empty("path", [("class", "band"), ("d", path)])
        }
        for curve in self.curves {
            var points = curve.points
            if curve.isStepped {
                points = zip(points, points.dropFirst()).flatMap { [$0, (x: $1.x, y: $0.y)] } + points.suffix(1)
            }
            let path = self.path(points, sheet)
            if curve.isFilled, let first = points.first, let last = points.last {
                let base = Markup.number(sheet.base)
                let closed =
                    "\(path)L\(Markup.number(sheet.x(last.x, self.x))) \(base)"
                    + "L\(Markup.number(sheet.x(first.x, self.x))) \(base)Z"
                markup.empty("path", [("class", "area \(curve.key.color.rawValue)"), ("d", closed)])
            }
            markup.empty("path", [("class", "line \(curve.key.color.rawValue)"), ("d", path)])
        }
        for note in self.notes {
            let (x, y) = (sheet.x(note.x, self.x), sheet.y(note.y, self.y))
            markup.empty(
                "circle",
                [("class", "note"), ("cx", Markup.number(x)), ("cy", Markup.number(y)), ("r", "3.5")]
            )
            let isRight = x > sheet.left + sheet.plotWidth * 0.62
            sheet.label(
                &markup,
                note.text,
                x + (isRight ? -8 : 8),
                y + 15,
                anchor: isRight ? "end" : "start",
                style: "note"
            )
        }
    }

    private func path(_ points: [(x: Double, y: Double)], _ sheet: ChartSheet) -> String {
        points.enumerated().map { index, point in
            "\(index == 0 ? "M" : "L")\(Markup.number(sheet.x(point.x, self.x))) \(Markup.number(sheet.y(point.y, self.y)))"
        }.joined()
    }
}

/// Names with bars, the largest first or in an order of their own.
package struct RankChart: Sendable {
    package struct Row: Sendable {
        package let name: String
        package let count: Int
        let color: ChartColor

        package init(name: String, count: Int, color: ChartColor) {
            self.name = name
            self.count = count
            self.color = color
        }
    }

    let rows: [Row]
    /// What the counts are a part of, for percentages.
    let whole: Int

    package init(rows: [Row], whole: Int) {
        self.rows = rows
        self.whole = whole
    }

    private static let rowHeight = 30.0

    var height: Double { Double(max(1, self.rows.count)) * Self.rowHeight + 4 }

    func draw(_ markup: inout Markup, _ sheet: ChartSheet) {
        let nameWidth = sheet.isNarrow ? 118.0 : 170.0
        let countWidth = sheet.isNarrow ? 110.0 : 150.0
        let barWidth = sheet.width - nameWidth - countWidth
        let largest = Double(max(1, self.rows.map(\.count).max() ?? 1))
        for (index, row) in self.rows.enumerated() {
            let middle = Double(index) * Self.rowHeight + Self.rowHeight / 2
            sheet.label(&markup, row.name, nameWidth - 12, middle + 4, anchor: "end", style: "name")
            markup.empty(
                "rect",
                [
                    ("class", row.color.rawValue), ("x", Markup.number(nameWidth)), ("y", Markup.number(middle - 8)),
                    ("width", Markup.number(max(1.5, barWidth * Double(row.count) / largest))), ("height", "16"),
                    ("rx", "2"),
                ]
            )
            let text = "\(ReportText.count(row.count)) (\(ReportText.percent(row.count, of: self.whole)))"
            let end = nameWidth + max(1.5, barWidth * Double(row.count) / largest)
            sheet.label(&markup, text, end + 8, middle + 4, anchor: "start", style: "tick")
        }
    }
}
