import IntentMatching
import Testing
import WidgetModel

@Suite struct KindSchemaTests {
    @Test func `every type is read, and defaults are filled in`() throws {
        let schema = try KindSchema.sample()
        let configuration = try schema.configuration(from: [
            "team": "seahawks", "alliances": ["a", "b"], "ratio": 3, "premium": true,
            "kickoff": "2026-11-21T18:00:00+01:00", "dates": ["1970-01-01T00:00:01Z"],
            "venue": ["city": "Seattle", "seats": 72000.0], "title": nil,
        ])
        #expect(
            configuration
                == Configuration([
                    "alliances": .array([.string("a"), .string("b")]),
                    "dates": .array([.date(Instant(seconds: 1))]),
                    "health": .int(100),
                    "kickoff": .date(Instant(seconds: 1_795_280_400)),
                    "league": .string("nfl"),
                    "premium": .bool(true),
                    "ratio": .double(3),
                    "team": .string("seahawks"),
                    "venue.city": .string("Seattle"),
                    "venue.seats": .int(72000),
                ])
        )
        #expect(schema.accepts(configuration))
    }

    /// The configuration of Apple's "AppIntentTimelineProvider": a character with its avatar, alliances and health.
    @Test func `what the user left as it was has the defaults of the intent`() throws {
        let schema = try KindSchema(
            kind: WidgetKind("character"),
            parameters: [
                ParameterSchema("name", .string),
                ParameterSchema("avatar", .string, defaultValue: .string("Player 1")),
                ParameterSchema("alliances", .string, isArray: true, defaultValue: .array([])),
                ParameterSchema("healthLevel", .double, defaultValue: .double(100)),
            ]
        )
        #expect(
            try schema.configuration(from: ["name": "Spouty"])
                == Configuration([
                    "alliances": .array([]), "avatar": .string("Player 1"), "healthLevel": .double(100),
                    "name": .string("Spouty"),
                ])
        )
        #expect(
            try schema.configuration(from: ["name": "Spouty", "alliances": ["whales"], "healthLevel": 25])
                == Configuration([
                    "alliances": .array([.string("whales")]), "avatar": .string("Player 1"),
                    "healthLevel": .double(25), "name": .string("Spouty"),
                ])
        )
    }

    @Test func `a nested parameter may come by its dotted name, but not twice`() throws {
        let schema = try KindSchema.sample()
        let dotted = try schema.configuration(from: ["team": "x", "venue.city": "Seattle"])
        #expect(dotted == (try schema.configuration(from: ["team": "x", "venue": ["city": "Seattle"]])))
        let twice: JSONValue = ["team": "x", "venue": ["city": "Seattle"], "venue.city": "Seattle"]
        #expect(Self.fault(schema, twice) == "configuration.venue.city: the parameter is given twice")
    }

    @Test func `no configuration is an empty one`() throws {
        let schema = try KindSchema(kind: WidgetKind("clock"), parameters: [ParameterSchema("zone", .string)])
        #expect(try schema.configuration(from: nil) == .empty)
        #expect(try schema.configuration(from: JSONValue.null) == .empty)
        #expect(try schema.configuration(from: [:]) == .empty)
        #expect(try schema.configuration(from: ["zone": nil]) == .empty)
    }

    static let faults: [(JSONValue, String)] = [
        (["a"], "configuration: expected an object, got an array"),
        (
            [:],
            "configuration.team: the parameter is required; expected an entity id (a string), got nothing"
        ),
        (["team": nil], "configuration.team: the parameter is required; expected an entity id (a string), got nothing"),
        (["team": 5], "configuration.team: expected an entity id (a string), got an integer"),
        (["team": ["x"]], "configuration.team: expected an entity id (a string), got an array"),
        (
            ["league": "nhl"],
            "configuration.league: expected one of nfl, nba, mlb, got another string"
        ),
        (["league": 1], "configuration.league: expected the name of a case (a string), got an integer"),
        (["alliances": "a"], "configuration.alliances: expected an array, each element a string, got a string"),
        (["alliances": ["a", 5]], "configuration.alliances[1]: expected a string, got an integer"),
        (["alliances": ["a", nil]], "configuration.alliances[1]: expected a string, got null"),
        (["alliances": [["a"]]], "configuration.alliances[0]: expected a string, got an array"),
        (["health": "5"], "configuration.health: expected an integer, got a string"),
        (["health": 5.5], "configuration.health: expected an integer, got a number that is not one"),
        (["health": 1e300], "configuration.health: expected an integer, got a number that is not one"),
        (
            ["health": 9_007_199_254_740_994.0],
            "configuration.health: expected an integer, got a number that is not one"
        ),
        (
            ["health": .unsigned(1 << 63)],
            "configuration.health: expected an integer of 64 bits with sign, got a larger one"
        ),
        (
            ["ratio": 9_007_199_254_740_993],
            "configuration.ratio: expected a number, got an integer that a double does not hold exactly"
        ),
        (
            ["ratio": .unsigned(.max)],
            "configuration.ratio: expected a number, got an integer that a double does not hold exactly"
        ),
        (["ratio": .double(.infinity)], "configuration.ratio: expected a number, got a number"),
        (["premium": 1], "configuration.premium: expected a boolean, got an integer"),
        (
            ["kickoff": "tomorrow"],
            "configuration.kickoff: expected an RFC 3339 date with an offset, "
                + "got a string that is not of the form 2026-11-21T18:00:00Z"
        ),
        (
            ["dates": ["2026-11-21T18:00:00Z", "2026-11-21T18:00:00"]],
            "configuration.dates[1]: expected an RFC 3339 date with an offset, "
                + "got a string that has no offset from UTC (Z or +01:00)"
        ),
        (
            ["kickoff": 5],
            "configuration.kickoff: expected a date (an RFC 3339 string with an offset), got an integer"
        ),
        (["venue": "Seattle"], "configuration.venue: expected an object, got a string"),
        (["venue": ["city": 5]], "configuration.venue.city: expected a string, got an integer"),
        (
            ["venue": ["town": "x"]],
            "configuration.venue.town: kind scores has no such parameter; it has alliances, dates, health, kickoff, "
                + "league, premium, ratio, team, title, venue.city, venue.seats"
        ),
        (
            ["tea\u{301}m": "x"],
            "configuration.tea\u{301}m: kind scores has no such parameter; it has alliances, dates, health, kickoff, "
                + "league, premium, ratio, team, title, venue.city, venue.seats"
        ),
    ]

    @Test(arguments: faults)
    func `what does not fit is refused with its path`(json: JSONValue, description: String) throws {
        #expect(Self.fault(try KindSchema.sample(), json) == description)
    }

    @Test func `each limit holds at its value and not one above`() throws {
        let schema = try KindSchema(
            kind: WidgetKind("k"),
            parameters: [
                ParameterSchema("a", .string), ParameterSchema("b", .string), ParameterSchema("c", .string),
                ParameterSchema("list", .string, isArray: true),
            ]
        )
        var limits = ConfigurationLimits()
        (limits.parametersMax, limits.stringBytesMax) = (2, 3)
        (limits.arrayElementsMax, limits.totalBytesMax) = (2, 5)
        #expect(Self.fault(schema, ["a": "x", "b": "y"], limits) == nil)
        #expect(
            Self.fault(schema, ["a": "x", "b": "y", "c": "z"], limits)
                == "configuration.c: more than 2 parameters in one configuration"
        )
        #expect(Self.fault(schema, ["a": "éx"], limits) == nil)
        #expect(
            Self.fault(schema, ["a": "éxy"], limits) == "configuration.a: expected at most 3 bytes, got a string of 4"
        )
        #expect(Self.fault(schema, ["list": ["x", "y"]], limits) == nil)
        #expect(
            Self.fault(schema, ["list": ["x", "y", "z"]], limits)
                == "configuration.list: expected at most 2 elements, got 3"
        )
        #expect(Self.fault(schema, ["a": "xyz", "b": "xy"], limits) == nil)
        #expect(
            Self.fault(schema, ["a": "xyz", "b": "xyz"], limits)
                == "configuration.b: the strings of one configuration take more than 5 bytes"
        )
        limits.parametersMax = 3
        #expect(Self.fault(schema, ["a": "x", "b": "y", "c": "z"], limits) == nil)
    }

    static let refused: [([ParameterSchema], String)] = [
        ([ParameterSchema("", .int)], "parameter  of kind k has a name with an empty part"),
        ([ParameterSchema("a..b", .int)], "parameter a..b of kind k has a name with an empty part"),
        ([ParameterSchema("$a", .int)], "parameter $a of kind k has a name with a part that starts with $"),
        (
            [ParameterSchema("a.prefix", .int)],
            "parameter a.prefix of kind k has a name with the part prefix, which is an operator of match patterns"
        ),
        ([ParameterSchema("a", .int), ParameterSchema("a", .bool)], "parameter a of kind k is declared twice"),
        (
            [ParameterSchema("\u{E9}", .int), ParameterSchema("e\u{301}", .int)],
            "parameter e\u{301} of kind k is declared twice"
        ),
        (
            [ParameterSchema("a", .int), ParameterSchema("a.b", .int)],
            "parameter a.b of kind k is inside a, which is itself a parameter"
        ),
        (
            [ParameterSchema("a", .int), ParameterSchema("a.\u{301}b", .int)],
            "parameter a.\u{301}b of kind k is inside a, which is itself a parameter"
        ),
        ([ParameterSchema("a", .enumeration)], "parameter a of kind k is an enumeration without cases"),
        ([ParameterSchema("a", .enumeration, cases: ["x", "x"])], "parameter a of kind k lists a case twice"),
        ([ParameterSchema("a", .int, cases: ["x"])], "parameter a of kind k lists cases but is not an enumeration"),
        (
            [ParameterSchema("a", .int, defaultValue: .string("x"))],
            "parameter a of kind k has a default that is not an integer"
        ),
        (
            [ParameterSchema("a", .int, isArray: true, defaultValue: .int(1))],
            "parameter a of kind k has a default that is not an array of int"
        ),
        (
            [ParameterSchema("a", .enumeration, defaultValue: .string("y"), cases: ["x"])],
            "parameter a of kind k has a default that is not the name of a case (a string)"
        ),
    ]

    @Test(arguments: refused)
    func `a kind that cannot be is refused with the parameter's name`(parameters: [ParameterSchema], text: String) {
        let fault = #expect(throws: SchemaError.self) { try KindSchema(kind: WidgetKind("k"), parameters: parameters) }
        #expect(fault?.description == text)
    }

    @Test func `bytes read back as the schema they were, and every truncation is told`() throws {
        let schema = try KindSchema.sample()
        var writer = ByteWriter()
        schema.encode(into: &writer)
        var reader = ByteReader(writer.bytes)
        #expect(try KindSchema(from: &reader) == schema)
        #expect(reader.isAtEnd)
        for count in 0..<writer.bytes.count {
            var short = ByteReader(Array(writer.bytes[..<count]))
            #expect(throws: ByteError.self) { try KindSchema(from: &short) }
        }
    }

    @Test func `an older configuration is accepted while it still fits`() throws {
        let schema = try KindSchema.sample()
        #expect(schema.accepts(Configuration(["team": .string("x")])))
        #expect(!schema.accepts(.empty))
        #expect(!schema.accepts(Configuration(["team": .int(5)])))
        #expect(!schema.accepts(Configuration(["team": .string("x"), "gone": .int(5)])))
        #expect(!schema.accepts(Configuration(["team": .string("x"), "league": .string("nhl")])))
        #expect(!schema.accepts(Configuration(["team": .string("x"), "alliances": .string("a")])))
    }

    @Test func `an older configuration is filled with the defaults of younger parameters`() throws {
        let schema = try KindSchema.sample()
        let full = Configuration(["health": .int(100), "league": .string("nfl"), "team": .string("x")])
        #expect(schema.filled(Configuration(["team": .string("x")])) == full)
        #expect(schema.filled(full) == full)
        let other = Configuration(["gone": .bool(true), "health": .int(1), "league": .string("nba")])
        #expect(schema.filled(other) == other)
    }

    static func fault(_ schema: KindSchema, _ json: JSONValue, _ limits: ConfigurationLimits = .init()) -> String? {
        do throws(ConfigurationError) {
            _ = try schema.configuration(from: json, limits: limits)
            return nil
        } catch {
            return error.description
        }
    }
}
