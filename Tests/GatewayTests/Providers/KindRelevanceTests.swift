import HostAPI
import IntentMatching
import Testing
import Timelines
import WidgetModel

@Suite struct KindRelevanceTests {
    private static let schema = Sports.schema(
        "scores",
        [
            ParameterSchema("league", .string, defaultValue: .string("nfl")),
            ParameterSchema("team", .string, isRequired: true),
        ]
    )

    private static func read(_ text: String) throws -> KindRelevance { KindRelevance(try json(text), Self.schema) }

    private static let rams = Configuration([
        Configuration.Parameter(name: "league", value: .string("nfl")),
        Configuration.Parameter(name: "team", value: .string("rams")),
    ])

    @Test func `an attribute has a configuration, defaults filled in, and dates that may be missing`() throws {
        let text = #"""
            [{"configuration":{"team":"rams"},"from":"2026-11-02T17:00:00Z","to":"2026-11-02T18:00:00Z"},
             {"configuration":{"team":"rams","league":"nfl"},"from":"2026-11-02T17:00:00Z"},
             {"configuration":{"team":"rams"},"to":"2026-11-02T18:00:00Z","group":"games"},
             {"configuration":{"team":"rams","league":null}}]
            """#
        let relevance = try Self.read(text)
        #expect(relevance.leftOut == 0)
        let (from, until) = (Sports.start, Sports.start + .hours(1))
        #expect(
            relevance.relevances == [
                Suggestions.Relevance(Self.rams, from: from, until: until),
                Suggestions.Relevance(Self.rams, from: from), Suggestions.Relevance(Self.rams, until: until),
                Suggestions.Relevance(Self.rams),
            ]
        )
    }

    @Test func `what depends on something else than the date is not known here`() throws {
        let text = #"""
            [{"configuration":{"team":"rams"},"context":"sleep"},
             {"configuration":{"team":"rams"},"context":{"location":"home"},"from":"2026-11-02T17:00:00Z"}]
            """#
        #expect(try Self.read(text) == Self.read("[]"))
    }

    @Test(
        arguments: [
            #"{"team":"rams"}"#, #"{"configuration":{}}"#, #"{"configuration":{"team":5}}"#,
            #"{"configuration":{"team":"rams","colour":"blue"}}"#, #"{"configuration":"rams"}"#, "5", "null", "[]",
            #"{"configuration":{"team":"rams"},"from":"noon"}"#, #"{"configuration":{"team":"rams"},"to":5}"#,
            #"{"configuration":{"team":"rams"},"from":"2026-11-02T17:00:00Z","to":"2026-11-02T17:00:00Z"}"#,
            #"{"configuration":{"team":"rams"},"from":null}"#, #"{"configuration":{"team":"rams"},"context":null}"#,
        ]
    )
    func `what is no attribute is left out and counted, the others stay`(text: String) throws {
        let relevance = try Self.read("[\(text),\(#"{"configuration":{"team":"rams"}}"#)]")
        #expect(relevance.relevances == [Suggestions.Relevance(Self.rams)])
        #expect(relevance.leftOut == 1)
    }

    @Test func `what is no list has nothing in it, and of one that is too long the first count`() throws {
        #expect(try Self.read("5").leftOut == 1)
        let one = try json(#"{"configuration":{"team":"rams"}}"#)
        let many = KindRelevance(
            .array(Array(repeating: one, count: KindRelevance.attributesMax + 3)),
            Self.schema
        )
        #expect(many.relevances.count == KindRelevance.attributesMax)
        #expect(many.leftOut == 3)
    }

    @Test func `descriptions are those of the recommendations, the first of several`() throws {
        let text = #"""
            [{"configuration":{"team":"rams"},"description":"Rams"},{"configuration":{"team":"bears"}},5,
             {"configuration":{"team":"rams","league":"nfl"},"description":"again"},
             {"configuration":{"team":7},"description":"none"}]
            """#
        #expect(KindRelevance.descriptions(try json(text), Self.schema) == [Self.rams: "Rams"])
        #expect(KindRelevance.descriptions(.null, Self.schema) == [:])
    }
}
