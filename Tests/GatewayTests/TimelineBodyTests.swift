import Engine
import Partitions
import Serving
import Testing
import Timelines
import WidgetModel

@Suite struct TimelineBodyTests {
    private static func read(_ text: String, _ limits: TimelineLimits = TimelineLimits()) throws
        -> (TimelineBody?, Problem?)
    {
        var object = try RequestObject(try json(text))
        do throws(Problem) {
            return (try TimelineBody(&object, limits: limits), nil)
        } catch {
            return (nil, error)
        }
    }

    private static func entry(_ members: String) -> String {
        #"{"entries":[{"date":"2026-11-02T17:00:00Z"\#(members)}]}"#
    }

    @Test func `everything that may be said is read`() throws {
        let body = try #require(
            try Self.read(
                #"""
                {"reload":"0-42-7-000000ab","digest":"sha256:ab","policy":{"after":"2026-11-02T18:00:00+01:00"},
                "entries":[{"date":"2026-11-02T17:00:00Z","relevance":{"score":10,"duration":1.5}},
                {"date":"2026-11-02T18:00:00.250Z"},{"date":"2026-11-02T19:00:00Z","relevance":{"score":-1}}]}
                """#
            ).0
        )
        #expect(body.reload == ReloadID("0-42-7-000000ab"))
        #expect(
            body.timeline
                == Timeline(
                    entries: [
                        TimelineEntry(
                            date: Sports.start,
                            relevance: EntryRelevance(score: 10, duration: .milliseconds(1500))
                        ),
                        TimelineEntry(date: Sports.start + .milliseconds(3_600_250), relevance: nil),
                        TimelineEntry(
                            date: Sports.start + .hours(2),
                            relevance: EntryRelevance(score: -1, duration: .zero)
                        ),
                    ],
                    policy: .after(Sports.start),
                    digest: Array("sha256:ab".utf8)
                )
        )
    }

    @Test(
        arguments: [
            ("{}", .atEnd), (#"{"policy":"atEnd"}"#, .atEnd), (#"{"policy":"never"}"#, .never),
            (#"{"policy":{"after":"2026-11-02T17:00:00Z"}}"#, .after(Sports.start)),
        ] as [(String, ReloadPolicy)]
    )
    func `the policy is one of three, and atEnd where none is named`(text: String, policy: ReloadPolicy) throws {
        #expect(try Self.read(text).0?.timeline == Timeline(entries: [], policy: policy))
    }

    @Test(
        arguments: [
            (#"{"reload":"nonsense"}"#, Place(.unknownReload, "reload")),
            (#"{"reload":7}"#, Place(.badRequest, "reload")),
            (#"{"entries":{}}"#, Place(.badRequest, "entries")),
            (#"{"entries":["x"]}"#, Place(.badRequest, "entries[0]")),
            (#"{"entries":[{}]}"#, Place(.badRequest, "entries[0].date")),
            (#"{"entries":[{"date":"tomorrow"}]}"#, Place(.badRequest, "entries[0].date")),
            (#"{"entries":[{"date":"2026-11-02T17:00:00"}]}"#, Place(.badRequest, "entries[0].date")),
            (Self.entry(#","text":"x""#), Place(.badRequest, "entries[0].text")),
            (Self.entry(#","relevance":3"#), Place(.badRequest, "entries[0].relevance")),
            (Self.entry(#","relevance":{}"#), Place(.badRequest, "entries[0].relevance.score")),
            (Self.entry(#","relevance":{"score":"1"}"#), Place(.badRequest, "entries[0].relevance.score")),
            (
                Self.entry(#","relevance":{"score":1,"duration":-0.5}"#),
                Place(.badRequest, "entries[0].relevance.duration")
            ),
            (
                Self.entry(#","relevance":{"score":1,"duration":31622401}"#),
                Place(.badRequest, "entries[0].relevance.duration")
            ),
            (Self.entry(#","relevance":{"score":1,"weight":1}"#), Place(.badRequest, "entries[0].relevance.weight")),
            (Self.entry(#","relevance":{"score":1e300}"#), Place(.badTimeline, "entries[0].relevance.score")),
            (#"{"policy":"later"}"#, Place(.badRequest, "policy")),
            (Self.entry(#","relevance":null"#), Place(.badRequest, "entries[0].relevance")),
            (#"{"policy":{}}"#, Place(.badRequest, "policy")),
            (#"{"policy":{"after":"soon"}}"#, Place(.badRequest, "policy.after")),
            (#"{"policy":{"after":"2026-11-02T17:00:00Z","before":1}}"#, Place(.badRequest, "policy.before")),
            (#"{"digest":""}"#, Place(.badTimeline, "digest")),
            (#"{"colour":1}"#, Place(.badRequest, "colour")),
            (#"{"contentBytes":-1}"#, Place(.badRequest, "contentBytes")),
            (#"{"contentBytes":1000000000000001}"#, Place(.badRequest, "contentBytes")),
            (#"{"contentBytes":"1"}"#, Place(.badRequest, "contentBytes")),
        ] as [(String, Place)]
    )
    func `a fault names its place`(text: String, place: Place) throws {
        #expect(Place(try Self.read(text).1) == place)
    }

    @Test(arguments: [(1, nil), (2, nil), (3, "entries")] as [(Int, String?)])
    func `entries are counted`(count: Int, path: String?) throws {
        var limits = TimelineLimits()
        limits.entriesMax = 2
        let entries = Array(repeating: #"{"date":"2026-11-02T17:00:00Z"}"#, count: count).joined(separator: ",")
        #expect(try Self.read(#"{"entries":[\#(entries)]}"#, limits).1?.path == path)
    }

    @Test(arguments: [0, 1, 1_000_000_000_000_000])
    func `the size of the content is what the host says`(bytes: Int) throws {
        #expect(try Self.read(#"{"contentBytes":\#(bytes)}"#).0?.contentBytes == bytes)
        #expect(try Self.read("{}").0?.contentBytes == nil)
    }

    @Test(arguments: [(127, nil), (128, nil), (129, "digest")] as [(Int, String?)])
    func `a digest has at most 128 bytes`(count: Int, path: String?) throws {
        #expect(try Self.read(#"{"digest":"\#(String(repeating: "d", count: count))"}"#).1?.path == path)
    }
}
