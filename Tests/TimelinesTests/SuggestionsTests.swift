import TestSupport
import Testing
import WidgetModel

@testable import Timelines

@Suite struct SuggestionsTests {
    private static func configuration(_ team: String) -> Configuration {
        Configuration([Configuration.Parameter(name: "team", value: .string(team))])
    }

    /// - Parameters:
    ///   - from: In hours after noon.
    ///   - until: The same.
    private static func relevance(_ team: String, _ from: Int64? = nil, _ until: Int64? = nil) -> Suggestions.Relevance
    {
        Suggestions.Relevance(
            Self.configuration(team),
            from: from.map { noon + .hours($0) },
            until: until.map { noon + .hours($0) }
        )
    }

    private static func kind(
        _ name: String,
        _ relevances: [Suggestions.Relevance],
        placed: [String] = []
    ) -> Suggestions.Kind {
        Suggestions.Kind(
            WidgetKind(name),
            relevances: relevances,
            placed: placed.map { Self.configuration($0) }
        )
    }

    private static func text(_ suggestion: Suggestions.Suggestion) -> String {
        guard case .string(let team)? = suggestion.relevance.configuration["team"] else { return "?" }
        let hours = [suggestion.relevance.from, suggestion.relevance.until].map { date in
            date.map { "\(($0 - noon).milliseconds / 3_600_000)" } ?? ""
        }
        return "\(suggestion.kind) \(team) \(hours[0])..\(hours[1])"
    }

    private static func suggested(
        _ kinds: [Suggestions.Kind],
        after hours: Int64 = 0,
        countMax: Int = 100
    ) -> [String] {
        Suggestions(kinds, at: noon + .hours(hours), countMax: countMax).suggestions.map { Self.text($0) }
    }

    @Test func `what is relevant and not placed is suggested, from its first instant on and not at its last`() {
        let kinds = [
            Self.kind(
                "scores",
                [
                    Self.relevance("over", -2, 0), Self.relevance("now", 0, 2), Self.relevance("later", 1, 2),
                    Self.relevance("placed", -1, 1), Self.relevance("since", -1), Self.relevance("still", nil, 1),
                    Self.relevance("always"),
                ],
                placed: ["placed", "other"]
            )
        ]
        #expect(
            Self.suggested(kinds) == ["scores now 0..2", "scores since -1..", "scores still ..1", "scores always .."]
        )
        #expect(
            Self.suggested(kinds, after: 1) == [
                "scores now 0..2", "scores later 1..2", "scores since -1..", "scores always ..",
            ]
        )
    }

    @Test func `the first of each kind come first, among them those that end first, then by kind`() {
        let kinds = [
            Self.kind("c", [Self.relevance("1"), Self.relevance("2", 0, 9)]),
            Self.kind("b", [Self.relevance("1", 0, 5), Self.relevance("2", 0, 1)]),
            Self.kind("a", [Self.relevance("1", 0, 5)]),
            Self.kind("d", [Self.relevance("gone", -9, -1), Self.relevance("1", 0, 3)]),
        ]
        let order = ["d 1 0..3", "a 1 0..5", "b 1 0..5", "c 1 ..", "b 2 0..1", "c 2 0..9"]
        #expect(Self.suggested(kinds) == order)
        #expect(Self.suggested(Array(kinds.reversed())) == order)
        for count in 0...order.count { #expect(Self.suggested(kinds, countMax: count) == Array(order.prefix(count))) }
    }

    @Test func `a configuration comes once, for as long as its attributes say together`() {
        let kinds = [
            Self.kind(
                "scores",
                [
                    Self.relevance("a", -1, 1), Self.relevance("b", -1, 2), Self.relevance("a", -3, -1),
                    Self.relevance("a", -2, 4), Self.relevance("b", 0),
                ]
            )
        ]
        #expect(Self.suggested(kinds) == ["scores a -2..4", "scores b -1.."])
    }

    @Test(arguments: Seeds.from(1, count: 300))
    func `the suggestions are those that a search of everything finds`(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        let kinds = ["a", "b", "c"].shuffled(using: &random).map { name in
            let relevances = (0..<Int.random(in: 0...12, using: &random)).map { _ in
                let from = Int64.random(in: -4...4, using: &random)
                return Self.relevance(
                    "\(UInt64.random(in: 0...5, using: &random))",
                    random.chance(1, in: 5) ? nil : from,
                    random.chance(1, in: 5) ? nil : from + Int64.random(in: 1...5, using: &random)
                )
            }
            let placed = (0..<Int.random(in: 0...2, using: &random)).map { _ in
                "\(UInt64.random(in: 0...5, using: &random))"
            }
            return Self.kind(name, relevances, placed: placed)
        }
        for hours in Int64(-6)...10 {
            let countMax = Int.random(in: 0...12, using: &random)
            let expected = Self.search(kinds, at: noon + .hours(hours)).prefix(countMax).map { Self.text($0) }
            #expect(Self.suggested(kinds, after: hours, countMax: countMax) == expected)
        }
    }

    /// Round by round over the kinds, looking at everything anew each time.
    private static func search(_ kinds: [Suggestions.Kind], at now: Instant) -> [Suggestions.Suggestion] {
        func holds(_ relevance: Suggestions.Relevance) -> Bool {
            if let from = relevance.from, now < from { return false }
            if let until = relevance.until, until <= now { return false }
            return true
        }
        var found: [Suggestions.Suggestion] = []
        while true {
            var round: [Suggestions.Suggestion] = []
            for kind in kinds {
                let next = kind.relevances.first { relevance in
                    holds(relevance) && !kind.placed.contains(relevance.configuration)
                        && !found.contains {
                            $0.kind == kind.kind && $0.relevance.configuration == relevance.configuration
                        }
                }
                guard let next else { continue }
                let same = kind.relevances.filter { holds($0) && $0.configuration == next.configuration }
                let isOpen = (
                    start: same.contains { $0.from == nil }, end: same.contains { $0.until == nil }
                )
                let relevance = Suggestions.Relevance(
                    next.configuration,
                    from: isOpen.start ? nil : same.compactMap(\.from).min(),
                    until: isOpen.end ? nil : same.compactMap(\.until).max()
                )
                round.append(Suggestions.Suggestion(kind: kind.kind, relevance: relevance))
            }
            guard !round.isEmpty else { return found }
            let never = noon + .days(1000)
            found += round.sorted {
                ($0.relevance.until ?? never, $0.kind) < ($1.relevance.until ?? never, $1.kind)
            }
        }
    }
}
