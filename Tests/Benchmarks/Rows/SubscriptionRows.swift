import IntentMatching
import WidgetModel

/// How many conditions fit a second and a byte, and how long it takes to find those that a push fulfils.
struct SubscriptionRows {
    /// How many events of each class; all are of these kinds.
    private static let events = 500
    private static let classes = [("rare kind", 10..<1000), ("3 % kind", 1..<10), ("10 % kind", 0..<1)]

    private let count: Int
    private var population = ConditionPopulation()

    init(_ count: Int) {
        self.count = count
    }

    /// The conditions, a line each, then the events of all classes: what another engine needs to be compared.
    mutating func printLines() {
        for _ in 0..<self.count { print(self.population.condition().line) }
        for (_, kinds) in Self.classes {
            for _ in 0..<Self.events { print(self.population.event(kinds).line) }
        }
    }

    mutating func run() throws {
        let patterns = try (0..<self.count).map { _ in try self.population.condition().pattern() }
        var index = SubscriptionIndex()
        let before = Report.residentBytes()
        var expressions: [ExpressionNumber] = []
        expressions.reserveCapacity(self.count)
        let seconds = Stopwatch.seconds { for pattern in patterns { expressions.append(index.insert(pattern)) } }
        // Equal conditions are one expression: which each stands for.
        var holders = [[UInt64]](repeating: [], count: index.bound)
        for (number, expression) in expressions.enumerated() { holders[expression.index].append(UInt64(number)) }
        Report.line(
            "insert",
            [
                "perSecond": Double(self.count) / seconds, "distinct": Double(index.count),
                "bytes": Double(index.byteCount) / Double(self.count),
                "resident": Double(Report.residentBytes() - before) / Double(self.count),
                "unfound": Double(index.unindexedCount),
            ]
        )
        for (name, kinds) in Self.classes {
            let events = try (0..<Self.events).map { _ in try self.population.event(kinds).attributes() }
            var matched = 0
            var held = 0
            // The sum of the squares of all that match, by which another engine shows that it finds the same.
            var squares: UInt64 = 0
            for event in events {
                let found = index.matches(event)
                matched += found.count
                for expression in found {
                    held += holders[expression.index].count
                    for number in holders[expression.index] { squares &+= number &* number }
                }
            }
            var watch = Stopwatch()
            var again = 0
            for event in events + events { watch.add { again += index.matches(event).count } }
            precondition(again == 2 * matched, "the same question has another answer")
            Report.line(
                name,
                [
                    "matched": Double(matched) / Double(Self.events), "held": Double(held) / Double(Self.events),
                    "squares": Double(squares), "p50": watch.quantile(0.5), "p99": watch.quantile(0.99),
                ]
            )
        }
    }
}
