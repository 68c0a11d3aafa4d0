import TestSupport
import Testing
import WidgetModel

@testable import Engine

/// A plain push is written in two ways: the bytes must not tell which.
@Suite struct PlainPushTests {
    private static let collapseIDs = ["", "x", String(repeating: "c", count: 64)]
    private static let hosts = ["h", String(repeating: "h", count: 127), String(repeating: "h", count: 128)]

    @Test(arguments: Self.hosts, Self.collapseIDs)
    func `the record is the one that is written from its parts`(host: String, collapseID: String) throws {
        for (instance, key) in [(nil, nil), (InstanceID("control"), nil), (nil, KeyID("KEY1234567"))] {
            for (priority, expiration) in [(nil, nil), (Priority.high, Int64(0)), (Priority.low, 1_800_000_000)] {
                let parts = PushRecord(
                    id: PushID(high: 0x0123_4567_89AB_CDEF, low: 0xFEDC_BA98_7654_3210),
                    team: TeamID("TEAM123456"),
                    key: key,
                    contentHash: 0x1122_3344_5566_7788,
                    priority: priority,
                    expiration: expiration,
                    collapseID: collapseID.isEmpty ? nil : CollapseID(bytes: Array(collapseID.utf8)),
                    target: .host(HostKey(host), instance)
                )
                let place = Array((host + (instance?.rawValue ?? "")).utf8)
                let bytes = Array("before\(collapseID)".utf8)
                var writer = ByteWriter()
                PlainPush(
                    id: parts.id,
                    key: key,
                    contentHash: parts.contentHash,
                    priority: priority,
                    expiration: expiration
                ).encode(
                    team: parts.team,
                    app: HostKey(host).app,
                    host: 0..<host.utf8.count,
                    instance: instance.map { _ in host.utf8.count..<place.count },
                    of: place.span,
                    collapseID: 6..<bytes.count,
                    in: bytes.span,
                    into: &writer
                )
                #expect(writer.bytes == Record.push(parts).bytes)
                // Reading ahead takes the flags of a push for one byte.
                #expect(writer.bytes[PushHead.Offset.flags] < 0x80)
            }
        }
    }

    @Test func `looking ahead changes nothing and reads nothing beyond a record`() {
        var scene = Scene()
        scene.settle("phone", [Scene.scores("a", team: "nfl"), Scene.scores("b", team: "nfl")])
        scene.push(to: "phone", .normal)
        scene.push(to: "phone", .normal)
        var engine = scene.engine.duplicate()
        for host in ["phone", "nobody", ""] {
            let push = Record.push(scene.makePush(to: host)).bytes
            for end in 0...push.count { engine.prefetch(Array(push[..<end]), in: 0..<end) }
            for index in push.indices {
                var damaged = push
                damaged[index] = 0xFF
                engine.prefetch(damaged, in: 0..<damaged.count)
            }
            engine.finishPrefetch()
        }
        #expect(engine.stateDigest() == scene.engine.stateDigest())
    }
}
