import IntentMatching
import TestSupport
import Testing
import WidgetModel

@Suite struct IntentIndexModelTests {
    static let apps = [BundleID("com.example.a"), BundleID("com.example.b")]
    static let kinds = [WidgetKind("x"), WidgetKind("y"), WidgetKind("z")]

    /// Index and model side by side.
    struct Pair: ~Copyable {
        var index = IntentIndex()
        var model = IntentIndexModel()
        /// Numbers are used again; some hosts have no instance.
        var hosts = HostList((90..<95).map { "h-\($0)" })
        var schemas: [[KindSchema]] = []
        var dice: Dice

        init(seed: UInt64) throws {
            self.dice = Dice(random: SplitMix64(seed: seed))
            for app in apps {
                var schemas: [KindSchema] = []
                for kind in kinds {
                    let schema = try self.dice.schema(kind)
                    self.index.declare(schema, app: app)
                    schemas.append(schema)
                }
                self.schemas.append(schemas)
            }
        }

        mutating func insert(_ number: UInt32) {
            let app = self.dice.below(apps.count)
            // Most instances are of one kind, so that it grows and is compacted.
            let kind = self.dice.chance(1, in: 4) ? self.dice.below(kinds.count) : 0
            let schema = self.schemas[app][kind]
            let subject = MatchSubject(
                configuration: self.dice.configuration(schema),
                family: self.dice.pick(WidgetFamily.allCases),
                host: self.dice.host(),
                tags: (0..<self.dice.below(3)).map { _ in self.dice.pick(Dice.tags) },
                schema: schema
            )
            let pushEnabled = !self.dice.chance(1, in: 10)
            let when = self.dice.chance(1, in: 4) ? try? MatchPattern.condition(from: self.dice.condition()) : nil
            self.index.insert(
                number,
                app: apps[app],
                kind: kinds[kind],
                family: subject.family,
                host: self.hosts.use(subject.host),
                tags: subject.tags,
                configuration: subject.configuration,
                when: when,
                pushEnabled: pushEnabled
            )
            self.releaseHost(of: number)
            self.model.instances[number] = IntentIndexModel.Instance(
                app: apps[app],
                subject: subject,
                kind: kinds[kind],
                pushEnabled: pushEnabled,
                when: when
            )
        }

        mutating func prefetch(_ number: UInt32) {
            let numbers = [InstanceNumber(raw: number), InstanceNumber(raw: number + 1)]
            self.index.prefetch(numbers.span)
        }

        mutating func remove(_ number: UInt32) {
            self.index.remove(number)
            self.releaseHost(of: number)
            self.model.instances[number] = nil
        }

        private mutating func releaseHost(of number: UInt32) {
            if let old = self.model.instances[number] { self.hosts.release(old.subject.host) }
        }

        /// Asks both, and expects one answer without repeats in batches of the right size.
        mutating func ask(_ seed: UInt64) throws {
            let json = self.dice.pattern()
            let pattern = try MatchPattern.parse(json)
            let app = self.dice.pick(apps)
            let kind = self.dice.chance(1, in: 4) ? nil : self.dice.pick([kinds[0], kinds[0], kinds[1], kinds[2]])
            let limit = self.dice.pick([1, 2, 7, 64, 5000])
            let attributes = self.dice.chance(1, in: 2) ? self.dice.attributes(self.schemas[0][0]) : nil
            let found = self.index.ask(app, kind, pattern, limit, hosts: self.hosts, attributes: attributes)
            let expected = self.model.matches(app: app, kind: kind, pattern: pattern, attributes: attributes)
            #expect(
                found.sorted() == expected,
                "seed \(seed), kind \(kind?.rawValue ?? "any"), pattern \(json)"
            )
        }
    }

    @Test(arguments: UInt64(0)..<32)
    func `the index finds what a look at every instance finds, whatever changed before`(seed: UInt64) throws {
        var pair = try Pair(seed: seed)
        let numbers: Int = pair.dice.pick([20, 150, 600])
        for step in 0..<1500 {
            let number = UInt32(pair.dice.below(numbers))
            // Half of the changes come together.
            if step % 10 == 0, pair.dice.chance(1, in: 2) { pair.index.startChanges() }
            if pair.dice.chance(1, in: 3) { pair.prefetch(number) }
            if pair.dice.chance(1, in: 4) { pair.remove(number) } else { pair.insert(number) }
            if step % 10 == 9 {
                pair.index.finishChanges()
                try pair.ask(seed)
            }
            if step % 300 == 299 {
                #expect(pair.index.checkInvariants() == [], "seed \(seed), step \(step)")
            }
        }
        for app in Self.apps {
            let all = pair.model.matches(app: app, kind: nil, pattern: nil)
            #expect(pair.index.ask(app, nil, nil, 100).sorted() == all, "seed \(seed)")
            #expect(pair.index.count(app: app) == all.count, "seed \(seed)")
            for kind in Self.kinds {
                let all = pair.model.matches(app: app, kind: kind, pattern: nil)
                #expect(pair.index.ask(app, kind, .all([]), 100).sorted() == all, "seed \(seed)")
                #expect(pair.index.count(app: app, kind: kind) == all.count, "seed \(seed)")
            }
        }
        for number in 0..<UInt32(numbers) { pair.remove(number) }
        #expect(pair.index.checkInvariants() == [], "seed \(seed)")
        #expect(pair.index.count(app: Self.apps[0]) == 0)
    }

    @Test(arguments: UInt64(100)..<108)
    func `lists and $or are unions, members are intersections, exists parts in two`(seed: UInt64) throws {
        var pair = try Pair(seed: seed)
        for number in UInt32(0)..<800 { pair.insert(number) }
        let app = Self.apps[0]
        let kind = Self.kinds[0]
        func found(_ pattern: MatchPattern) -> Set<UInt32> {
            Set(pair.index.ask(app, kind, pattern, 64, hosts: pair.hosts))
        }
        for _ in 0..<60 {
            let left = try MatchPattern.parse(pair.dice.pattern())
            let right = try MatchPattern.parse(pair.dice.pattern())
            #expect(found(.any([left, right])) == found(left).union(found(right)), "seed \(seed)")
            #expect(found(.all([left, right])) == found(left).intersection(found(right)), "seed \(seed)")
            if case .field(let field, let atoms) = left, case .field(field, let more) = right {
                #expect(found(.field(field, atoms + more)) == found(left).union(found(right)), "seed \(seed)")
            }
        }
        for parameter in pair.schemas[0][0].parameters {
            let field = MatchField.parameter(UTF8Text(parameter.name))
            let present = found(.field(field, [.exists(true)]))
            let absent = found(.field(field, [.exists(false)]))
            #expect(present.isDisjoint(with: absent), "seed \(seed), \(parameter.name)")
            #expect(present.union(absent) == found(.all([])), "seed \(seed), \(parameter.name)")
            #expect(found(.field(field, [.exists(true), .exists(false)])) == found(.all([])), "seed \(seed)")
        }
    }

    @Test(arguments: UInt64(200)..<204)
    func `the same calls give the same order`(seed: UInt64) throws {
        var first = try Pair(seed: seed)
        var second = try Pair(seed: seed)
        for number in UInt32(0)..<500 {
            first.insert(number % 200)
            second.insert(number % 200)
        }
        for _ in 0..<50 {
            let pattern = try MatchPattern.parse(first.dice.pattern())
            let found = first.index.ask(Self.apps[0], nil, pattern, 8, hosts: first.hosts)
            #expect(
                second.index.ask(Self.apps[0], nil, pattern, 8, hosts: second.hosts) == found,
                "seed \(seed)"
            )
        }
    }

    @Test(arguments: UInt64(300)..<320)
    func `damaged pattern bytes are told or read, and never trap`(seed: UInt64) throws {
        var dice = Dice(random: SplitMix64(seed: seed))
        for _ in 0..<50 {
            let pattern = try MatchPattern.parse(dice.pattern())
            var writer = ByteWriter()
            pattern.encode(into: &writer)
            var whole = ByteReader(writer.bytes)
            #expect(try MatchPattern(from: &whole) == pattern, "seed \(seed)")
            var bytes = writer.bytes
            for _ in 0..<3 { bytes[dice.below(bytes.count)] = UInt8(truncatingIfNeeded: dice.random.next()) }
            var reader = ByteReader(bytes)
            guard let damaged = try? MatchPattern(from: &reader) else { continue }
            // Whatever was read can be asked and written.
            _ = damaged.matches(MatchPatternTests.subject)
            var again = ByteWriter()
            damaged.encode(into: &again)
            var second = ByteReader(again.bytes)
            #expect(try MatchPattern(from: &second) == damaged, "seed \(seed)")
        }
    }
}

extension IntentIndex {
    /// All answers; expects that no batch is empty or too long and that no instance comes twice.
    func ask(
        _ app: BundleID,
        _ kind: WidgetKind?,
        _ pattern: MatchPattern?,
        _ limit: Int,
        hosts: HostList = HostList(),
        attributes: Configuration? = nil
    ) -> [UInt32] {
        var found: [UInt32] = []
        self.matches(
            app: app,
            kind: kind,
            pattern: pattern,
            hosts: hosts,
            attributes: attributes,
            batchLimit: limit
        ) { batch in
            #expect(batch.count > 0 && batch.count <= limit)
            for index in batch.indices { found.append(batch[index].raw) }
        }
        #expect(Set(found).count == found.count)
        // A plan is made for every explanation, and left out where a question is plain: both find the same.
        var planned: [UInt32] = []
        _ = self.explain(app: app, kind: kind, pattern: pattern, hosts: hosts, attributes: attributes) { batch in
            for index in batch.indices { planned.append(batch[index].raw) }
        }
        #expect(planned == found)
        // How much is done for plans at a time changes nothing either.
        #expect(self.ask(app, kind, pattern, hosts: hosts, attributes: attributes, work: 1 + found.count % 50) == found)
        return found
    }

    /// The matches of a question whose plans are made in steps of so much work.
    private func ask(
        _ app: BundleID,
        _ kind: WidgetKind?,
        _ pattern: MatchPattern?,
        hosts: HostList,
        attributes: Configuration?,
        work: Int
    ) -> [UInt32] {
        var cursor = self.cursor(
            app: app,
            kind: kind,
            pattern: pattern,
            hosts: hosts,
            attributes: attributes,
            batchLimit: 64
        )
        var found: [InstanceNumber] = []
        while self.next(&cursor, hosts, work: work) { cursor.appendBatch(to: &found) }
        return found.map(\.raw)
    }
}
