import TestSupport
import Testing
import WidgetModel

@testable import Engine

@Suite struct ConfigurationCoderTests {
    private static func configuration(_ values: [(String, ParameterValue)]) -> Configuration {
        Configuration(values.map { Configuration.Parameter(name: $0.0, value: $0.1) })
    }

    private static func random(_ random: inout SplitMix64) -> Configuration {
        func below(_ bound: UInt64) -> Int { Int(random.next() % bound) }
        func value() -> ParameterValue {
            switch below(6) {
            // Texts of many lengths.
            case 0: .string(String(repeating: "x", count: below(40)))
            case 1: .int(Int64(bitPattern: random.next()) >> Int64(below(64)))
            case 2: .double(Double(below(100)) / 4)
            case 3: .bool(below(2) == 0)
            case 4: .date(Instant(seconds: Int64(below(1 << 31))))
            default: .array((0..<below(5)).map { _ in .string("é\(below(9))") })
            }
        }
        // Different names at the same place, and the same ones at different places.
        let names = ["city", "league", "level", "team", "topic"].filter { _ in below(2) == 0 }
        return self.configuration(names.map { ($0, value()) })
    }

    @Test func `what equals a configuration is found to, also a zero with another sign`() {
        var details = InstanceDetails()
        let levels = Self.configuration([("level", .double(0)), ("levels", .array([.double(-0.0)]))])
        details.insert(0, InstanceDetails.Row(id: InstanceID("i"), family: .systemSmall), levels)
        let asked: [(Configuration, Bool)] = [
            (Self.configuration([("level", .double(0)), ("levels", .array([.double(-0.0)]))]), true),
            (Self.configuration([("level", .double(-0.0)), ("levels", .array([.double(0)]))]), true),
            (Self.configuration([("level", .int(0)), ("levels", .array([.double(0)]))]), false),
            (Self.configuration([("levels", .double(0)), ("level", .array([.double(-0.0)]))]), false),
            (Self.configuration([("level", .double(0))]), false),
            (.empty, false),
        ]
        for (configuration, equals) in asked {
            let found = details.isConfigured(0, as: configuration)
            #expect(found == equals, "\(configuration)")
        }
    }

    @Test func `names are spelled as they were, also where two are equivalent`() {
        var details = InstanceDetails()
        let names = ["caf\u{E9}", "cafe\u{301}"]
        for (slot, name) in names.enumerated() {
            let row = InstanceDetails.Row(id: InstanceID("i"), family: .systemSmall)
            details.insert(InstanceNumber(slot), row, Self.configuration([(name, .int(1))]))
        }
        for (slot, name) in names.enumerated() {
            let back = details.configuration(of: InstanceNumber(slot)).parameters.map(\.name)
            #expect(back.map { Array($0.utf8) } == [Array(name.utf8)])
            for other in names {
                let found = details.isConfigured(InstanceNumber(slot), as: Self.configuration([(other, .int(1))]))
                #expect(found == (Array(other.utf8) == Array(name.utf8)))
            }
        }
    }

    @Test func `names and shapes are kept apart, however many there are`() {
        var coder = ConfigurationCoder()
        let count = ConfigurationCoder.shapesMax + 40
        let flags = (0..<count).map { Self.configuration([("flag\($0)", .bool(true)), ("flag\($0)x", .int(7))]) }
        func codes() -> [[UInt8]] {
            flags.map { flag in
                coder.encode(flag)
                return coder.bytes
            }
        }
        let all = codes()
        #expect(all.map { coder.decode($0) } == flags)
        // Whether it has a number: its own, in one byte or two; or none, how many names, and theirs, here in two bytes each.
        let values = 2 + 2
        #expect(all.map(\.count).prefix(127).allSatisfy { $0 == 1 + values })
        #expect(all.map(\.count)[127..<ConfigurationCoder.shapesMax].allSatisfy { $0 == 2 + values })
        #expect(all.map(\.count)[ConfigurationCoder.shapesMax...].allSatisfy { $0 == 1 + 1 + 2 * 2 + values })
        #expect(codes() == all)
    }

    /// Its shape, and the number of each text.
    @Test func `a configuration of three texts takes seven bytes`() {
        var coder = ConfigurationCoder()
        coder.encode(
            Self.configuration([
                ("league", .string("league-7")), ("team", .string("team-123")), ("topic", .string("k500")),
            ])
        )
        #expect(coder.bytes.count == 1 + 3 * 2)
        coder.encode(.empty)
        #expect(coder.bytes == [])
    }

    @Test func `the first texts of a name have numbers, and each has the same code whenever it comes`() {
        var coder = ConfigurationCoder()
        var model: [(Configuration, [UInt8])] = []
        func encode(_ name: String, _ text: String) -> Int {
            let configuration = Self.configuration([(name, .string(text))])
            coder.encode(configuration)
            model.append((configuration, coder.bytes))
            return coder.bytes.count
        }
        #expect(encode("account", String(repeating: "x", count: ParameterTexts.byteCountMax)) == 1 + 2)
        #expect(encode("account", String(repeating: "x", count: ParameterTexts.byteCountMax + 1)) > 64)
        for number in 1..<ParameterTexts.countMax { #expect(encode("account", "a\(number)") == 1 + 2) }
        // All numbers are given: one byte for the type, one for the length, and the text.
        #expect(encode("account", "other") == 1 + 2 + 5)
        // Those of another name are its own.
        #expect(encode("team", "other") == 1 + 2)
        // Equivalent, but spelled otherwise.
        let spellings = ["\u{E9}", "e\u{301}", ""]
        #expect(spellings.map { encode("team", $0) } == [3, 3, 3])
        for (configuration, bytes) in model {
            coder.encode(configuration)
            #expect(coder.bytes == bytes)
        }
        for (configuration, bytes) in model {
            guard case .string(let text)? = configuration.parameters.first?.value,
                case .string(let back)? = coder.decode(bytes).parameters.first?.value
            else {
                Issue.record("no text: \(configuration)")
                continue
            }
            #expect(Array(back.utf8) == Array(text.utf8))
        }
    }

    /// Against a list of the configurations.
    @Test(arguments: UInt64(1)..<7)
    func `every configuration comes back as it was`(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var details = InstanceDetails()
        var model: [InstanceNumber: Configuration] = [:]
        for step in 0..<2000 {
            let configuration = Self.random(&random)
            let slot = InstanceNumber(Int(random.next() % 60))
            switch (random.next() % 3, model[slot] != nil) {
            case (0, true):
                details.release(slot)
                model[slot] = nil
            case (_, true):
                details.setConfiguration(of: slot, configuration)
                model[slot] = configuration
            case (_, false):
                let row = InstanceDetails.Row(id: InstanceID("\(slot)"), family: .systemSmall)
                details.insert(slot, row, configuration)
                model[slot] = configuration
            }
            guard step.isMultiple(of: 50) else { continue }
            for (slot, expected) in model {
                #expect(details.configuration(of: slot) == expected, "seed \(seed), step \(step)")
                #expect(details.id(of: slot) == InstanceID("\(slot)"), "seed \(seed), step \(step)")
                let found = (details.isConfigured(slot, as: expected), details.isConfigured(slot, as: configuration))
                #expect(found.0, "seed \(seed), step \(step)")
                #expect(found.1 == (expected == configuration), "seed \(seed), step \(step)")
            }
            #expect(details.texts.count == model.count)
        }
        for slot in model.keys { details.release(slot) }
        #expect(details.texts.count == 0, "seed \(seed)")
    }
}
