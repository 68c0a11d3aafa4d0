import IntentMatching
import TestSupport
import WidgetModel

/// Conditions that instances put to pushes, and what pushes bring, drawn from a seed.
///
/// A condition names a kind (one kind in a tenth of them, nine in 3 % each), in 70 % a team (of 1,000, skewed by the cube), and,
/// in fewer, a bound on health, two alliances, three tags, not premium, and two regions that it excludes. An event has all
/// seven attributes.
struct ConditionPopulation {
    private var dice = SplitMix64(seed: 42)

    /// One condition; a part that is nil or empty is not asked for.
    struct Condition {
        var kind: Int
        var team: Int?
        var healthBelow: Int?
        var alliances: [Int]
        var tags: [Int]
        var isNotPremium: Bool
        var otherRegions: [Int]
    }

    /// The attributes of one push.
    struct Event {
        var kind: Int
        var team: Int
        var health: Int
        var alliance: Int
        var tags: [Int]
        var isPremium: Bool
        var region: Int
    }

    private mutating func numbers(_ count: Int, of bound: Int, tenths: Int) -> [Int] {
        self.dice.below(10) < tenths ? (0..<count).map { _ in self.dice.below(bound) } : []
    }

    mutating func condition() -> Condition {
        Condition(
            kind: Population.topic(&self.dice),
            team: self.dice.below(10) < 7 ? Population.team(&self.dice) : nil,
            healthBelow: self.dice.below(10) < 3 ? self.dice.below(101) : nil,
            alliances: self.numbers(2, of: 20, tenths: 3),
            tags: self.numbers(3, of: 50, tenths: 2),
            isNotPremium: self.dice.below(10) < 1,
            otherRegions: self.numbers(2, of: 10, tenths: 1)
        )
    }

    /// An event of one of these kinds.
    mutating func event(_ kinds: Range<Int>) -> Event {
        Event(
            kind: kinds.lowerBound + self.dice.below(kinds.count),
            team: Population.team(&self.dice),
            health: self.dice.below(101),
            alliance: self.dice.below(20),
            tags: self.numbers(3, of: 50, tenths: 10),
            isPremium: self.dice.below(4) == 0,
            region: self.dice.below(10)
        )
    }
}

extension ConditionPopulation.Condition {
    func pattern() throws -> MatchPattern {
        func names(_ letter: String, _ numbers: [Int]) -> JSONValue {
            .array(numbers.map { .string("\(letter)\($0)") })
        }
        func but(_ value: JSONValue) -> JSONValue { .object([IndexQueries.member("anything-but", value)]) }

        var members = [IndexQueries.member("kind", .string("k\(self.kind)"))]
        if let team { members.append(IndexQueries.member("team", .string("t\(team)"))) }
        if let healthBelow {
            let bound = JSONValue.array([.string("<"), .int(Int64(healthBelow))])
            members.append(IndexQueries.member("health", .object([IndexQueries.member("numeric", bound)])))
        }
        if !self.alliances.isEmpty { members.append(IndexQueries.member("alliance", names("a", self.alliances))) }
        if !self.tags.isEmpty { members.append(IndexQueries.member("tags", names("g", self.tags))) }
        if self.isNotPremium { members.append(IndexQueries.member("premium", but(.bool(true)))) }
        if !self.otherRegions.isEmpty {
            members.append(IndexQueries.member("region", but(names("r", self.otherRegions))))
        }
        return try MatchPattern.condition(from: .object(members))
    }

    /// Kind, team, bound of health, alliances, tags, not premium, other regions, by tabs; `-` for a part that is not
    /// asked for.
    var line: String {
        func list(_ numbers: [Int]) -> String {
            numbers.isEmpty ? "-" : numbers.map(String.init).joined(separator: ",")
        }
        return [
            "\(self.kind)", self.team.map(String.init) ?? "-", self.healthBelow.map(String.init) ?? "-",
            list(self.alliances), list(self.tags), self.isNotPremium ? "1" : "-", list(self.otherRegions),
        ].joined(separator: "\t")
    }
}

extension ConditionPopulation.Event {
    func attributes() throws -> Configuration {
        try Configuration.attributes(
            from: .object([
                IndexQueries.member("kind", .string("k\(self.kind)")),
                IndexQueries.member("team", .string("t\(self.team)")),
                IndexQueries.member("health", .int(Int64(self.health))),
                IndexQueries.member("alliance", .string("a\(self.alliance)")),
                IndexQueries.member("tags", .array(self.tags.map { .string("g\($0)") })),
                IndexQueries.member("premium", .bool(self.isPremium)),
                IndexQueries.member("region", .string("r\(self.region)")),
            ])
        )
    }

    /// Kind, team, health, alliance, tags, premium, region, by tabs.
    var line: String {
        [
            "\(self.kind)", "\(self.team)", "\(self.health)", "\(self.alliance)",
            self.tags.map(String.init).joined(separator: ","), self.isPremium ? "1" : "0", "\(self.region)",
        ].joined(separator: "\t")
    }
}
