import Storage
import TestSupport
import Testing
import WidgetModel

@testable import IntentMatching

@Suite struct SubscriptionIndexTests {
    static func subject(_ attributes: Configuration) -> MatchSubject {
        MatchSubject(configuration: attributes, family: .systemSmall, host: HostID("h"), tags: [])
    }

    static func insert(_ conditions: [JSONValue], into index: inout SubscriptionIndex) throws -> [ExpressionNumber] {
        var numbers: [ExpressionNumber] = []
        for condition in conditions { numbers.append(index.insert(try MatchPattern.parse(condition))) }
        return numbers
    }

    @Test func `a condition is found when the attributes fulfil it`() throws {
        var index = SubscriptionIndex()
        let numbers = try Self.insert(
            [
                ["health": ["numeric": ["<", 50]]],
                ["league": "nfl", "health": ["numeric": ["<", 50]]],
                ["league": ["nfl", "nba"]],
                ["weather": ["exists": false]],
                ["teams": "seahawks"],
            ],
            into: &index
        )
        func found(_ attributes: Configuration) -> [Int] {
            index.matches(attributes).compactMap { numbers.firstIndex(of: $0) }.sorted()
        }
        #expect(found(Configuration(["health": .int(20), "league": .string("nfl")])) == [0, 1, 2, 3])
        #expect(found(Configuration(["health": .double(50), "league": .string("nba")])) == [2, 3])
        #expect(found(Configuration(["weather": .string("rain")])) == [])
        #expect(found(Configuration(["teams": .array([.string("bears"), .string("seahawks")])])) == [3, 4])
        #expect(found(.empty) == [3])
    }

    @Test func `equal conditions are one expression until the last of them goes`() throws {
        var index = SubscriptionIndex()
        let numbers = try Self.insert([["a": 1], ["a": 1.0], ["a": 2]], into: &index)
        #expect(numbers[0] == numbers[1])
        #expect(index.count == 2)
        index.release(numbers[0])
        #expect(index.matches(Configuration(["a": .int(1)])) == [numbers[0]])
        index.release(numbers[1])
        #expect(index.matches(Configuration(["a": .int(1)])) == [])
        index.release(numbers[2])
        #expect(index.count == 0)
        #expect(index.checkInvariants() == [])
    }

    @Test func `a condition is not evaluated for pushes that lack its most selective equality`() throws {
        var conditions: [JSONValue] = (0..<40).map { ["kind": "scores", "team": .string("team-\($0)")] }
        conditions += (0..<40).map { ["kind": "scores", "team": .string("team-1"), "level": .int($0)] }
        var index = SubscriptionIndex()
        let numbers = try Self.insert(conditions, into: &index)
        #expect(index.unindexedCount == 0)
        let attributes = Configuration(["kind": .string("scores"), "team": .string("team-1"), "level": .int(7)])
        #expect(Set(index.matches(attributes)) == [numbers[1], numbers[47]])
    }

    /// The rest of an expression is kept beside it only up to a length.
    @Test(arguments: [ConditionProgram.restMax - 1, ConditionProgram.restMax, ConditionProgram.restMax + 1])
    func `conditions of many parts are found as others are`(words: Int) throws {
        // An equality that finds it, and "any of" with one word of its own.
        let values = JSONValue.array((0..<words - 1).map { .string("v\($0)") })
        let found: JSONValue = ["kind": "scores", "value": values]
        let asked: JSONValue = ["value": .object([.init(name: "anything-but", value: values)]), "kind": "scores"]
        var index = SubscriptionIndex()
        let numbers = try Self.insert([found, asked], into: &index)
        for value in ["v0", "v\(words - 2)", "v\(words - 1)"] {
            let attributes = Configuration(["kind": .string("scores"), "value": .string(value)])
            let isListed = value != "v\(words - 1)"
            #expect(index.matches(attributes) == [isListed ? numbers[0] : numbers[1]])
            #expect(index.matches(Configuration(["kind": .string("news"), "value": .string(value)])) == [])
        }
        for number in numbers { index.release(number) }
        #expect(index.checkInvariants() == [])
    }

    @Test func `bounds of integers hold for integers, and for numbers between them`() throws {
        let (least, most) = (JSONValue.int(.min), JSONValue.int(.max))
        func numeric(_ parts: JSONValue...) -> JSONValue {
            ["n": .object([.init(name: "numeric", value: .array(parts))])]
        }
        var index = SubscriptionIndex()
        let conditions: [JSONValue] = [
            numeric("<", least), numeric("<=", least), numeric(">", most), numeric(">=", most),
            numeric(">", 4, "<", 6), numeric(">=", 5, "<=", 5), numeric("<", .double(4.5)),
            ["n": ["anything-but": [5, "5"]]],
        ]
        let numbers = try Self.insert(conditions, into: &index)
        func found(_ value: ParameterValue) -> [Int] {
            index.matches(Configuration(["n": value])).compactMap { numbers.firstIndex(of: $0) }.sorted()
        }
        #expect(found(.int(.min)) == [1, 6, 7])
        #expect(found(.int(.max)) == [3, 7])
        #expect(found(.double(0x1p63)) == [2, 3, 7])
        #expect(found(.int(5)) == [4, 5])
        #expect(found(.double(5)) == [4, 5])
        #expect(found(.double(5.5)) == [4, 7])
        #expect(found(.int(4)) == [6, 7])
        #expect(found(.string("5")) == [])
        #expect(found(.string("4")) == [7])
        #expect(found(.bool(true)) == [7])
        #expect(found(.array([.int(5), .string("5")])) == [4, 5])
        #expect(found(.array([.int(5), .int(6)])) == [4, 5, 7])
    }

    /// Many conditions on few values: long lists, of atoms and of pairs, that grow and shrink.
    @Test(arguments: UInt64(1)..<4)
    func `long lists find what evaluating every condition finds`(seed: UInt64) throws {
        var dice = Dice(random: SplitMix64(seed: seed))
        var index = SubscriptionIndex()
        var model: [(number: ExpressionNumber, pattern: MatchPattern)] = []
        func text(_ letter: String, _ bound: Int) -> JSONValue { .string("\(letter)\(dice.below(bound))") }
        for step in 0..<4000 {
            if dice.below(10) < (step < 2000 ? 1 : 8), !model.isEmpty {
                index.release(model.remove(at: dice.below(model.count)).number)
            } else {
                var members = [JSONValue.Member(name: "kind", value: text("k", 2))]
                if dice.below(2) == 0 { members.append(.init(name: "team", value: text("t", 3))) }
                if dice.below(2) == 0 {
                    members.append(.init(name: "tags", value: .array([text("a", 9), text("b", 9)])))
                }
                let level = JSONValue.array([.string("<"), .int(Int64(dice.below(400)))])
                members.append(.init(name: "level", value: .object([.init(name: "numeric", value: level)])))
                let pattern = try MatchPattern.parse(.object(members))
                model.append((index.insert(pattern), pattern))
            }
            guard step % 97 == 0 else { continue }
            let attributes = Configuration([
                "kind": .string("k\(dice.below(3))"), "team": .string("t\(dice.below(4))"),
                "tags": .array([.string("a\(dice.below(9))"), .string("b\(dice.below(9))")]),
                "level": .int(Int64(dice.below(400))),
            ])
            let expected = Set(model.filter { $0.pattern.matches(Self.subject(attributes)) }.map(\.number))
            let found = index.matches(attributes)
            #expect(Set(found) == expected, "seed \(seed), step \(step)")
            #expect(found.count == expected.count, "seed \(seed): something is found twice")
            #expect(index.checkInvariants() == [], "seed \(seed), step \(step)")
        }
        for entry in model { index.release(entry.number) }
        #expect(index.count == 0)
        #expect(index.checkInvariants() == [], "seed \(seed)")
    }

    @Test(arguments: UInt64(500)..<524)
    func `the index finds what evaluating every condition finds, whatever changed before`(seed: UInt64) throws {
        var dice = Dice(random: SplitMix64(seed: seed))
        var index = SubscriptionIndex()
        var model: [(number: ExpressionNumber, pattern: MatchPattern)] = []
        let schema = try dice.schema(WidgetKind("x"))
        for step in 0..<600 {
            if dice.chance(1, in: 3), !model.isEmpty {
                let gone = model.remove(at: dice.below(model.count))
                index.release(gone.number)
            } else {
                let pattern = try MatchPattern.parse(dice.condition())
                model.append((index.insert(pattern), pattern))
            }
            guard step % 4 == 0 else { continue }
            let attributes = dice.attributes(schema)
            let expected = Set(model.filter { $0.pattern.matches(Self.subject(attributes)) }.map(\.number))
            let found = index.matches(attributes)
            #expect(Set(found) == expected, "seed \(seed), step \(step), attributes \(attributes)")
            #expect(found.count == expected.count, "seed \(seed): something is found twice")
        }
        #expect(index.checkInvariants() == [], "seed \(seed)")
        for entry in model { index.release(entry.number) }
        #expect(index.count == 0, "seed \(seed)")
        #expect(index.checkInvariants() == [], "seed \(seed)")
    }

    /// Keys whose hashes would all be the same if the hash began with nothing secret.
    @Test func `keys that peers choose have hashes that they cannot choose`() {
        let keys = (0..<1000 as Range<UInt64>).map { number -> [UInt64] in
            let first = SeededHash.fold(UInt64(2) ^ number)
            return [number, first ^ 42]
        }
        #expect(Set(keys.map { SeededHash.fold(SeededHash.fold(2 ^ $0[0]) ^ $0[1]) }).count == 1)
        #expect(Set(keys.map { KeyTable<UInt64>.hash($0.span) }).count == 1000)
    }
}

extension ParameterValue {
    /// Attributes have no dates: JSON has none.
    var holdsDate: Bool {
        switch self {
        case .date: true
        case .array(let elements): elements.contains { $0.holdsDate }
        default: false
        }
    }
}

extension Dice {
    /// Values for the parameters of a schema, as a push may bring them.
    mutating func attributes(_ schema: KindSchema) -> Configuration {
        Configuration(self.configuration(schema).parameters.filter { !$0.value.holdsDate })
    }

    /// A pattern without fields that only instances have.
    mutating func condition() -> JSONValue {
        while true {
            let pattern = self.pattern()
            if !pattern.namesInstances { return pattern }
        }
    }
}

extension JSONValue {
    fileprivate var namesInstances: Bool {
        switch self {
        case .object(let members):
            members.contains { ["$family", "$host", "$tags"].contains($0.name) || $0.value.namesInstances }
        case .array(let elements): elements.contains { $0.namesInstances }
        default: false
        }
    }
}
