import Engine
import TestSupport
import Testing
import Timelines
import WidgetModel

/// Limits of timelines are settings of the log: which timelines are taken, and the findings, follow from it alone.
@Suite struct TimelineLimitTests {
    private static let small: EngineLimits = {
        var limits = EngineLimits()
        limits.timelines.entriesMax = 3
        limits.timelines.entriesAdvised = 2
        limits.timelines.digestBytesMax = 71
        limits.timelines.contentBytesAdvised = 10
        return limits
    }()

    private static func report(entries: Int, digest: Int? = nil, contentBytes: Int? = nil) -> Record {
        .timeline(
            TimelineReport(
                host: HostKey("phone"),
                instance: InstanceID("w1"),
                timeline: Timeline(
                    entries: (0..<entries).map { TimelineEntry(date: Scene.start + .hours(Int64($0) + 1)) },
                    policy: .atEnd,
                    digest: digest.map { Array(repeating: UInt8(ascii: "d"), count: $0) }
                ),
                contentBytes: contentBytes
            )
        )
    }

    private static func scene(_ limits: EngineLimits) -> Scene {
        var scene = Scene(settings: Scene.settings(limits: limits))
        scene.settle("phone", [Scene.scores("w1", team: "seahawks")])
        return scene
    }

    /// The answer to a report: the codes of its findings, or its refusal.
    private static func answer(_ scene: inout Scene, _ record: Record) -> [String] {
        switch scene.apply(record) {
        case .timeline(let findings): findings.map(\.code)
        case .timelineRefused(let fault): ["\(fault)"]
        case let other: ["\(other)"]
        }
    }

    @Test(
        arguments: [
            (report(entries: 2, digest: 71, contentBytes: 10), []),
            (report(entries: 3), ["manyEntries"]),
            (report(entries: 4), ["a timeline of 4 entries is over the limit of 3"]),
            (report(entries: 2, digest: 70), []),
            (report(entries: 2, digest: 72), ["a digest has 1 to 71 bytes, not 72"]),
            (report(entries: 2, contentBytes: 9), []),
            (report(entries: 2, contentBytes: 11), ["manyBytes"]),
        ] as [(Record, [String])]
    )
    func `a timeline is judged by the limits of the log's settings, below, at and above each`(
        record: Record,
        answer: [String]
    ) {
        var (strict, usual) = (Self.scene(Self.small), Self.scene(EngineLimits()))
        #expect(Self.answer(&strict, record) == answer)
        #expect(Self.answer(&usual, record) == [])
    }

    @Test(arguments: [(2000, true), (2001, false)])
    func `where the log says nothing of timelines, the limits are those that there always were`(
        entries: Int,
        isTaken: Bool
    ) {
        var scene = Self.scene(EngineLimits())
        let answer = Self.answer(&scene, Self.report(entries: entries))
        #expect(answer == (isTaken ? ["manyEntries"] : ["a timeline of 2001 entries is over the limit of 2000"]))
    }

    @Test func `other settings judge what comes then, and leave what there is`() {
        var scene = Self.scene(EngineLimits())
        #expect(Self.answer(&scene, Self.report(entries: 4)) == [])
        scene.apply(.settings(Scene.settings(limits: Self.small)))
        #expect(scene.instance("phone", "w1")?.timeline?.entries == 4)
        #expect(Self.answer(&scene, Self.report(entries: 4)).count == 1)
        #expect(scene.instance("phone", "w1")?.timeline?.entries == 4)
    }

    @Test func `limits read back as they were written, and the usual ones as they were before there were others`()
        throws
    {
        for limits in [EngineLimits(), Self.small, EngineLimits(instancesPerHostMax: 0)] {
            var writer = ByteWriter(reserving: 64)
            limits.encode(into: &writer)
            var reader = ByteReader(writer.bytes)
            #expect(try EngineLimits(from: &reader) == limits)
            #expect(reader.isAtEnd)
            for count in writer.bytes.indices {
                var short = ByteReader(Array(writer.bytes.prefix(count)))
                #expect(throws: ByteError.self) { try EngineLimits(from: &short) }
            }
        }
        var (usual, before) = (ByteWriter(reserving: 64), ByteWriter(reserving: 64))
        EngineLimits().encode(into: &usual)
        for count in [256, 8, 16, 1000, 1_000_000] { before.write(count: count) }
        before.write(Interval.hours(48))
        for count in [1_000_000, 1_000_000] { before.write(count: count) }
        before.write(Interval.hours(24))
        before.write(Interval.days(30))
        #expect(usual.bytes == before.bytes)
    }
}
