import IntentMatching
import Testing
import WidgetModel

/// The costs of patterns. A pattern that costs too much is refused before it is asked.
@Suite struct PatternCostTests {
    private static func cost(_ json: JSONValue) throws -> Int {
        try MatchPattern.parse(json, limits: PatternLimits(costMax: .max)).cost
    }

    private static func fault(_ json: JSONValue, _ limits: PatternLimits) -> String? {
        PatternFaultTests.parseFault(json, limits)
    }

    @Test func `literals are looked up, however many there are`() throws {
        let literals = JSONValue.array((0..<500).map { .int($0) })
        #expect(try Self.cost([:]) == 0)
        #expect(try Self.cost(["a": 1]) == 1)
        #expect(try Self.cost(["a": literals]) == 1)
        #expect(try Self.cost(["a": ["anything-but": literals]]) == 1)
        #expect(try Self.cost(["a": [["exists": false], 1]]) == 1)
        #expect(try Self.cost(["a": 1, "b": ["c": 2, "d": 3], "$or": [["e": 4], ["f": 5, "g": 6]]]) == 6)
    }

    @Test func `what is judged on values costs more, wildcards most`() throws {
        for text in [["prefix": "x"], ["suffix": "x"], ["equals-ignore-case": "x"]] as [JSONValue] {
            #expect(try Self.cost(["a": text]) == 18)
            #expect(try Self.cost(["a": [text, text, text, 1, 2]]) == 22)
        }
        #expect(try Self.cost(["a": ["numeric": [">", 1]]]) == 18)
        #expect(try Self.cost(["a": ["anything-but": ["prefix": "x"]]]) == 18)
        #expect(try Self.cost(["a": ["wildcard": "*x*"]]) == 33)
        #expect(try Self.cost(["a": [["wildcard": "*x*"], ["wildcard": "y*"]]]) == 49)
        #expect(try Self.cost(["a": [["anything-but": [1, 2, 3]], 4]]) == 21)
    }

    /// Of 16 alternatives each: literals, prefixes, wildcards; and one condition less and more.
    @Test func `a limit holds at its value and not one step above`() {
        let limits = PatternLimits(costMax: 33)
        #expect(Self.fault(["a": ["wildcard": "*x*"]], limits) == nil)
        #expect(
            Self.fault(["a": ["wildcard": "*x*"], "b": 1], limits) == """
                match: costs 34 steps, at most 33 are allowed (limits.maxPatternCost): each condition on a parameter costs 1, \
                16 more if it is not a list of literals, 16 more for each wildcard; use fewer conditions, or literals
                """
        )
        let alternatives = (0..<34).map { number -> JSONValue in ["a": .int(number)] }
        #expect(Self.fault(["$or": .array(Array(alternatives.dropLast()))], limits) == nil)
        #expect(Self.fault(["$or": .array(alternatives)], limits)?.hasPrefix("match: costs 34 steps") == true)
        #expect(PatternLimits().costMax == 512)
    }

    @Test func `a condition of an instance has a limit of its own`() {
        func fault(_ wildcards: Int) -> PatternError? {
            let atoms = (0..<wildcards).map { number -> JSONValue in ["wildcard": .string("*\(number)*")] }
            do throws(PatternError) {
                _ = try MatchPattern.condition(from: ["a": .array(atoms)])
                return nil
            } catch {
                return error
            }
        }
        #expect(fault(2) == nil)
        #expect(fault(3)?.code == .limit)
        let sentence = "when: costs 65 steps, at most 64 are allowed (limits.maxConditionCost)"
        #expect(fault(3)?.description.hasPrefix(sentence) == true)
    }

    /// The pattern that is made to cost most: 26 alternatives, each to be tried at each place of each text in vain.
    @Test func `wildcards that are tried at each place are accepted, for they are searched in one pass`() throws {
        let runs = String(repeating: "a", count: 504)
        let atoms = (0..<26).map { _ -> JSONValue in ["wildcard": .string("*\(runs)b*")] }
        let pattern = try MatchPattern.parse(["team": .array(atoms)])
        #expect(pattern.cost == 433)
        let more = atoms + atoms.prefix(5)
        #expect(throws: PatternError.self) { try MatchPattern.parse(["team": .array(more)]) }
    }
}
