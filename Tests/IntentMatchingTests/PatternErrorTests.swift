import IntentMatching
import Testing
import WidgetModel

@Suite struct PatternFaultTests {
    static let malformed: [(JSONValue, String)] = [
        ("x", "match: expected an object, got a string"),
        (["team": []], "match.team: the list is empty"),
        (["team": [["a"]]], "match.team[0]: a list inside a list"),
        (["team": [:]], "match.team: the object has no members"),
        (["team": [[:]]], "match.team[0]: expected one operator, got 0 members"),
        (["team": ["x", ["prefix": "a", "suffix": "b"]]], "match.team[1]: expected one operator, got 2 members"),
        (["team": ["prefix": "a", "x": "b"]], "match.team: expected one operator, got 2 members"),
        (
            ["team": [["prefx": "a"]]],
            "match.team[0]: prefx is not an operator; expected one of "
                + "prefix, suffix, equals-ignore-case, wildcard, anything-but, numeric, exists"
        ),
        (["team": ["prefix": 5]], "match.team.prefix: expected a string, got an integer"),
        (["team": [["suffix": ["a"]]]], "match.team[0].suffix: expected a string, got an array"),
        (["team": ["equals-ignore-case": nil]], "match.team.equals-ignore-case: expected a string, got null"),
        (["team": ["wildcard": true]], "match.team.wildcard: expected a string, got a boolean"),
        (
            ["team": ["wildcard": #"a\b"#]],
            "match.team.wildcard: a backslash may only come before a star or a backslash"
        ),
        (
            ["team": ["wildcard": #"a\"#]],
            "match.team.wildcard: a backslash may only come before a star or a backslash"
        ),
        (["team": ["exists": "yes"]], "match.team.exists: expected true or false, got a string"),
        (["team": ["anything-but": []]], "match.team.anything-but: the list is empty"),
        (
            ["team": ["anything-but": ["a", ["b"]]]],
            "match.team.anything-but[1]: expected a string, a number, a boolean or null, got an array"
        ),
        (
            ["team": ["anything-but": ["suffix": "a"]]],
            "match.team.anything-but: expected a literal, a list of literals or a prefix"
        ),
        (
            ["team": ["anything-but": ["prefix": 5]]],
            "match.team.anything-but.prefix: expected a string, got an integer"
        ),
        (["n": ["numeric": 5]], "match.n.numeric: \(form), got an integer"),
        (["n": ["numeric": [">"]]], "match.n.numeric: \(form), got 1 elements"),
        (["n": ["numeric": [">", 1, "<"]]], "match.n.numeric: \(form), got 3 elements"),
        (["n": ["numeric": [">", 1, ">", 2]]], "match.n.numeric: \(form)"),
        (["n": ["numeric": ["<", 1, "=", 2]]], "match.n.numeric: \(form)"),
        (["n": ["numeric": ["=", 1, "<", 2]]], "match.n.numeric: \(form)"),
        (["n": ["numeric": ["<", 5, ">", 9]]], "match.n.numeric: \(empty)"),
        (["n": ["numeric": [">=", 9, "<", 9]]], "match.n.numeric: \(empty)"),
        (["n": ["numeric": [">", 9, "<=", 9.0]]], "match.n.numeric: \(empty)"),
        (["n": ["numeric": ["!=", 1]]], "match.n.numeric[0]: expected one of =, <, <=, >, >="),
        (["n": ["numeric": [1, 1]]], "match.n.numeric[0]: expected one of =, <, <=, >, >=, got an integer"),
        (["n": ["numeric": [">", 1, "<", "2"]]], "match.n.numeric[3]: expected a number, got a string"),
        (["n": .double(.nan)], "match.n: expected a finite number"),
        (["n": ["numeric": [">", .double(.infinity)]]], "match.n.numeric[1]: expected a number, got a number"),
        (["$or": ["team": "x"]], "match.$or: expected a list of objects, got an object"),
        (["$or": []], "match.$or: the list is empty"),
        (["$and": [["team": "x"], 1]], "match.$and[1]: expected an object, got an integer"),
        (["$or": [["team": "x"], "y"]], "match.$or[1]: expected an object, got a string"),
        (["$or": [["team": "x"], [:]]], "match.$or[1]: the object has no members"),
        (["$or": [["a": ["b": ["prefix": 1]]]]], "match.$or[0].a.b.prefix: expected a string, got an integer"),
        (["$kind": "x"], "match.$kind: expected one of $family, $host, $tags, $or, $and"),
        (["venue": ["$host": "x"]], "match.venue.$host: only $or and $and may be inside another object"),
        (
            ["$tags": ["city": "x"]],
            "match.$tags: expected a string or one of "
                + "prefix, suffix, equals-ignore-case, wildcard, anything-but, numeric, exists"
        ),
        (["": "x"], "match.: expected a parameter's name of 1 to 128 bytes"),
    ]

    static let empty =
        #"no number fits both; if one of them is enough, give two elements, as in "#
        + #"[{"numeric": ["<", 5]}, {"numeric": [">", 9]}]"#
    static let form = #"expected a comparison as in ["=", 5], or a lower and an upper one as in [">", 5, "<=", 9]"#

    @Test(arguments: malformed)
    func `what is no pattern is refused with its place`(json: JSONValue, description: String) {
        #expect(Self.parseFault(json) == description)
    }

    static let unfit: [(JSONValue, String)] = [
        (
            ["colour": "x"],
            "match.colour: kind scores has no such parameter; it has alliances, dates, health, kickoff, league, premium, "
                + "ratio, team, title, venue.city, venue.seats"
        ),
        (
            ["$or": [["team": "x"], ["colour": ["exists": false]]]],
            "match.$or[1].colour: kind scores has no such parameter; it has alliances, dates, health, kickoff, league, "
                + "premium, ratio, team, title, venue.city, venue.seats"
        ),
        (
            ["team": ["prefx": "a"]],
            "match.team.prefx: prefx is not an operator; expected one of "
                + "prefix, suffix, equals-ignore-case, wildcard, anything-but, numeric, exists"
        ),
        (["venue": "Seattle"], "match.venue: expected an object: venue is not a parameter, but contains parameters"),
        (["team": 5], "match.team: expected an entity id (a string), got a number"),
        (["team": ["x", true]], "match.team[1]: expected an entity id (a string), got a boolean"),
        (["title": ["anything-but": ["x", 5]]], "match.title.anything-but[1]: expected a string, got a number"),
        (["title": ["anything-but": 5]], "match.title.anything-but: expected a string, got a number"),
        (["title": ["x", ["numeric": [">", 5]]]], "match.title[1].numeric: title is string and holds no numbers"),
        (
            ["alliances": ["numeric": [">", 5]]],
            "match.alliances.numeric: alliances is an array of string and holds no numbers"
        ),
        (["alliances": [5, "a"]], "match.alliances[0]: expected a string, got a number"),
        (["health": "50"], "match.health: expected an integer, got a string"),
        (["health": ["prefix": "5"]], "match.health.prefix: health is int and holds no text"),
        (
            ["health": ["anything-but": ["prefix": "5"]]],
            "match.health.anything-but.prefix: health is int and holds no text"
        ),
        (["ratio": ["wildcard": "*"]], "match.ratio.wildcard: ratio is double and holds no text"),
        (["premium": 1], "match.premium: expected a boolean, got a number"),
        (
            ["premium": ["equals-ignore-case": "true"]],
            "match.premium.equals-ignore-case: premium is bool and holds no text"
        ),
        (["league": ["nfl", "nhl"]], "match.league[1]: expected one of nfl, nba, mlb"),
        (
            ["kickoff": "tomorrow"],
            "match.kickoff: expected an RFC 3339 date with an offset, "
                + "got a string that is not of the form 2026-11-21T18:00:00Z"
        ),
        (["kickoff": 5], "match.kickoff: expected a date (an RFC 3339 string with an offset), got a number"),
        (["kickoff": ["suffix": "Z"]], "match.kickoff.suffix: kickoff is date and holds no text"),
        (["venue": ["city": 5]], "match.venue.city: expected a string, got a number"),
        (["$tags": 5], "match.$tags: expected a string, got a number"),
        (["$host": true], "match.$host: expected a string, got a boolean"),
        (
            ["$family": "small"],
            "match.$family: expected one of systemSmall, systemMedium, systemLarge, systemExtraLarge, "
                + "systemExtraLargePortrait, accessoryCircular, accessoryCorner, accessoryRectangular and 1 more"
        ),
    ]

    @Test(arguments: unfit)
    func `what the kind can never match is refused with its place`(json: JSONValue, description: String) throws {
        #expect(Self.checkFault(json, [try .sample()], WidgetKind("scores")) == description)
    }

    static let fit: [JSONValue] = [
        [:], ["team": nil], ["team": ["x", nil, ["exists": false]]], ["health": [1, 1.5]], ["ratio": 1],
        ["league": ["prefix": "n"]], ["kickoff": ["anything-but": ["2026-11-21T18:00:00Z", nil]]],
        ["dates": "2026-11-21T18:00:00Z"], ["$family": ["prefix": "accessory"]], ["$host": ["wildcard": "h*"]],
        ["$tags": ["anything-but": "x"]], ["venue": ["$or": [["city": "x"], ["seats": 5]]]],
    ]

    @Test(arguments: fit)
    func `what the kind can match is accepted`(json: JSONValue) throws {
        #expect(Self.checkFault(json, [try .sample()], WidgetKind("scores")) == nil)
    }

    @Test func `without a kind, some kind must have the parameter with a fitting type`() throws {
        let schemas = try [
            KindSchema(kind: WidgetKind("a"), parameters: [ParameterSchema("x", .int), ParameterSchema("y", .string)]),
            KindSchema(
                kind: WidgetKind("b"),
                parameters: [ParameterSchema("x", .string), ParameterSchema("z", .bool)]
            ),
        ]
        #expect(Self.checkFault(["x": 1, "z": true], schemas, nil) == nil)
        #expect(Self.checkFault(["x": [1, "one"]], schemas, nil) == nil)
        #expect(Self.checkFault(["x": true], schemas, nil) == "match.x: expected an integer, got a boolean")
        #expect(Self.checkFault(["w": 1], schemas, nil) == "match.w: the app has no such parameter")
        #expect(
            Self.checkFault(["z": true], schemas, WidgetKind("a"))
                == "match.z: kind a has no such parameter; it has x, y"
        )
        #expect(Self.checkFault([:], schemas, WidgetKind("c")) == "match: the app has no kind c")
    }

    @Test func `each limit holds at its value and not one above`() {
        let limits = PatternLimits(depthMax: 3, atomsMax: 4, listMax: 3, stringBytesMax: 4, starsMax: 2)
        #expect(Self.parseFault(["a": ["b": ["c": 1]]], limits) == nil)
        #expect(
            Self.parseFault(["a": ["b": ["c": ["d": 1]]]], limits)
                == "match.a.b.c: objects are nested deeper than 3"
        )
        #expect(Self.parseFault(["$or": [["$or": [["a": 1]]]]], limits) == nil)
        #expect(
            Self.parseFault(["$or": [["$or": [["$or": [["a": 1]]]]]]], limits)
                == "match.$or[0].$or[0].$or[0]: objects are nested deeper than 3"
        )
        #expect(Self.parseFault(["a": [1, 2, 3], "b": 4], limits) == nil)
        #expect(
            Self.parseFault(["a": [1, 2, 3], "b": [4, 5]], limits)
                == "match.b[1]: more than 4 conditions in one pattern"
        )
        #expect(
            Self.parseFault(["a": [1, 2], "b": ["anything-but": [1, 2, 3]]], limits)
                == "match.b.anything-but[2]: more than 4 conditions in one pattern"
        )
        #expect(Self.parseFault(["a": [1, 2, 3, 4]], limits) == "match.a: expected at most 3 elements, got 4")
        #expect(
            Self.parseFault(["a": ["anything-but": [1, 2, 3, 4]]], limits)
                == "match.a.anything-but: expected at most 3 elements, got 4"
        )
        #expect(
            Self.parseFault(["$or": [["a": 1], ["a": 1], ["a": 1], ["a": 1]]], limits)
                == "match.$or: expected at most 3 elements, got 4"
        )
        #expect(Self.parseFault(["a": "éab"], limits) == nil)
        #expect(Self.parseFault(["a": "éabc"], limits) == "match.a: expected at most 4 bytes, got a string of 5")
        #expect(
            Self.parseFault(["a": ["prefix": "abcde"]], limits)
                == "match.a.prefix: expected at most 4 bytes, got a string of 5"
        )
        #expect(Self.parseFault(["a": ["wildcard": "*a*"]], limits) == nil)
        #expect(
            Self.parseFault(["a": ["wildcard": "***"]], limits) == "match.a.wildcard: expected at most 2 stars, got 3"
        )
        let name = String(repeating: "n", count: KindSchema.nameBytesMax)
        #expect(Self.parseFault(.object([JSONValue.Member(name: name, value: 1)])) == nil)
        #expect(Self.parseFault(.object([JSONValue.Member(name: name + "n", value: 1)])) != nil)
    }

    @Test func `the deepest pattern that any limits allow reads back from its bytes`() throws {
        var json: JSONValue = ["a": 1, "b": 2]
        for _ in 1..<24 { json = ["$or": [json], "c": 1] }
        let pattern = try MatchPattern.parse(json, limits: PatternLimits(depthMax: 100))
        var writer = ByteWriter()
        pattern.encode(into: &writer)
        var reader = ByteReader(writer.bytes)
        #expect(try MatchPattern(from: &reader) == pattern)
        let deeper: JSONValue = ["$or": [json]]
        #expect(throws: PatternError.self) { try MatchPattern.parse(deeper, limits: PatternLimits(depthMax: 100)) }
    }

    static func parseFault(_ json: JSONValue, _ limits: PatternLimits = PatternLimits()) -> String? {
        do throws(PatternError) {
            _ = try MatchPattern.parse(json, limits: limits)
            return nil
        } catch {
            return error.description
        }
    }

    static func checkFault(_ json: JSONValue, _ schemas: [KindSchema], _ kind: WidgetKind?) -> String? {
        do throws(PatternError) {
            try MatchPattern.parse(json).check(against: schemas, kind: kind)
            return nil
        } catch {
            return error.description
        }
    }
}
