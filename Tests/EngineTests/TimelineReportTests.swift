import Engine
import TestSupport
import Testing
import Timelines
import WidgetModel

/// Reports of timelines: their parts in the log, and the findings about the size of their content.
@Suite struct TimelineReportTests {
    private static let timeline = Timeline(
        entries: [TimelineEntry(date: Scene.start)],
        policy: .after(Scene.start + .hours(2))
    )

    private static func report(reload: ReloadID? = nil, contentBytes: Int? = nil) -> TimelineReport {
        TimelineReport(
            host: HostKey("phone"),
            instance: InstanceID("w1"),
            reload: reload,
            timeline: Self.timeline,
            contentBytes: contentBytes
        )
    }

    @Test(arguments: [ReloadID("0-7-0-00000000"), nil], [0, 1, 10_000_001, .max, nil] as [Int?])
    func `a report reads back as it was written, and never from less`(reload: ReloadID?, contentBytes: Int?) throws {
        let report = Self.report(reload: reload, contentBytes: contentBytes)
        let bytes = Record.timeline(report).bytes
        var reader = ByteReader(bytes)
        #expect(try Record(from: &reader) == .timeline(report))
        for count in bytes.indices {
            var short = ByteReader(Array(bytes.prefix(count)))
            #expect(throws: ByteError.self) { try Record(from: &short) }
        }
    }

    @Test func `one without a size is written as it was before there were sizes`() throws {
        var writer = ByteWriter(reserving: 64)
        writer.write("com.example.scores\0phone")
        writer.write("w1")
        writer.write(false)
        Self.timeline.encode(into: &writer)
        #expect(Record.timeline(Self.report()).bytes.dropFirst() == writer.bytes[...])
    }

    @Test func `a byte that says more than what there can be is damage`() throws {
        var bytes = Record.timeline(Self.report()).bytes
        // Behind the tag, the host and the instance.
        #expect(bytes[1 + 25 + 3] == 0)
        bytes[1 + 25 + 3] = 4
        var reader = ByteReader(bytes)
        #expect(throws: ByteError.self) { try Record(from: &reader) }
    }

    @Test(arguments: [true, false])
    func `a timeline that says never is a finding where no push reaches the widget`(pushEnabled: Bool) {
        var scene = Scene()
        scene.settle("phone", [Scene.scores("w1", team: "seahawks", pushEnabled: pushEnabled)])
        let timeline = Timeline(entries: [TimelineEntry(date: scene.now)], policy: .never)
        scene.apply(
            .timeline(TimelineReport(host: HostKey("phone"), instance: InstanceID("w1"), timeline: timeline))
        )
        #expect(scene.instance("phone", "w1")?.timeline?.findings == (pushEnabled ? [] : [.neverReloaded]))
    }

    @Test(arguments: [(nil, false), (9_999_999, false), (10_000_000, false), (10_000_001, true)] as [(Int?, Bool)])
    func `more content than devices keep is found, where its size is known`(bytes: Int?, isFound: Bool) {
        var scene = ReloadTests.phone()
        scene.apply(.timeline(Self.report(contentBytes: bytes)))
        let findings = scene.instance("phone", "w1")?.timeline?.findings ?? []
        let expected = bytes.map { TimelineFinding.manyBytes(bytes: $0, advised: 10_000_000) }
        #expect(findings.filter { $0.code == "manyBytes" } == (isFound ? [expected].compactMap { $0 } : []))
    }

    @Test func `a timeline that names no reload is a finding while one is out that it could be of`() throws {
        var scene = Scene()
        scene.register("phone", [Scene.scores("w1", team: "seahawks"), Scene.scores("w2", team: "rams")])
        func findings() -> [TimelineFinding] {
            (scene.instance("phone", "w1")?.timeline?.findings ?? []).filter { $0.code == "unnamedReload" }
        }
        let id = try #require(scene.issued.first { $0.instance == InstanceID("w1") }?.id)
        scene.apply(.timeline(Self.report()))
        #expect(findings() == [.unnamedReload(outstanding: 1)])
        scene.apply(.timeline(Self.report(reload: id)))
        #expect(findings() == [])
        // The reloads that it does by itself then are its own.
        scene.apply(.timeline(Self.report()))
        #expect(findings() == [])
    }

    @Test func `who is reached through a token is told no reload, and names none`() {
        var scene = Scene()
        scene.settle("phone", delivery: .apns, [Scene.scores("w1", team: "seahawks")])
        scene.push(to: "phone")
        #expect(scene.instance("phone", "w1")?.outstanding.count == 1)
        scene.apply(.timeline(Self.report()))
        #expect(scene.instance("phone", "w1")?.timeline?.findings.contains { $0.code == "unnamedReload" } == false)
    }
}
