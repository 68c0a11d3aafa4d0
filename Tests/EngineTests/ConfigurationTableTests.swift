import TestSupport
import Testing
import WidgetModel

@testable import Engine

@Suite struct ConfigurationTableTests {
    private static func configuration(_ values: [(String, ParameterValue)]) -> Configuration {
        Configuration(values.map { Configuration.Parameter(name: $0.0, value: $0.1) })
    }

    private static func random(_ random: inout SplitMix64) -> Configuration {
        func below(_ bound: UInt64) -> Int { Int(random.next() % bound) }
        func value() -> ParameterValue {
            switch below(6) {
            // Texts of every length around what cells hold.
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
        var table = ConfigurationTable()
        let number = table.insert(Self.configuration([("level", .double(0)), ("levels", .array([.double(-0.0)]))]))
        let asked: [(Configuration, Bool)] = [
            (Self.configuration([("level", .double(0)), ("levels", .array([.double(-0.0)]))]), true),
            (Self.configuration([("level", .double(-0.0)), ("levels", .array([.double(0)]))]), true),
            (Self.configuration([("level", .int(0)), ("levels", .array([.double(0)]))]), false),
            (Self.configuration([("levels", .double(0)), ("level", .array([.double(-0.0)]))]), false),
            (Self.configuration([("level", .double(0))]), false),
            (.empty, false),
        ]
        for (configuration, equals) in asked {
            let found = table.equals(number, configuration)
            #expect(found == equals, "\(configuration)")
        }
        let isEmpty = [.empty, Self.configuration([("level", .int(0))])].map {
            table.equals(ConfigurationTable.empty, $0)
        }
        #expect(isEmpty == [true, false])
    }

    /// Four bytes stand before the text's own: how many parameters, the name, the type and the length.
    @Test func `a configuration takes as many cells as its bytes need`() {
        var table = ConfigurationTable()
        var number = ConfigurationTable.empty
        for (length, cells) in [(8, 1), (9, 2), (20, 2), (21, 3), (8, 1), (20, 2)] {
            let text = Self.configuration([("team", .string(String(repeating: "x", count: length)))])
            table.replace(&number, with: text)
            #expect(table.count == cells, "\(length) letters")
            #expect(table[number] == text)
        }
        table.replace(&number, with: .empty)
        #expect(number == ConfigurationTable.empty)
        #expect(table.count == 0)
    }

    @Test func `names are kept apart, however many there are`() {
        var table = ConfigurationTable()
        let flags = (0..<400).map { Self.configuration([("flag\($0)", .bool(true))]) }
        let numbers = flags.map { table.insert($0) }
        #expect(numbers.map { table[$0] } == flags)
    }

    /// Against a list of what there is.
    @Test(arguments: UInt64(1)..<7)
    func `every configuration comes back as it was`(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var table = ConfigurationTable()
        var model: [(number: UInt32, configuration: Configuration)] = []
        for step in 0..<2000 {
            let configuration = Self.random(&random)
            switch random.next() % 5 {
            case 0 where !model.isEmpty:
                table.release(model.remove(at: Int(random.next() % UInt64(model.count))).number)
            case 1 where !model.isEmpty:
                let place = Int(random.next() % UInt64(model.count))
                table.replace(&model[place].number, with: configuration)
                model[place].configuration = configuration
            default: model.append((table.insert(configuration), configuration))
            }
            guard step.isMultiple(of: 100) else { continue }
            for (number, expected) in model {
                #expect(table[number] == expected, "seed \(seed), step \(step)")
                let found = (table.equals(number, expected), table.equals(number, configuration))
                #expect(found.0, "seed \(seed), step \(step)")
                #expect(found.1 == (expected == configuration), "seed \(seed), step \(step)")
            }
        }
        for entry in model { table.release(entry.number) }
        #expect(table.count == 0, "seed \(seed)")
    }
}
