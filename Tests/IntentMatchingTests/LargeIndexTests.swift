import IntentMatching
import TestSupport
import Testing
import WidgetModel

/// Populations beyond one block of 65,536 rows, with lists of every form.
@Suite struct LargeIndexTests {
    static let app = BundleID("com.example.large")
    static let kind = WidgetKind("large")

    static func configuration(_ dice: inout Dice) -> Configuration {
        let isRare = dice.chance(1, in: 100)
        return Configuration([
            "league": .string("league-\(isRare ? 10 + dice.below(5) : dice.below(4))"),
            "level": .int(Int64(dice.below(300))),
            "account": .string("account-\(dice.below(5000))"),
        ])
    }

    static let patterns: [JSONValue] = [
        ["league": "league-1"],
        ["league": ["league-11", "league-3"], "level": 7],
        ["level": ["numeric": [">=", 20, "<", 150]]],
        ["level": ["anything-but": [1, 2]], "league": "league-0"],
        ["account": "account-77"],
        ["account": ["account-1", "account-2"], "league": ["anything-but": "league-2"]],
        ["$or": [["account": "account-9"], ["level": 3, "league": "league-2"]]],
        ["league": ["anything-but": "league-0"]],
        ["$host": ["prefix": "h-1"], "league": "league-12"],
    ]

    /// More than have instances.
    static let hosts = HostList((0..<50_000).map { "h-\($0)" })

    @Test func `blocks, containers and bitmaps agree with a look at every instance, under change`() throws {
        var dice = Dice(random: SplitMix64(seed: 41))
        var index = IntentIndex()
        var model: [UInt32: Configuration] = [:]
        let patterns = try Self.patterns.map { try MatchPattern.parse($0) }
        func insert(_ number: UInt32, _ configuration: Configuration) {
            index.insert(
                number,
                app: Self.app,
                kind: Self.kind,
                family: .systemSmall,
                host: number / 3,
                tags: [],
                configuration: configuration,
                pushEnabled: true
            )
            model[number] = configuration
        }
        func compare(_ phase: String) {
            for pattern in patterns {
                let expected = model.filter { number, configuration in
                    pattern.matches(
                        MatchSubject(
                            configuration: configuration,
                            family: .systemSmall,
                            host: HostID("h-\(number / 3)"),
                            tags: []
                        )
                    )
                }
                let found = index.ask(Self.app, Self.kind, pattern, 4096, hosts: Self.hosts)
                #expect(found.count == expected.count, "\(phase), \(pattern)")
                #expect(found.allSatisfy { expected[$0] != nil }, "\(phase), \(pattern)")
            }
        }
        for number in 0..<UInt32(140_000) { insert(number, Self.configuration(&dice)) }
        compare("grown")
        for step in 0..<30_000 {
            let number = UInt32(dice.below(140_000))
            // A third of the changes come one by one, the others together.
            if step % 60 == 20 { index.startChanges() }
            if step % 60 == 0 { index.finishChanges() }
            if dice.chance(2, in: 3) {
                index.remove(number)
                model[number] = nil
            } else {
                insert(number, Self.configuration(&dice))
            }
        }
        index.finishChanges()
        compare("changed")
        #expect(index.checkInvariants() == [])
        // Bitmaps become arrays, and long lists short ones, on the way down.
        for number in 0..<UInt32(139_000) where model[number] != nil && !dice.chance(1, in: 30) {
            index.remove(number)
            model[number] = nil
        }
        compare("shrunk")
        #expect(index.checkInvariants() == [])
    }

    @Test func `loaded at once is the same as one by one`() throws {
        var dice = Dice(random: SplitMix64(seed: 42))
        var one = IntentIndex()
        var loaded = IntentIndex()
        loaded.startLoading()
        // Those without tags come a few hundred at once.
        var plain: [PlainInstance] = []
        for number in 0..<UInt32(140_000) {
            let configuration = Self.configuration(&dice)
            let tags = dice.chance(1, in: 1000) ? ["beta", "eu"] : []
            func insert(_ index: inout IntentIndex) {
                index.insert(
                    number,
                    app: Self.app,
                    kind: Self.kind,
                    family: .systemSmall,
                    host: number / 3,
                    tags: tags,
                    configuration: configuration,
                    pushEnabled: true
                )
            }
            insert(&one)
            if tags.isEmpty {
                plain.append(
                    PlainInstance(number, family: .systemSmall, host: number / 3, configuration: configuration)
                )
            } else {
                insert(&loaded)
            }
            guard !tags.isEmpty || plain.count == 300 || number == 139_999 else { continue }
            loaded.insert(plain.span, app: Self.app, kind: Self.kind)
            plain = []
        }
        // Asking does not wait for the lists.
        let early = try MatchPattern.parse(["level": 7, "$tags": "eu"])
        let expected = one.ask(Self.app, Self.kind, early, 100).sorted()
        #expect(loaded.ask(Self.app, Self.kind, early, 100).sorted() == expected)
        loaded.finishLoading()
        #expect(loaded.checkInvariants() == [])
        for json in Self.patterns {
            let pattern = try MatchPattern.parse(json)
            #expect(
                loaded.ask(Self.app, Self.kind, pattern, 4096, hosts: Self.hosts).sorted()
                    == one.ask(Self.app, Self.kind, pattern, 4096, hosts: Self.hosts).sorted()
            )
        }
        // A change while loading that is no new instance finds the lists.
        loaded.startLoading()
        loaded.remove(InstanceNumber(5))
        #expect(loaded.count(app: Self.app) == 139_999)
        #expect(loaded.checkInvariants() == [])
    }
}
