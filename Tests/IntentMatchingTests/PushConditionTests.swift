import IntentMatching
import TestSupport
import Testing
import WidgetModel

@Suite struct PushConditionTests {
    func attributesFault(_ json: JSONValue) -> String? {
        do throws(ConfigurationError) {
            _ = try Configuration.attributes(from: json)
            return nil
        } catch {
            return error.description
        }
    }

    func conditionFault(_ json: JSONValue) -> String? {
        do throws(PatternError) {
            _ = try MatchPattern.condition(from: json)
            return nil
        } catch {
            return error.description
        }
    }

    @Test func `attributes are flat, nested names dotted, nulls absent`() throws {
        let json: JSONValue = [
            "health": 20, "venue": ["city": "Oslo", "open": true], "gone": nil, "tags": ["a", nil],
        ]
        #expect(
            try Configuration.attributes(from: json)
                == Configuration([
                    "health": .int(20), "venue.city": .string("Oslo"), "venue.open": .bool(true),
                    "tags": .array([.string("a")]),
                ])
        )
    }

    @Test func `attributes that are none are refused with their place`() {
        #expect(self.attributesFault([1]) == "attributes: expected an object, got an array")
        #expect(self.attributesFault(["a": ["b": 1], "a.b": 2]) == "attributes.a.b: the attribute is given twice")
        #expect(
            self.attributesFault(["a": [["b": 1]]])
                == "attributes.a[0]: expected a string, a number or a boolean, got an object"
        )
        #expect(
            self.attributesFault(["a": .unsigned(1 << 63)])
                == "attributes.a: expected a finite number of 64 bits with sign"
        )
        #expect(self.attributesFault(["": 1]) == "attributes.: expected a name of 1 to 128 bytes")
    }

    @Test(arguments: [64, 65])
    func `a push brings at most 64 attributes`(count: Int) {
        let members = (0..<count).map { JSONValue.Member(name: "a\($0)", value: .int(1)) }
        #expect(
            self.attributesFault(.object(members)) == (count == 64 ? nil : "attributes.a64: more than 64 attributes")
        )
    }

    @Test(arguments: [256, 257])
    func `a push brings at most 256 values, elements of arrays counted each`(count: Int) {
        var members = (0..<4).map { number -> JSONValue.Member in
            let elements = (0..<(number == 3 ? 60 : 64)).map { JSONValue.int(Int64($0)) }
            return JSONValue.Member(name: "array\(number)", value: .array(elements))
        }
        members += (252..<count).map { JSONValue.Member(name: "a\($0)", value: .int(1)) }
        #expect(
            self.attributesFault(.object(members))
                == (count == 256 ? nil : "attributes.a256: more than 256 values, elements of arrays counted each")
        )
    }

    @Test func `a condition says nothing about the instance itself`() {
        #expect(self.conditionFault(["health": ["numeric": ["<", 50]]]) == nil)
        #expect(
            self.conditionFault(["$or": [["a": 1], ["$family": "systemSmall"]]])
                == "when.$family: a condition can only be about the push, not about the instance"
        )
        #expect(self.conditionFault(["a": []]) == "when.a: the list is empty")
    }

    /// Alternatives beside one another are as many lists, not one list of all that they can be together.
    @Test func `a pattern is written in proportion to what was read, and no deeper`() throws {
        let sides = (0..<12).map { side -> JSONValue.Member in
            let alternatives = (0..<3).map { number -> JSONValue in ["a": .int(Int64(number)), "b": ["c": "x"]] }
            return JSONValue.Member(name: "side\(side)", value: ["$or": .array(alternatives), "d": 1])
        }
        let limits = PatternLimits(depthMax: 4)
        let pattern = try MatchPattern.parse(.object(sides), limits: limits)
        #expect(try MatchPattern.parse(pattern.json, limits: limits).cost == pattern.cost)
        #expect(Self.leaves(pattern.json) == Self.leaves(.object(sides)))
    }

    private static func leaves(_ json: JSONValue) -> Int {
        switch json {
        case .object(let members): members.reduce(0) { $0 + Self.leaves($1.value) }
        case .array(let elements): elements.reduce(0) { $0 + Self.leaves($1) }
        default: 1
        }
    }

    @Test(arguments: UInt64(700)..<710)
    func `a pattern written as JSON and read again matches the same`(seed: UInt64) throws {
        var dice = Dice(random: SplitMix64(seed: seed))
        let schema = try dice.schema(WidgetKind("x"))
        for _ in 0..<40 {
            let pattern = try MatchPattern.parse(dice.pattern())
            let again = try MatchPattern.parse(pattern.json, limits: PatternLimits(depthMax: 24, atomsMax: 100_000))
            for _ in 0..<10 {
                let subject = MatchSubject(
                    configuration: dice.configuration(schema),
                    family: dice.pick(WidgetFamily.allCases),
                    host: HostID("h-\(dice.below(12))"),
                    tags: [dice.pick(Dice.tags)]
                )
                #expect(pattern.matches(subject) == again.matches(subject), "seed \(seed), \(pattern.json)")
            }
        }
    }
}
