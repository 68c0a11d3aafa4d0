import IntentMatching
import TestSupport
import Testing
import WidgetModel

@Suite struct IntentIndexTests {
    static let app = BundleID("com.example.scores")
    static let kind = WidgetKind("scores")

    static func insert(
        _ instance: UInt32,
        _ configuration: Configuration,
        into index: inout IntentIndex,
        app: BundleID = app,
        kind: WidgetKind = kind,
        host: UInt32 = 0,
        tags: [String] = [],
        pushEnabled: Bool = true
    ) {
        index.insert(
            instance,
            app: app,
            kind: kind,
            family: .systemSmall,
            host: host,
            tags: tags,
            configuration: configuration,
            pushEnabled: pushEnabled
        )
    }

    @Test func `an instance is found by its newest configuration only, and not after removal`() throws {
        var index = IntentIndex()
        Self.insert(7, Configuration(["team": .string("a")]), into: &index)
        Self.insert(7, Configuration(["team": .string("b")]), into: &index)
        let left = try MatchPattern.parse(["team": "a"])
        let right = try MatchPattern.parse(["team": "b"])
        #expect(index.ask(Self.app, Self.kind, left, 4) == [])
        #expect(index.ask(Self.app, Self.kind, right, 4) == [7])
        #expect(index.count(app: Self.app) == 1)
        index.remove(InstanceNumber(7))
        index.remove(InstanceNumber(7))
        index.remove(InstanceNumber(99))
        #expect(index.ask(Self.app, Self.kind, right, 4) == [])
        #expect(index.count(app: Self.app) == 0)
        #expect(index.checkInvariants() == [])
    }

    @Test func `a number may come back as another app's instance`() throws {
        var index = IntentIndex()
        let other = BundleID("com.example.other")
        Self.insert(0, Configuration(["team": .string("a")]), into: &index)
        Self.insert(0, Configuration(["team": .string("a")]), into: &index, app: other)
        let pattern = try MatchPattern.parse(["team": "a"])
        #expect(index.ask(Self.app, nil, pattern, 4) == [])
        #expect(index.ask(other, nil, pattern, 4) == [0])
    }

    @Test func `pushes do not reach an instance that switched them off`() {
        var index = IntentIndex()
        Self.insert(1, .empty, into: &index)
        Self.insert(2, .empty, into: &index, pushEnabled: false)
        #expect(index.ask(Self.app, nil, nil, 4) == [1])
        Self.insert(1, .empty, into: &index, pushEnabled: false)
        Self.insert(2, .empty, into: &index)
        #expect(index.ask(Self.app, nil, nil, 4) == [2])
        #expect(index.count(app: Self.app, kind: Self.kind) == 1)
        #expect(index.checkInvariants() == [])
    }

    @Test func `an unknown app, kind or value matches nothing`() throws {
        var index = IntentIndex()
        Self.insert(1, Configuration(["team": .string("a")]), into: &index)
        #expect(index.ask(BundleID("x"), nil, nil, 4) == [])
        #expect(index.ask(Self.app, WidgetKind("x"), nil, 4) == [])
        #expect(index.ask(Self.app, Self.kind, try MatchPattern.parse(["team": "z"]), 4) == [])
        #expect(index.count(app: BundleID("x")) == 0)
    }

    @Test func `a declared parameter that no instance has is absent, an undeclared one matches nothing`() throws {
        var index = IntentIndex()
        index.declare(
            try KindSchema(kind: Self.kind, parameters: [ParameterSchema("title", .string)]),
            app: Self.app
        )
        Self.insert(1, .empty, into: &index)
        Self.insert(2, .empty, into: &index, kind: WidgetKind("other"))
        let absent = try MatchPattern.parse(["title": ["exists": false]])
        #expect(index.ask(Self.app, nil, absent, 4) == [1])
        #expect(index.ask(Self.app, Self.kind, absent, 4) == [1])
        // Nothing is known of the other kind's parameters; a caller that names the kind has checked the pattern.
        #expect(index.ask(Self.app, WidgetKind("other"), absent, 4) == [2])
        index.declare(try KindSchema(kind: Self.kind), app: Self.app)
        #expect(index.ask(Self.app, nil, absent, 4) == [])
    }

    @Test func `a parameter may turn from a value into an array of values`() throws {
        var index = IntentIndex()
        Self.insert(1, Configuration(["team": .string("a")]), into: &index)
        Self.insert(2, .empty, into: &index)
        Self.insert(3, Configuration(["team": .array([.string("b"), .string("a"), .string("b")])]), into: &index)
        Self.insert(4, Configuration(["team": .array([])]), into: &index)
        Self.insert(5, Configuration(["team": .string("b")]), into: &index)
        #expect(index.checkInvariants() == [])
        func ask(_ leaf: JSONValue) throws -> [UInt32] {
            index.ask(Self.app, Self.kind, try MatchPattern.parse(["team": leaf]), 4).sorted()
        }
        #expect(try ask("a") == [1, 3])
        #expect(try ask(["a", "b"]) == [1, 3, 5])
        #expect(try ask(["exists": true]) == [1, 3, 4, 5])
        #expect(try ask(["exists": false]) == [2])
        #expect(try ask(["anything-but": "a"]) == [3, 5])
    }

    @Test func `tags exist even where no row has one, and may come late`() throws {
        var index = IntentIndex()
        func ask(_ leaf: JSONValue) throws -> [UInt32] {
            index.ask(Self.app, Self.kind, try MatchPattern.parse(["$tags": leaf]), 4).sorted()
        }
        Self.insert(1, Configuration(["": .string("beta")]), into: &index)
        Self.insert(2, .empty, into: &index)
        #expect(try ask(["exists": true]) == [1, 2])
        #expect(try ask(["exists": false]) == [])
        #expect(try ask("beta") == [])
        Self.insert(3, .empty, into: &index, tags: ["eu", "beta", "eu"])
        #expect(try ask(["exists": true]) == [1, 2, 3])
        #expect(try ask(["beta", "eu"]) == [3])
        #expect(try ask(["anything-but": "eu"]) == [3])
        #expect(index.checkInvariants() == [])
    }

    @Test func `1 and 1.0 are one value, integers beyond 2^53 are not their neighbours`() throws {
        var index = IntentIndex()
        let values: [ParameterValue] = [
            .int(1), .double(1), .int(1 << 53), .double(0x1p53), .int(1 << 53 + 1), .int(.max), .double(0x1p63),
        ]
        for (number, value) in values.enumerated() {
            Self.insert(UInt32(number), Configuration([Configuration.Parameter(name: "n", value: value)]), into: &index)
        }
        func ask(_ leaf: JSONValue) throws -> [UInt32] {
            index.ask(Self.app, Self.kind, try MatchPattern.parse(["n": leaf]), 4).sorted()
        }
        #expect(try ask(1.0) == [0, 1])
        #expect(try ask(9_007_199_254_740_992) == [2, 3])
        #expect(try ask(9_007_199_254_740_993) == [4])
        #expect(try ask(.unsigned(1 << 63)) == [6])
        #expect(try ask(.int(.max)) == [5])
        #expect(try ask(["numeric": [">", 9_007_199_254_740_992.0]]) == [4, 5, 6])
    }

    @Test func `strings of every length are told apart by each of their bytes`() throws {
        var texts: [String] = []
        for length in 0..<20 {
            let text = [UInt8](repeating: UInt8(ascii: "a"), count: length)
            texts.append(String(decoding: text, as: UTF8.self))
            for place in text.indices {
                var other = text
                other[place] = UInt8(ascii: "b")
                texts.append(String(decoding: other, as: UTF8.self))
            }
        }
        var index = IntentIndex()
        for (number, text) in texts.enumerated() {
            Self.insert(UInt32(number), Configuration(["text": .string(text)]), into: &index)
        }
        for (number, text) in texts.enumerated() {
            let equal = try MatchPattern.parse(["text": .string(text)])
            #expect(index.ask(Self.app, Self.kind, equal, 4) == [UInt32(number)])
            let prefixed = texts.indices.filter { texts[$0].hasPrefix(text) }.map { UInt32($0) }
            let prefix = try MatchPattern.parse(["text": ["prefix": .string(text)]])
            #expect(index.ask(Self.app, Self.kind, prefix, 4) == prefixed, "\(text)")
        }
        #expect(index.checkInvariants() == [])
    }

    @Test func `strings are found by their bytes`() throws {
        var index = IntentIndex()
        Self.insert(1, Configuration(["city": .string("caf\u{E9}")]), into: &index)
        Self.insert(2, Configuration(["city": .string("cafe\u{301}")]), into: &index)
        #expect(index.ask(Self.app, nil, try MatchPattern.parse(["city": "caf\u{E9}"]), 4) == [1])
        #expect(index.ask(Self.app, nil, try MatchPattern.parse(["city": "cafe\u{301}"]), 4) == [2])
    }

    /// Those of ``large``, and others that have no instances.
    static let hosts = HostList((0..<7000).map { "h\($0)" })

    /// Each of 20,000 instances with an id of its own, a group of 16 and every tenth premium.
    static let configurations = (0..<20_000).map { number in
        Configuration([
            "account": .string("account-\(number)"),
            "accounts": .array([.string("a\(number % 5000)"), .string("a\((number * 7) % 6000)")]),
            "group": .int(Int64(number % 16)),
            "premium": .bool(number % 10 == 0),
        ])
    }

    static let large = Self.makeLarge()

    static func makeLarge() -> IntentIndex {
        var index = IntentIndex()
        for (number, configuration) in Self.configurations.enumerated() {
            Self.insert(UInt32(number), configuration, into: &index, host: UInt32(number / 3))
        }
        return index
    }

    static let manyValues: [JSONValue] = [
        ["account": ["prefix": "account-19"]],
        ["account": ["prefix": "account-19"], "group": 3],
        ["account": ["prefix": "account-19"], "$host": ["h5", "h6400"]],
        ["account": ["wildcard": "*-1*9"], "premium": true],
        ["account": ["anything-but": "account-3"], "group": [3, 4, 5]],
        ["account": [["prefix": "account-7"], "account-3", ["exists": false]], "group": 3],
        ["account": .array((0..<100).map { .string("account-\($0 * 17)") }), "premium": true],
        ["account": .array((0..<100).map { .string("account-\($0 * 17)") }), "$host": ["h0", "h51", "h17"]],
        ["account": ["prefix": "nobody"]],
        ["account": ["prefix": "nobody"], "group": 1],
        ["accounts": ["prefix": "a59"]],
        ["accounts": ["suffix": "77"], "group": 5],
        ["accounts": ["a1", "a7", "a14", "a21", "a28", "a35"]],
        ["accounts": .array((0..<60).map { .string("a\($0 * 7)") }), "group": ["numeric": [">=", 4, "<", 9]]],
        ["$or": [["account": "account-5"], ["group": 5, "premium": true], ["accounts": ["a5", "a35"]]]],
        ["$or": [["account": ["suffix": "5"]], ["group": ["numeric": ["<", 2]]]], "premium": false],
        ["$or": [["premium": ["anything-but": true]], ["group": 0]]],
        ["group": ["numeric": [">=", 3, "<=", 12]]],
        ["group": ["anything-but": [1, 2]], "premium": true],
        ["group": ["anything-but": [1, 2, 3, 4, 5, 6]], "premium": true],
        ["group": [1, 2, 3, 4, 5, 6, 7, 8], "premium": ["exists": true]],
    ]

    @Test func `columns with many values are verified as those with few`() throws {
        #expect(Self.large.checkInvariants() == [])
        for json in Self.manyValues {
            let pattern = try MatchPattern.parse(json)
            let expected = Self.configurations.indices.filter { number in
                let host = HostID("h\(number / 3)")
                return pattern.matches(
                    MatchSubject(
                        configuration: Self.configurations[number],
                        family: .systemSmall,
                        host: host,
                        tags: []
                    )
                )
            }
            let found = Self.large.ask(Self.app, Self.kind, pattern, 512, hosts: Self.hosts)
            #expect(found.sorted() == expected.map { UInt32($0) }, "\(json)")
        }
    }

    @Test func `the plan walks the shortest list, or all rows where none is short`() throws {
        func plan(_ json: JSONValue?) throws -> String {
            let pattern = try json.map { try MatchPattern.parse($0) }
            let plans = Self.large.explain(app: Self.app, kind: Self.kind, pattern: pattern, hosts: Self.hosts)
            return plans.map(\.description).joined()
        }
        let rows = "20000 rows"
        #expect(try plan(nil) == "scores: every row; \(rows)")
        #expect(
            try plan(["account": "account-5", "group": 5]) == "scores: lists by account (1) through 1 filters; \(rows)"
        )
        #expect(try plan(["premium": true, "group": 5]) == "scores: lists by group (1250) through 1 filters; \(rows)")
        #expect(
            try plan(["premium": true, "group": [1, 2]]) == "scores: lists by premium (2000) through 1 filters; \(rows)"
        )
        #expect(
            try plan(["group": ["numeric": [">", 13]]])
                == "scores: lists by group (1250), group (1250) through 0 filters; \(rows)"
        )
        #expect(try plan(["group": ["numeric": [">", 3]]]) == "scores: all rows through 1 filters; \(rows)")
        #expect(try plan(["account": ["prefix": "a"]]) == "scores: all rows through 1 filters; \(rows)")
        #expect(try plan(["account": "nobody"]) == "scores: no row can match; \(rows)")
        #expect(try plan(["account": ["exists": true]]) == "scores: every row; \(rows)")
        #expect(
            try plan(["$or": [["account": "account-1"], ["$host": "h7"]]])
                == "scores: lists by account (1), $host (3) through 0 filters; \(rows)"
        )
        #expect(
            Self.large.explain(
                app: Self.app,
                kind: Self.kind,
                pattern: try MatchPattern.parse(["group": 1]),
                hosts: Self.hosts
            )
                == [
                    QueryPlan(
                        kind: Self.kind,
                        path: .postings,
                        drivers: [QueryPlan.Driver(field: "group", length: 1250)],
                        candidates: 1250,
                        filters: 0,
                        rows: 20_000,
                        touched: QueryPlan.Touched(listed: 1250, matched: 1250)
                    )
                ]
        )
    }

    @Test(arguments: [1, 2, 1023, 1024, 1025, 4096, 100_000])
    func `batches are full but the last, and never above the limit`(limit: Int) throws {
        var index = Self.makeLarge()
        for number in stride(from: UInt32(0), to: 20_000, by: 8) { index.remove(number) }
        for json: JSONValue? in [nil, ["group": 1], ["premium": false]] {
            var sizes: [Int] = []
            let pattern = try json.map { try MatchPattern.parse($0) }
            index.matches(app: Self.app, kind: Self.kind, pattern: pattern, hosts: Self.hosts, batchLimit: limit) {
                sizes.append($0.count)
            }
            #expect(sizes.dropLast().allSatisfy { $0 == limit })
            #expect(sizes.allSatisfy { (1...limit).contains($0) })
            #expect(sizes.reduce(0, +) == index.ask(Self.app, Self.kind, pattern, 64).count)
        }
    }

    @Test func `a cursor goes on where it was, and holds no more than a batch`() throws {
        let pattern = try MatchPattern.parse(["group": [1, 2], "premium": ["anything-but": true]])
        let whole = Self.large.ask(Self.app, Self.kind, pattern, 100_000)
        for order in [MatchOrder.ascending, .asFound] {
            var found: [UInt32] = []
            var cursor = Self.large.cursor(
                app: Self.app,
                kind: Self.kind,
                pattern: pattern,
                hosts: Self.hosts,
                order: order,
                batchLimit: 10
            )
            while Self.large.next(&cursor, Self.hosts) {
                // Another question between two batches is another's.
                let other = Self.large.ask(Self.app, Self.kind, try MatchPattern.parse(["account": "account-7"]), 4)
                #expect(other == [7])
                let batch = cursor.batch
                #expect(batch.count <= 10)
                for place in batch.indices { found.append(batch[place].raw) }
            }
            let isOver = !Self.large.next(&cursor, Self.hosts)
            #expect(isOver)
            #expect(found.sorted() == whole)
        }
    }

    @Test func `instances that are gone or are configured anew are not found as they were`() throws {
        var index = Self.makeLarge()
        for number in stride(from: UInt32(0), to: 20_000, by: 2) { index.remove(number) }
        for number in stride(from: UInt32(1), to: 4000, by: 4) { Self.insert(number, .empty, into: &index) }
        #expect(index.checkInvariants() == [])
        let pattern = try MatchPattern.parse(["account": "account-5"])
        #expect(index.ask(Self.app, Self.kind, pattern, 4) == [])
        #expect(index.count(app: Self.app) == 10_000)
    }

    @Test func `memory does not grow when instances are configured over and over`() {
        var index = IntentIndex()
        var bytes: [Int] = []
        for round in 0..<12 {
            for number in UInt32(0)..<2000 {
                let account = ParameterValue.string("account-\(round)-\(number)")
                Self.insert(number, Configuration(["account": account]), into: &index)
            }
            bytes.append(index.byteCount)
        }
        #expect(index.checkInvariants() == [])
        // Allocators round up differently from time to time.
        #expect(bytes.dropFirst(6).max() ?? 0 <= 5 * (bytes.prefix(6).max() ?? 0) / 4)
    }
}
