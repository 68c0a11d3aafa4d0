import IntentMatching
import Testing
import WidgetModel

@Suite struct MatchPatternTests {
    static let configuration = Configuration([
        "team": .string("Seahawks"),
        "city": .string("caf\u{E9}"),
        "alliances": .array([.string("a"), .string("b")]),
        "scores": .array([.int(3), .int(8)]),
        "none": .array([]),
        "health": .int(50),
        "ratio": .double(2.5),
        "whole": .double(2),
        "premium": .bool(true),
        "kickoff": .date(Instant(seconds: 1_795_280_400)),
        "path": .string("a*b\\c"),
        "empty": .string(""),
        "venue.city": .string("Seattle"),
        "venue.seats": .int(72000),
    ])

    static let subject = MatchSubject(
        configuration: configuration,
        family: .systemSmall,
        host: HostID("h-1"),
        tags: ["beta", "eu"]
    )

    static let yes: [JSONValue] = [
        [:],
        ["team": "Seahawks"], ["team": ["x", "Seahawks"]], ["team": "Seahawks", "health": 50],
        ["premium": true], ["premium": [false, true]],
        ["health": 50.0], ["health": .unsigned(50)], ["whole": 2], ["ratio": 2.5],
        ["kickoff": "2026-11-21T18:00:00+01:00"], ["kickoff": "2026-11-21T17:00:00Z"],
        ["alliances": "b"], ["alliances": ["z", "a"]], ["alliances": ["exists": true]], ["none": ["exists": true]],
        ["team": ["prefix": "Sea"]], ["team": ["prefix": ""]], ["team": ["suffix": "hawks"]], ["team": ["suffix": ""]],
        ["alliances": ["prefix": "b"]], ["alliances": ["anything-but": "a"]], ["scores": ["numeric": [">", 5]]],
        ["team": ["equals-ignore-case": "sEAHAWKS"]], ["city": ["equals-ignore-case": "CAF\u{E9}"]],
        ["team": ["wildcard": "Sea*"]], ["team": ["wildcard": "*a*a*"]], ["team": ["wildcard": "Seahawks"]],
        ["team": ["wildcard": "**Sea**hawks*"]], ["path": ["wildcard": #"a\*b\\c"#]], ["path": ["wildcard": #"*\\c"#]],
        ["empty": ["wildcard": "*"]], ["empty": ["wildcard": ""]], ["empty": ""],
        ["team": ["anything-but": "x"]], ["team": ["anything-but": ["x", "y"]]],
        ["team": ["anything-but": ["prefix": "s"]]], ["health": ["anything-but": 51]],
        ["health": ["anything-but": nil]],
        ["kickoff": ["anything-but": "2026-11-21T17:00:01Z"]],
        ["health": ["numeric": ["=", 50]]], ["health": ["numeric": [">", 49, "<=", 50]]],
        ["health": ["numeric": ["<", 51.5, ">=", 50.0]]], ["ratio": ["numeric": [">", 2, "<", 3]]],
        ["missing": ["exists": false]], ["team": ["exists": true]], ["missing": ["x", ["exists": false]]],
        ["$or": [["team": "x"], ["health": 50]]], ["$or": [["team": "Seahawks"]]],
        ["team": "Seahawks", "$or": [["health": 1], ["$or": [["premium": true]]]]],
        ["venue": ["city": "Seattle"]], ["venue": ["city": ["prefix": "Sea"], "seats": 72000]],
        ["venue.city": "Seattle"],
        ["venue": ["$or": [["city": "x"], ["seats": ["numeric": [">", 1]]]]]],
        ["$family": "systemSmall"], ["$family": ["prefix": "system"]], ["$host": "h-1"], ["$host": ["x", "h-1"]],
        ["$tags": "beta"], ["$tags": ["x", "eu"]], ["$tags": ["exists": true]], ["$host": ["exists": true]],
    ]

    @Test(arguments: yes)
    func `a condition that holds matches`(json: JSONValue) throws {
        #expect(try MatchPattern.parse(json).matches(Self.subject))
    }

    static let no: [JSONValue] = [
        ["team": "seahawks"], ["team": "Seahawks "], ["team": ["x", "y"]], ["team": "Seahawks", "health": 51],
        ["team": nil], ["missing": nil], ["premium": false], ["premium": 1], ["health": "50"], ["health": true],
        ["health": 50.5], ["ratio": 2], ["kickoff": "2026-11-21T18:00:00Z"], ["kickoff": "tomorrow"],
        ["alliances": "c"], ["alliances": ["exists": false]], ["none": ["exists": false]], ["none": "a"],
        ["none": ["anything-but": "a"]], ["none": ["prefix": ""]],
        ["team": ["prefix": "sea"]], ["team": ["prefix": "Seahawks!"]], ["team": ["suffix": "!Seahawks"]],
        ["health": ["prefix": "5"]], ["kickoff": ["prefix": "2026"]],
        ["city": ["equals-ignore-case": "CAF\u{C9}"]], ["city": ["equals-ignore-case": "cafe\u{301}"]],
        ["city": "cafe\u{301}"], ["city": ["prefix": "cafe"]],
        ["team": ["wildcard": "Sea"]], ["team": ["wildcard": "*sea*"]], ["team": ["wildcard": "Seah*hawks"]],
        ["path": ["wildcard": #"a\*c"#]], ["empty": ["wildcard": "*a*"]],
        ["team": ["anything-but": "Seahawks"]], ["team": ["anything-but": ["x", "Seahawks"]]],
        ["team": ["anything-but": ["prefix": "Sea"]]], ["health": ["anything-but": 50.0]],
        ["kickoff": ["anything-but": "2026-11-21T17:00:00Z"]],
        ["health": ["numeric": [">", 50]]], ["health": ["numeric": ["<", 50]]],
        ["team": ["numeric": [">", 0]]],
        ["missing": "x"], ["missing": ["anything-but": "x"]], ["missing": ["anything-but": ["prefix": "x"]]],
        ["missing": ["exists": true]], ["missing": ["prefix": ""]], ["missing": ["numeric": ["<", 5]]],
        ["missing": ["wildcard": "*"]], ["team": ["exists": false]],
        ["$or": [["team": "x"], ["health": 51]]], ["team": "x", "$or": [["health": 50]]],
        ["venue": ["city": "Tacoma"]], ["venue": ["city": "Seattle", "seats": 1]],
        ["$family": "systemLarge"], ["$host": "h-2"], ["$tags": "x"], ["$tags": ["exists": false]],
        ["$host": ["exists": false]],
    ]

    @Test(arguments: no)
    func `a condition that does not hold does not match`(json: JSONValue) throws {
        #expect(try !MatchPattern.parse(json).matches(Self.subject))
    }

    @Test func `strings are bytes, not characters`() throws {
        let composed = try MatchPattern.parse(["city": "caf\u{E9}"])
        let decomposed = try MatchPattern.parse(["city": "cafe\u{301}"])
        #expect(composed != decomposed)
        #expect(composed.matches(Self.subject))
        #expect(!decomposed.matches(Self.subject))
        #expect(try MatchPattern.parse(["city": ["suffix": "\u{E9}"]]).matches(Self.subject))
        let name = MatchSubject(
            configuration: Configuration(["caf\u{E9}": .int(1)]),
            family: .systemSmall,
            host: HostID("h"),
            tags: []
        )
        #expect(try MatchPattern.parse(["caf\u{E9}": 1]).matches(name))
        #expect(try !MatchPattern.parse(["cafe\u{301}": 1]).matches(name))
    }

    /// A star or a backslash with a mark behind it is one character.
    @Test(arguments: [#"a\*"#, #"\\"#, #"*\*"#, #"\*\\"#])
    func `a wildcard is written as it was read, whatever marks stand behind its stars`(text: String) throws {
        for mark in ["", "\u{301}", "\u{FE0F}"] {
            let pattern = try MatchPattern.parse(["path": ["wildcard": .string(text + mark)]])
            #expect(try MatchPattern.parse(pattern.json) == pattern)
        }
    }

    @Test func `a parameter that the kind lacks does not match, not even by its absence`() throws {
        let subject = MatchSubject(
            configuration: Configuration(["team": .string("x")]),
            family: .systemSmall,
            host: HostID("h"),
            tags: [],
            schema: try KindSchema.sample()
        )
        #expect(try MatchPattern.parse(["title": ["exists": false]]).matches(subject))
        #expect(try !MatchPattern.parse(["colour": ["exists": false]]).matches(subject))
        #expect(try MatchPattern.parse(["$or": [["colour": ["exists": false]], ["team": "x"]]]).matches(subject))
    }

    static let edges: [(ParameterValue, JSONValue, Bool)] = [
        (.int(1 << 53), 9_007_199_254_740_992.0, true),
        (.int(1 << 53 + 1), 9_007_199_254_740_992.0, false),
        (.int(1 << 53 - 1), 9_007_199_254_740_992.0, false),
        (.int(1 << 53 + 1), 9_007_199_254_740_993, true),
        (.double(0x1p53), 9_007_199_254_740_993, false),
        (.double(0x1p53), 9_007_199_254_740_992, true),
        (.double(0x1p53), ["numeric": ["<", 9_007_199_254_740_993]], true),
        (.double(0x1p53), ["numeric": [">", 9_007_199_254_740_991]], true),
        (.double(0x1p53), ["numeric": [">=", 9_007_199_254_740_993]], false),
        (.int(1 << 53 + 1), ["numeric": [">", 9_007_199_254_740_992.0]], true),
        (.int(1 << 53 + 1), ["numeric": ["<", 9_007_199_254_740_994.0]], true),
        (.int(.max), 9_223_372_036_854_775_808.0, false),
        (.int(.max), .unsigned(1 << 63), false),
        (.int(.max), ["numeric": ["<", .unsigned(1 << 63)]], true),
        (.int(.max), ["numeric": ["<", 9_223_372_036_854_775_808.0]], true),
        (.int(.max), ["numeric": [">", 9_223_372_036_854_774_784.0]], true),
        (.int(.min), -9_223_372_036_854_775_808.0, true),
        (.int(.min), ["numeric": [">", -1e19]], true),
        (.int(.min), ["numeric": ["<", -9_223_372_036_854_774_784.0]], true),
        (.double(0x1p63), .unsigned(1 << 63), true),
        (.double(0x1p64), ["numeric": [">", .unsigned(.max)]], true),
        (.double(0x1p63), ["numeric": ["<", .unsigned(.max)]], true),
        (.double(-0.0), 0, true),
        (.int(0), -0.0, true),
        (.int(2), ["numeric": ["<", 2.5, ">", 1.5]], true),
        (.int(-2), ["numeric": ["<", -1.5, ">", -2.5]], true),
        (.int(0), ["numeric": [">", -0.5, "<", 0.5]], true),
        (.double(.leastNonzeroMagnitude), ["numeric": [">", 0]], true),
        (.double(1e300), ["numeric": [">", .unsigned(.max), "<", 1e301]], true),
        (.double(.nan), ["numeric": [">=", 0]], false),
        (.double(.infinity), ["numeric": [">=", 0]], false),
    ]

    @Test(arguments: edges)
    func `numbers compare exactly`(value: ParameterValue, leaf: JSONValue, expected: Bool) throws {
        let configuration = Configuration([Configuration.Parameter(name: "n", value: value)])
        let subject = MatchSubject(configuration: configuration, family: .systemSmall, host: HostID("h"), tags: [])
        #expect(try MatchPattern.parse(["n": leaf]).matches(subject) == expected)
    }

    @Test func `numbers are ordered as the real numbers are`() {
        let ascending: [ExactNumber] = [
            .double(-1e300), .int(.min), .int(-(1 << 53) - 1), .int(-3), .double(-2.5), .int(-2), .double(-0.5),
            .int(0),
            .double(.leastNonzeroMagnitude), .double(0.5), .int(1), .int(1 << 53), .int(1 << 53 + 1), .int(.max),
            .unsigned(1 << 63),
            .unsigned(.max), .double(0x1p64), .double(1e300),
        ]
        for (left, first) in ascending.enumerated() {
            for (right, second) in ascending.enumerated() {
                #expect((first < second) == (left < right), "\(first) \(second)")
                #expect((first == second) == (left == right), "\(first) \(second)")
            }
        }
        #expect(ExactNumber(0x1p53)?.exactDouble == 0x1p53)
        #expect(ExactNumber.int(1 << 53 + 1).exactDouble == nil)
        #expect(ExactNumber.int(.max).exactDouble == nil)
        #expect(ExactNumber.unsigned(1 << 63).exactDouble == 0x1p63)
        #expect(ExactNumber.unsigned(.max).exactDouble == nil)
        #expect(ExactNumber(-0.0) == .int(0))
    }

    @Test(arguments: yes + no)
    func `a pattern reads back from its bytes, and every truncation is told`(json: JSONValue) throws {
        let pattern = try MatchPattern.parse(json)
        var writer = ByteWriter()
        pattern.encode(into: &writer)
        var reader = ByteReader(writer.bytes)
        #expect(try MatchPattern(from: &reader) == pattern)
        #expect(reader.isAtEnd)
        for count in 0..<writer.bytes.count {
            var short = ByteReader(Array(writer.bytes[..<count]))
            #expect(throws: ByteError.self) { try MatchPattern(from: &short) }
        }
    }

    @Test func `bytes that nest without end are refused`() {
        for tag in [UInt8(0), 1] {
            let bytes: [UInt8] = (0..<10_000).flatMap { (_: Int) -> [UInt8] in [tag, 1] } + [0, 0]
            var reader = ByteReader(bytes)
            #expect(throws: ByteError.invalid(offset: 128)) { try MatchPattern(from: &reader) }
        }
    }
}
