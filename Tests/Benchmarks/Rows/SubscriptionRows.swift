import IntentMatching
import TestSupport
import WidgetModel

/// Conditions that instances put to pushes (`when`), and events that are matched against all of them.
///
/// A condition names a kind (one kind in a tenth of them, nine in 3 % each), in 70 % a team (of 1,000, skewed by the cube), and,
/// in fewer, a bound on health, two alliances, three tags, not premium, and two regions that it excludes. An event has all
/// seven attributes.
struct SubscriptionRows {
    private let count: Int
    private var dice = SplitMix64(seed: 42)

    init(_ count: Int) {
        self.count = count
    }

    mutating func run() throws {
        let patterns = try (0..<self.count).map { _ in try MatchPattern.condition(from: self.condition()) }
        var index = SubscriptionIndex()
        let before = Report.residentBytes()
        var expressions: [UInt32] = []
        expressions.reserveCapacity(self.count)
        let seconds = Stopwatch.seconds { for pattern in patterns { expressions.append(index.insert(pattern)) } }
        // Equal conditions are one expression: how many each stands for.
        var holders = [Int](repeating: 0, count: index.bound)
        for expression in expressions { holders[Int(expression)] += 1 }
        Report.line(
            "insert",
            [
                "perSecond": Double(self.count) / seconds, "distinct": Double(index.count),
                "bytes": Double(index.byteCount) / Double(self.count),
                "bytesPerDistinct": Double(index.byteCount) / Double(index.count),
                "resident": Double(Report.residentBytes() - before) / Double(self.count),
                "unfound": Double(index.unfoundCount),
            ]
        )
        for (name, topics) in [("rare kind", 10..<1000), ("3 % kind", 1..<10), ("10 % kind", 0..<1)] {
            let events = try (0..<500).map { _ in try self.event(topics.lowerBound + self.dice.below(topics.count)) }
            var watch = Stopwatch()
            var found = 0
            var held = 0
            for event in events { for expression in index.matches(event) { held += holders[Int(expression)] } }
            for event in events + events { watch.add { found += index.matches(event).count } }
            Report.line(
                name,
                [
                    "matched": Double(found) / 1000, "held": Double(held) / 500, "p50": watch.quantile(0.5),
                    "p99": watch.quantile(0.99),
                ]
            )
        }
    }

    private mutating func names(_ letter: String, _ count: Int, of bound: Int) -> JSONValue {
        .array((0..<count).map { _ in .string("\(letter)\(self.dice.below(bound))") })
    }

    private mutating func condition() -> JSONValue {
        var members = [IndexQueries.member("kind", .string("k\(Population.topic(&self.dice))"))]
        if self.dice.below(10) < 7 {
            members.append(IndexQueries.member("team", .string("t\(Population.team(&self.dice))")))
        }
        if self.dice.below(10) < 3 {
            let bound = JSONValue.array([.string("<"), .int(Int64(self.dice.below(101)))])
            members.append(IndexQueries.member("health", .object([IndexQueries.member("numeric", bound)])))
        }
        if self.dice.below(10) < 3 { members.append(IndexQueries.member("alliance", self.names("a", 2, of: 20))) }
        if self.dice.below(10) < 2 { members.append(IndexQueries.member("tags", self.names("g", 3, of: 50))) }
        if self.dice.below(10) < 1 {
            members.append(IndexQueries.member("premium", .object([IndexQueries.member("anything-but", .bool(true))])))
        }
        if self.dice.below(10) < 1 {
            let regions = IndexQueries.member("anything-but", self.names("r", 2, of: 10))
            members.append(IndexQueries.member("region", .object([regions])))
        }
        return .object(members)
    }

    private mutating func event(_ topic: Int) throws -> Configuration {
        try Configuration.attributes(
            from: .object([
                IndexQueries.member("kind", .string("k\(topic)")),
                IndexQueries.member("team", .string("t\(Population.team(&self.dice))")),
                IndexQueries.member("health", .int(Int64(self.dice.below(101)))),
                IndexQueries.member("alliance", .string("a\(self.dice.below(20))")),
                IndexQueries.member("tags", self.names("g", 3, of: 50)),
                IndexQueries.member("premium", .bool(self.dice.below(4) == 0)),
                IndexQueries.member("region", .string("r\(self.dice.below(10))")),
            ])
        )
    }
}
