/// A mark on an axis.
package struct ChartTick: Hashable, Sendable {
    package let value: Double
    package let label: String

    package init(_ value: Double, _ label: String) {
        self.value = value
        self.label = label
    }
}

/// Where numbers lie on an axis.
package struct ChartScale: Hashable, Sendable {
    package let lower: Double
    package let upper: Double
    package let ticks: [ChartTick]

    package init(lower: Double, upper: Double, ticks: [ChartTick]) {
        self.lower = lower
        self.upper = max(upper, lower + 1e-9)
        self.ticks = ticks
    }

    /// A scale from zero to a round number that is not below the largest value, with some four marks.
    package static func counts(upTo largest: Double) -> ChartScale {
        let step = Self.roundStep(largest / 4)
        let count = max(1, Int((largest / step).rounded(.up)))
        let ticks = (0...count).map { ChartTick(Double($0) * step, Self.short(Double($0) * step)) }
        return ChartScale(lower: 0, upper: Double(count) * step, ticks: ticks)
    }

    /// A scale from zero to a round percentage, at most 100.
    package static func percents(upTo largest: Double = 100) -> ChartScale {
        let step = [1.0, 2, 5, 10, 20, 25].first { $0 * 4 >= largest } ?? 25
        let count = min(Int(100 / step), max(1, Int((largest / step).rounded(.up))))
        let ticks = (0...count).map { ChartTick(Double($0) * step, "\(Int(Double($0) * step)) %") }
        return ChartScale(lower: 0, upper: Double(count) * step, ticks: ticks)
    }

    /// 1, 2 or 5 times a power of ten, not below a number.
    private static func roundStep(_ number: Double) -> Double {
        var power = 1.0
        while power * 10 <= number { power *= 10 }
        return [1, 2, 5, 10].map { $0 * power }.first { $0 >= number } ?? power
    }

    /// `950`, `12k`, `3.5M`.
    package static func short(_ number: Double) -> String {
        let units = [(1e9, "G"), (1e6, "M"), (1e3, "k")]
        guard let (unit, letter) = units.first(where: { number >= $0.0 }) else { return Markup.number(number) }
        return Markup.number(number / unit) + letter
    }

    /// Where a value lies, 0 for the lower end and 1 for the upper.
    func place(_ value: Double) -> Double {
        min(1, max(0, (value - self.lower) / (self.upper - self.lower)))
    }
}

/// The colour of a series, by its role; the page's style has one of each for light and for dark.
package enum ChartColor: String, Hashable, Sendable {
    case first = "c1"
    case second = "c2"
    case third = "c3"
    case quiet = "c4"
    case alarm = "c5"
}

/// One of a chart's series in its legend.
package struct ChartKey: Hashable, Sendable {
    package let name: String
    package let color: ChartColor

    package init(name: String, color: ChartColor) {
        self.name = name
        self.color = color
    }
}

/// The sheet that a chart is drawn on: once wide, and once as narrow as a phone.
struct ChartSheet: Sendable {
    let width: Double
    let height: Double
    let left: Double
    let right: Double = 12
    let top: Double = 10
    let bottom: Double = 26

    static let wide = ChartSheet(width: 980, height: 270, left: 46)
    static let narrow = ChartSheet(width: 400, height: 240, left: 44)

    var isNarrow: Bool { self.width < 500 }
    var plotWidth: Double { self.width - self.left - self.right }
    var plotHeight: Double { self.height - self.top - self.bottom }
    var base: Double { self.top + self.plotHeight }

    func x(_ value: Double, _ scale: ChartScale) -> Double { self.left + self.plotWidth * scale.place(value) }
    func y(_ value: Double, _ scale: ChartScale) -> Double { self.base - self.plotHeight * scale.place(value) }

    /// The axes: lines across at the marks of y, marks of x below.
    func drawAxes(_ markup: inout Markup, x: ChartScale, y: ChartScale) {
        for tick in y.ticks {
            let at = self.y(tick.value, y)
            markup.empty(
                "line",
                [
                    ("class", tick.value == y.lower ? "axis" : "grid"), ("x1", Markup.number(self.left)),
                    ("x2", Markup.number(self.width - self.right)), ("y1", Markup.number(at)),
                    ("y2", Markup.number(at)),
                ]
            )
            self.label(&markup, tick.label, self.left - 7, at + 4, anchor: "end")
        }
        var occupied = -Double.infinity
        for tick in x.ticks {
            let at = self.x(tick.value, x)
            let half = Double(tick.label.count) * 3.4
            // A label that would run into the one before, or off the sheet, is left out.
            guard at - half > occupied + 6, at + half <= self.width else { continue }
            occupied = at + half
            self.label(&markup, tick.label, at, self.height - 8, anchor: "middle")
        }
    }

    func label(_ markup: inout Markup, _ text: String, _ x: Double, _ y: Double, anchor: String, style: String = "tick")
    {
        markup.element(
            "text",
            [("class", style), ("x", Markup.number(x)), ("y", Markup.number(y)), ("text-anchor", anchor)],
            text: text
        )
    }
}
