import IntentMatching
import TestSupport
import Testing
import WidgetModel

/// Instances that come many at once, and lists that are built at once.
@Suite struct LoadingTests {
    static let app = BundleID("com.example.loaded")
    static let kind = WidgetKind("loaded")

    /// Values of every form, some too long to be looked up by a word or two; in one order of parameters, some left out.
    private static func configurations(_ count: Int, _ schema: KindSchema, _ dice: inout Dice) -> [Configuration] {
        let names = schema.parameters.map(\.name).filter { _ in dice.chance(5, in: 6) }
        return (0..<count).map { _ in
            var parameters: [Configuration.Parameter] = []
            let drawn = dice.configuration(schema)
            for name in names {
                let long = ParameterValue.string("a text that is longer than twelve bytes, \(dice.below(40))")
                var value = drawn[name] ?? .string("none")
                if dice.chance(1, in: 8) { value = long }
                if dice.chance(1, in: 20) { value = .array([long, .int(1), long, .string("abcd"), .string("abcde")]) }
                parameters.append(Configuration.Parameter(name: name, value: value))
            }
            // Now and then one that others are not like.
            if dice.chance(1, in: 50) { return dice.configuration(schema) }
            return Configuration(parameters)
        }
    }

    @Test(arguments: UInt64(0)..<32)
    func `instances that come many at once are found as a look at each finds them`(seed: UInt64) throws {
        var dice = Dice(random: SplitMix64(seed: seed))
        let schema = try dice.schema(Self.kind)
        var index = IntentIndex()
        index.declare(schema, app: Self.app)
        var model = IntentIndexModel()
        var hosts = HostList()
        func ask() throws {
            for _ in 0..<20 {
                let json = dice.pattern()
                let pattern = try MatchPattern.parse(json)
                #expect(
                    index.ask(Self.app, Self.kind, pattern, 64, hosts: hosts).sorted()
                        == model.matches(app: Self.app, kind: Self.kind, pattern: pattern),
                    "seed \(seed), pattern \(json)"
                )
            }
        }
        var next: UInt32 = 0
        func insert(_ count: Int) {
            var numbers: [UInt32] = []
            for _ in 0..<count {
                // Most are new and come in their order, some with gaps; a few are known, or come twice.
                let isKnown = next > 0 && dice.chance(1, in: 100)
                numbers.append(isKnown ? UInt32(dice.below(Int(next))) : next)
                if !isKnown { next += dice.chance(1, in: 30) ? 3 : 1 }
            }
            var plain: [PlainInstance] = []
            for (number, configuration) in zip(numbers, Self.configurations(count, schema, &dice)) {
                let host = dice.host()
                let family = dice.pick(WidgetFamily.allCases)
                let subject = MatchSubject(
                    configuration: configuration,
                    family: family,
                    host: host,
                    tags: [],
                    schema: schema
                )
                let own = hosts.use(host)
                plain.append(PlainInstance(number, family: family, host: own, configuration: configuration))
                if let old = model.instances[number] { hosts.release(old.subject.host) }
                model.instances[number] = IntentIndexModel.Instance(
                    app: Self.app,
                    subject: subject,
                    kind: Self.kind,
                    pushEnabled: true
                )
            }
            index.insert(plain.span, app: Self.app, kind: Self.kind)
        }
        func insertTagged() {
            let configuration = dice.configuration(schema)
            let host = dice.host()
            index.insert(
                next,
                app: Self.app,
                kind: Self.kind,
                family: .systemSmall,
                host: hosts.use(host),
                tags: ["eu", "beta"],
                configuration: configuration,
                pushEnabled: true
            )
            let subject = MatchSubject(
                configuration: configuration,
                family: .systemSmall,
                host: host,
                tags: ["eu", "beta"],
                schema: schema
            )
            model.instances[next] = IntentIndexModel.Instance(
                app: Self.app,
                subject: subject,
                kind: Self.kind,
                pushEnabled: true
            )
            next += 1
        }
        index.startLoading()
        for _ in 0..<12 {
            insert(dice.pick([1, 7, 30, 200, 500]))
            if dice.chance(1, in: 4) { insertTagged() }
            if dice.chance(1, in: 4), next > 0 {
                let number = UInt32(dice.below(Int(next)))
                index.remove(number)
                if let old = model.instances.removeValue(forKey: number) { hosts.release(old.subject.host) }
            }
        }
        #expect(index.checkInvariants() == [], "seed \(seed), while loading")
        try ask()
        index.finishLoading()
        #expect(index.checkInvariants() == [], "seed \(seed)")
        try ask()
        // Changes find the built lists as they should be.
        for _ in 0..<6 { insert(40) }
        for number in 0..<next where dice.chance(1, in: 2) {
            index.remove(number)
            if let old = model.instances.removeValue(forKey: number) { hosts.release(old.subject.host) }
        }
        #expect(index.checkInvariants() == [], "seed \(seed), after changes")
        try ask()
    }
}
