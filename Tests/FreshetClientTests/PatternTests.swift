import Foundation
import FreshetClient
import Testing

/// Patterns on the wire.
@Suite struct PatternTests {
    private static let patterns: [(Pattern, String)] = [
        (["team": "seahawks"], #"{"team":"seahawks"}"#),
        (["team": ["seahawks", .prefix("ra")]], #"{"team":["seahawks",{"prefix":"ra"}]}"#),
        (["a": 12, "b": true, "c": nil, "d": 1.5], #"{"a":12,"b":true,"c":null,"d":1.5}"#),
        (["team": .suffix("s")], #"{"team":{"suffix":"s"}}"#),
        (["team": .wildcard("s*r*s")], #"{"team":{"wildcard":"s*r*s"}}"#),
        (["team": .equalsIgnoringCase("STORM")], #"{"team":{"equals-ignore-case":"STORM"}}"#),
        (["league": .anythingBut(["nfl", 5])], #"{"league":{"anything-but":["nfl",5]}}"#),
        (["league": .anythingBut(prefix: "n")], #"{"league":{"anything-but":{"prefix":"n"}}}"#),
        (["margin": .exists(false)], #"{"margin":{"exists":false}}"#),
        (["margin": .number(1..<3)], #"{"margin":{"numeric":[">=",1,"<",3]}}"#),
        (["margin": .number(1...3)], #"{"margin":{"numeric":[">=",1,"<=",3]}}"#),
        (["margin": .number(1...)], #"{"margin":{"numeric":[">=",1]}}"#),
        (["margin": .number(..<3)], #"{"margin":{"numeric":["<",3]}}"#),
        (["margin": .number(...3)], #"{"margin":{"numeric":["<=",3]}}"#),
        (["margin": .number(above: 2.5)], #"{"margin":{"numeric":[">",2.5]}}"#),
        (
            [.family: "systemLarge", .host: .prefix("phone-"), .tags: "beta"],
            #"{"$family":"systemLarge","$host":{"prefix":"phone-"},"$tags":"beta"}"#
        ),
        ([.parameter("team"): .equals("rams")], #"{"team":"rams"}"#),
        (.anyOf([["league": "wnba"], ["margin": 1]]), #"{"$or":[{"league":"wnba"},{"margin":1}]}"#),
        (.allOf([["league": "nfl"], .anyOf([["margin": 1]])]), #"{"$and":[{"league":"nfl"},{"$or":[{"margin":1}]}]}"#),
        (["count": .equals(.int(.max))], #"{"count":9223372036854775807}"#),
    ]

    @Test(arguments: Self.patterns.indices)
    func `each condition is what the gateway calls it`(_ index: Int) throws {
        let (pattern, expected) = Self.patterns[index]
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        let data = try encoder.encode(pattern)
        #expect(String(decoding: data, as: UTF8.self) == expected)
        #expect(try JSONDecoder().decode(Pattern.self, from: data).json == pattern.json.normalized)
    }
}

extension JSONValue {
    /// As it is read back: a number without a fraction is a whole one.
    var normalized: JSONValue {
        switch self {
        case .double(let number): Int64(exactly: number).map { .int($0) } ?? self
        case .array(let elements): .array(elements.map(\.normalized))
        case .object(let members): .object(members.mapValues(\.normalized))
        default: self
        }
    }
}
