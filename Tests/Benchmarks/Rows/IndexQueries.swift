import IntentMatching
import WidgetModel

/// The questions that the index and its peers are asked, by name. `deploy/bench/index_peers.py` has the peers' words for them.
enum IndexQueries {
    /// The patterns of a question, asked in turn: one, but for `accounts`, which is about another account each time, all of
    /// them in an order that does not follow memory.
    static func patterns(_ name: String, _ population: Population) throws -> [MatchPattern] {
        guard name == "accounts" else {
            return try Self.members(name).map { [try MatchPattern.parse(.object($0))] } ?? []
        }
        let accounts = population.accounts
        return try (0..<accounts).map { number in
            let account = number &* 7919 % accounts
            return try MatchPattern.parse(.object([Self.member("account", .string("acct-\(account)"))]))
        }
    }

    private static func members(_ name: String) -> [JSONValue.Member]? {
        switch name {
        case "account": [Self.member("account", .string("acct-77"))]
        case "team": [Self.member("topic", .string("k3")), Self.member("team", .string("team-700"))]
        case "league":
            [
                Self.member("topic", .string("k1")),
                Self.member("league", .array((1...3).map { .string("league-\($0)") })),
            ]
        case "range": [Self.member("topic", .string("k1")), Self.member("health", Self.healthRange)]
        case "array": [Self.member("alliances", .string("al-7"))]
        case "wide":
            [
                Self.member("topic", .string("k0")), Self.member("premium", .bool(true)),
                Self.member("$family", .string("systemSmall")),
            ]
        case "broad": [Self.member("topic", .string("k0"))]
        case "range-only": [Self.member("health", Self.healthRange)]
        case "negation":
            [
                Self.member(
                    "team",
                    .object([Self.member("anything-but", .array((0...2).map { .string("team-\($0)") }))])
                )
            ]
        case "any": []
        default: nil
        }
    }

    private static let healthRange = JSONValue.object([
        Self.member("numeric", .array([.string(">="), .int(25), .string("<="), .int(58)]))
    ])

    static func member(_ name: String, _ value: JSONValue) -> JSONValue.Member {
        JSONValue.Member(name: name, value: value)
    }
}
