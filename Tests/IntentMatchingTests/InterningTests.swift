import BasicContainers
import IntentMatching
import TestSupport
import Testing
import WidgetModel

/// The forms that a kind's rows take: of their own, of classes, on the way from one to the other, and without lists.
@Suite struct InterningTests {
    static let app = BundleID("com.example.interned")
    static let kind = WidgetKind("interned")

    /// The same instances in an index of each form, and in the model.
    struct Forms: ~Copyable {
        var indices = UniqueArray<IntentIndex>()
        var model = IntentIndexModel()
        /// Numbers are used again.
        var hosts = HostList()
        var dice: Dice
        let schema: KindSchema

        init(seed: UInt64, _ interning: [Interning]) throws {
            self.dice = Dice(random: SplitMix64(seed: seed))
            self.schema = try self.dice.schema(kind)
            for interning in interning { self.indices.append(IntentIndex(interning: interning)) }
            for index in self.indices.indices { self.indices[index].declare(self.schema, app: app) }
        }

        mutating func insert(_ number: UInt32, _ configuration: Configuration) {
            let subject = MatchSubject(
                configuration: configuration,
                family: self.dice.pick([.systemSmall, .systemLarge]),
                host: self.dice.host(),
                tags: self.dice.chance(1, in: 5) ? [self.dice.pick(Dice.tags)] : [],
                schema: self.schema
            )
            let pushEnabled = !self.dice.chance(1, in: 20)
            let when = self.dice.chance(1, in: 6) ? try? MatchPattern.condition(from: self.dice.condition()) : nil
            let host = self.hosts.use(subject.host)
            for index in self.indices.indices {
                self.indices[index].insert(
                    number,
                    app: app,
                    kind: kind,
                    family: subject.family,
                    host: host,
                    tags: subject.tags,
                    configuration: configuration,
                    when: when,
                    pushEnabled: pushEnabled
                )
            }
            self.releaseHost(of: number)
            self.model.instances[number] = IntentIndexModel.Instance(
                app: app,
                subject: subject,
                kind: kind,
                pushEnabled: pushEnabled,
                when: when
            )
        }

        mutating func remove(_ number: UInt32) {
            for index in self.indices.indices { self.indices[index].remove(number) }
            self.releaseHost(of: number)
            self.model.instances[number] = nil
        }

        private mutating func releaseHost(of number: UInt32) {
            if let old = self.model.instances[number] { self.hosts.release(old.subject.host) }
        }

        /// Asks all, and expects the model's answer in ascending order of each.
        mutating func ask(_ note: String) throws {
            let json = self.dice.pattern()
            let pattern = try MatchPattern.parse(json)
            let attributes = self.dice.chance(1, in: 3) ? self.dice.attributes(self.schema) : nil
            let expected = self.model.matches(app: app, kind: kind, pattern: pattern, attributes: attributes)
            for number in self.indices.indices {
                let limit = self.dice.pick([1, 7, 5000])
                let found = self.indices[number]
                    .ask(app, kind, pattern, limit, hosts: self.hosts, attributes: attributes)
                #expect(found == expected, "\(note), index \(number), pattern \(json)")
            }
        }

        func expectSound(_ note: String) {
            for number in self.indices.indices {
                let faults = self.indices[number].checkInvariants()
                #expect(faults == [], "\(note), index \(number)")
            }
        }
    }

    @Test(arguments: UInt64(0)..<16)
    func `rows of their own, rows of classes and rows without lists give one answer`(seed: UInt64) throws {
        var forms = try Forms(seed: seed, [.never, .always, .observed(atLeast: 40), .never, .always])
        // The last two answer without lists, by looking at every row.
        forms.indices[3].startLoading()
        forms.indices[4].startLoading()
        let few = (0..<6).map { _ in forms.dice.configuration(forms.schema) }
        for step in 0..<900 {
            let number = UInt32(forms.dice.below(220))
            // First a few configurations, then one for each instance, then a few again: so forms change both ways.
            let isRepeated = step < 300 || step >= 600 || forms.dice.chance(1, in: 8)
            if forms.dice.chance(1, in: 5) {
                forms.remove(number)
            } else {
                let drawn = isRepeated ? forms.dice.pick(few) : forms.dice.configuration(forms.schema)
                forms.insert(number, drawn)
            }
            if step % 10 == 9 { try forms.ask("seed \(seed), step \(step)") }
            if step % 150 == 149 { forms.expectSound("seed \(seed), step \(step)") }
        }
        for index in forms.indices.indices { forms.indices[index].finishLoading() }
        forms.expectSound("seed \(seed), loaded")
        for _ in 0..<30 { try forms.ask("seed \(seed), loaded") }
        for number in 0..<UInt32(220) { forms.remove(number) }
        forms.expectSound("seed \(seed), emptied")
        for index in forms.indices.indices {
            let count = forms.indices[index].count(app: Self.app)
            #expect(count == 0)
        }
    }

    /// How the index finds the one instance with a rare value, which tells the form of its rows.
    static func drivers(_ index: borrowing IntentIndex) throws -> Set<String> {
        let pattern = try MatchPattern.parse(["p": "rare"])
        return Set(
            index.explain(app: self.app, kind: self.kind, pattern: pattern, hosts: HostList())
                .flatMap { $0.drivers.map(\.field) }
        )
    }

    @Test func `configurations that repeat become classes, and no longer once they do not`() throws {
        var index = IntentIndex(interning: .observed(atLeast: 3000))
        func insert(_ number: Int, _ value: Int) {
            index.insert(
                UInt32(number),
                app: Self.app,
                kind: Self.kind,
                family: .systemSmall,
                host: 0,
                tags: [],
                configuration: Configuration(["p": .string(number == 0 ? "rare" : "v\(value)")]),
                pushEnabled: true
            )
        }
        for number in 0..<2999 { insert(number, number % 5) }
        #expect(try Self.drivers(index) == ["p"], "too few to look at")
        for number in 2999..<12_000 { insert(number, number % 5) }
        #expect(try Self.drivers(index) == ["configuration"])
        #expect(index.checkInvariants() == [])
        // A few less than a quarter as many configurations as instances, then more.
        for number in 1..<2990 { insert(number, 1000 + number) }
        #expect(try Self.drivers(index) == ["configuration"], "not yet")
        for number in 2990..<9000 { insert(number, 1000 + number) }
        #expect(try Self.drivers(index) == ["p"])
        #expect(index.checkInvariants() == [])
    }

    @Test func `instances that are loaded at once become classes at once`() throws {
        var index = IntentIndex()
        index.startLoading()
        for number in 0..<5000 {
            index.insert(
                UInt32(number),
                app: Self.app,
                kind: Self.kind,
                family: .systemSmall,
                host: UInt32(number / 3),
                tags: [],
                configuration: Configuration(["p": .string(number == 0 ? "rare" : "v\(number % 600)")]),
                pushEnabled: true
            )
        }
        index.finishLoading()
        #expect(try Self.drivers(index) == ["configuration"])
        #expect(index.checkInvariants() == [])
        let found = index.ask(Self.app, Self.kind, try MatchPattern.parse(["p": ["v7", "v5"]]), 100)
        #expect(found == (0..<5000).filter { [5, 7].contains($0 % 600) }.map { UInt32($0) })
    }

    @Test func `what is like another instance is loaded without being looked up`() throws {
        func insert(_ index: inout IntentIndex, _ number: UInt32, host: UInt32, _ value: UInt32) {
            index.insert(
                number,
                app: Self.app,
                kind: Self.kind,
                family: .systemSmall,
                host: host,
                tags: [],
                configuration: Configuration(["p": .string(value == 600 ? "rare" : "v\(value)")]),
                pushEnabled: true
            )
        }
        var index = IntentIndex()
        index.startLoading()
        insert(&index, 0, host: 0, 0)
        let isEarly = index.insert(InstanceNumber(1), like: 0, host: 0)
        #expect(!isEarly, "nobody knows yet whether there will be classes")
        for number in 1..<UInt32(66_000) { insert(&index, number, host: number / 3, number % 600) }
        for number in UInt32(66_000)..<67_000 {
            let isLike = index.insert(number, like: number - 600, host: number / 3)
            #expect(isLike)
        }
        // Changes while loading, of rows of both kinds.
        index.remove(InstanceNumber(5))
        index.remove(InstanceNumber(66_005))
        insert(&index, 66_605, host: 9, 7)
        insert(&index, 605, host: 9, 7)
        insert(&index, 12, host: 4, 600)
        let isAgain = index.insert(InstanceNumber(66_005), like: 605, host: 9)
        #expect(isAgain)
        let seven = try MatchPattern.parse(["p": "v7"])
        let expected = ((0..<67_000).filter { $0 % 600 == 7 } + [605, 66_005, 66_605]).map { UInt32($0) }.sorted()
        #expect(index.ask(Self.app, Self.kind, seven, 100) == expected, "without lists")
        index.finishLoading()
        #expect(index.checkInvariants() == [])
        #expect(index.count(app: Self.app) == 66_999)
        #expect(try Self.drivers(index) == ["configuration"])
        #expect(index.ask(Self.app, Self.kind, seven, 100) == expected)
        let host = try MatchPattern.parse(["$host": "h9"])
        let hosts = HostList((0..<23_000).map { "h\($0)" })
        #expect(index.ask(Self.app, Self.kind, host, 100, hosts: hosts) == [27, 28, 29, 605, 66_005, 66_605])
        let isLater = index.insert(InstanceNumber(5), like: 0, host: 1)
        #expect(isLater)
        #expect(index.checkInvariants() == [])
    }

    @Test func `instances come in the order of their numbers, whatever came before`() throws {
        var index = IntentIndex()
        func insert(_ number: Int) {
            index.insert(
                UInt32(number),
                app: Self.app,
                kind: WidgetKind(number % 3 == 0 ? "first" : "second"),
                family: .systemSmall,
                host: UInt32(number),
                tags: [],
                configuration: Configuration(["p": .string("v\(number % 2)"), "q": .int(Int64(number))]),
                pushEnabled: true
            )
        }
        for number in (0..<9000).reversed() { insert(number) }
        for number in stride(from: 0, to: 9000, by: 7) { index.remove(UInt32(number)) }
        let left = (0..<9000).filter { $0 % 7 != 0 }.map { UInt32($0) }
        #expect(index.ask(Self.app, nil, nil, 64) == left)
        // Few are sorted, many are bits.
        let few = try MatchPattern.parse(["q": ["numeric": [">=", 500, "<", 900]]])
        #expect(index.ask(Self.app, nil, few, 64) == left.filter { (500..<900).contains($0) })
        let half = try MatchPattern.parse(["p": "v1"])
        #expect(index.ask(Self.app, nil, half, 4096) == left.filter { $0 % 2 == 1 })
        var asFound: [UInt32] = []
        index.matches(
            app: Self.app,
            kind: nil,
            pattern: half,
            hosts: HostList(),
            order: .asFound,
            batchLimit: 100
        ) { batch in
            for place in batch.indices { asFound.append(batch[place].raw) }
        }
        #expect(asFound.sorted() == left.filter { $0 % 2 == 1 })
    }
}
