import BasicContainers
import IntentMatching
import TestSupport
import Testing
import WidgetModel

/// Rows with lists, and rows whose lists are not built yet, are found alike.
@Suite struct DeferredListTests {
    static let app = BundleID("com.example.lists")
    static let kind = WidgetKind("lists")

    /// The same instances in an index with lists, in one without, and in the model.
    struct Forms: ~Copyable {
        var indices = UniqueArray<IntentIndex>()
        var model = IntentIndexModel()
        /// Numbers are used again.
        var hosts = HostList()
        var dice: Dice
        let schema: KindSchema

        init(seed: UInt64) throws {
            self.dice = Dice(random: SplitMix64(seed: seed))
            self.schema = try self.dice.schema(kind)
            for _ in 0..<2 { self.indices.append(IntentIndex()) }
            // The second one answers without lists, by looking at every row.
            self.indices[1].startLoading()
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
    func `rows with lists and rows without give one answer`(seed: UInt64) throws {
        var forms = try Forms(seed: seed)
        let few = (0..<6).map { _ in forms.dice.configuration(forms.schema) }
        for step in 0..<900 {
            let number = UInt32(forms.dice.below(220))
            // First a few configurations, then one for each instance, then a few again: lists grow and shrink.
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
