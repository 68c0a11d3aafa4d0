import Delivery
import Engine
import HTTPTransport
import Serving
import Settings
import Testing
import TimelineProviding
import Timelines
import WidgetModel

/// `limits`: how large a timeline may be that a host reports or a provider makes.
@Suite struct TimelineLimitTests {
    private static let small: TimelineLimits = {
        var limits = TimelineLimits()
        limits.entriesMax = 2
        limits.digestBytesMax = 71
        return limits
    }()

    private static func timeline(entries: Int, digest: Int, _ content: String = "") -> String {
        let list = Array(repeating: #"{"date":"2026-11-02T17:00:00Z"\#(content)}"#, count: entries)
        return #""entries":[\#(list.joined(separator: ","))],"digest":"\#(String(repeating: "d", count: digest))""#
    }

    private static let cases: [(entries: Int, digest: Int, path: String?)] = [
        (1, 70, nil), (2, 71, nil), (3, 71, "entries"), (2, 72, "digest"),
    ]

    @Test(arguments: cases)
    func `of a host, what is over a limit is refused with its place`(entries: Int, digest: Int, path: String?)
        async throws
    {
        var limits = HostRouteLimits()
        limits.timelines = Self.small
        let scene = try await RouteScene(limits)
        try await scene.register("phone")
        let phone = Sports.token("phone")
        let target = RouteScene.path(phone, "widgets/a/timeline")
        let body = "{\(Self.timeline(entries: entries, digest: digest))}"
        let answer = try await scene.send("PUT", target, try scene.key.hostCredential(phone), body)
        #expect(answer.place == (path.map { ["400", "bad-timeline", $0] } ?? ["200"]), "\(answer.body)")
    }

    @Test(arguments: cases)
    func `of a provider, what is over a limit is not shown, counted, and asked for again`(
        entries: Int,
        digest: Int,
        path: String?
    ) async throws {
        let world = try ProviderScene(try await OwnerScene.started())
        world.providers.replace(timelineLimits: Self.small)
        let timeline = Self.timeline(entries: entries, digest: digest, #","content":1"#)
        world.reply { question in
            guard case .array(let requests)? = question["requests"], case .string(let id)? = requests.first?["id"]
            else { return ProviderScene.response(400, "") }
            return ProviderScene.response(200, #"{"answers":[{"id":"\#(id)","timeline":{\#(timeline)}}]}"#)
        }
        try await world.add("a")
        if let path {
            try await world.eventually("it is refused") { await world.fetcher.view.timelinesRefused == 1 }
            #expect(await world.fetcher.view.lastFault?.text.hasPrefix("answers[0].timeline.\(path): ") == true)
            try await world.eventually("it waits") { await world.fetcher.view.counters.retries == 1 }
            #expect(world.shown == [])
        } else {
            try await world.eventually("it is shown") { world.shown == ["a:a0 1"] }
            #expect(await world.fetcher.view.timelinesRefused == 0)
        }
    }

    private static func limits(_ section: String) throws -> TimelineLimits {
        try ConfigurationFile.parse(
            """
            \(section)
            listeners: {push: {enabled: false}, host: {enabled: false}}
            teams: [{id: ABCDE12345, keys: []}]
            apps: [{bundleID: com.example.scores, team: ABCDE12345, kinds: [{kind: scores}]}]
            """
        ).configuration.limits.engine.timelines
    }

    @Test func `they are what the configuration says, in the settings that are logged`() throws {
        #expect(try Self.limits("") == TimelineLimits())
        var limits = TimelineLimits()
        limits.entriesMax = 100_000
        limits.entriesAdvised = 1
        limits.digestBytesMax = 1024
        limits.contentBytesAdvised = 65_536
        let section =
            "limits: {maxTimelineEntries: 100000, advisedTimelineEntries: 1, maxDigestBytes: 1KiB, advisedContentBytes: 64KiB}"
        #expect(try Self.limits(section) == limits)
    }

    @Test(
        arguments: [
            ("maxTimelineEntries", "0"), ("maxTimelineEntries", "100001"), ("advisedTimelineEntries", "0"),
            ("advisedTimelineEntries", "100001"), ("maxDigestBytes", "70"), ("maxDigestBytes", "1025"),
            ("advisedContentBytes", "0"), ("advisedContentBytes", "2147483649"),
        ]
    )
    func `what lies outside their bounds is a fault of its key`(key: String, value: String) throws {
        let faults = try #require(throws: SettingsError.self) { try Self.limits("limits: {\(key): \(value)}") }
        #expect(faults.faults.map(\.path) == ["limits.\(key)"])
    }
}
