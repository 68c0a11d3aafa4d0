import Engine
import Journaling
import Ownership
import Partitions
import Testing
import WidgetModel

/// The units that are counted when records are applied.
@Suite struct WorkUnitsTests {
    private static func units(_ scene: OwnerScene) async throws -> Int {
        try await scene.owners[0].progress().unitsDone
    }

    @Test
    func `what is counted is records, instances, matches decided and reloads issued, and a replay counts the same`()
        async throws
    {
        let scene = try await OwnerScene.started()
        var push = Sports.push(1, to: "")
        push.target = .app(Sports.app)
        try await scene.register("a", instances: 3)
        try await scene.register("b", instances: 2)
        // One is changed, two are gone: unchanged instances cost nothing.
        try await scene.register("a", revision: 2, instances: 1)
        var matched = 0
        // A repeat decides nothing.
        for record in [.push(push), .push(push), .appReload(AppReloadRequest(app: Sports.app))] as [Record] {
            for answer in try await scene.log.appendToAll(record) {
                switch answer {
                case .push(let count, let isRepeat): matched += isRepeat ? 0 : count
                case .appReload(let count): matched += count
                default: Issue.record("\(answer)")
                }
            }
        }
        let order = OperatorOrder(.pause(until: nil), .app(Sports.app))
        for case .order(let count) in try await scene.log.appendToAll(.order(order)) { matched += count }
        try await scene.settle()
        let records = try scene.journal.read(PartitionID(0), from: LogPosition(1), entriesMax: 1000)
            .reduce(0) { $0 + $1.recordCount }
        let instances = 3 + 2 + 2
        #expect(matched >= 6)
        #expect(scene.handedOn.count >= 5)
        let expected =
            WorkUnits.record * records + WorkUnits.instance * instances + matched + scene.handedOn.count
        #expect(try await Self.units(scene) == expected)
        let again = scene.restarted()
        #expect(try await again.start() > 0)
        #expect(try await Self.units(again) == expected)
    }

    @Test func `a push to a token counts the reload of each instance`() throws {
        let reloads = (0..<3).map { Sports.reload("host", "a\($0)") }
        var writer = ByteWriter()
        writer.write(Sports.token("host").bytes)
        writer.write(byte: PushEnvironment.production.rawValue)
        writer.write(false)
        writer.write(byte: Priority.high.rawValue)
        writer.write(each: reloads) { writer, reload in
            reload.encode(into: &writer)
            writer.write(UInt8?.none) { $0.write(byte: $1) }
        }
        var reader = ByteReader(writer.bytes)
        let push = Effect.push(try TokenPush(from: &reader))
        #expect(WorkUnits.done([push]) == 3)
        #expect(WorkUnits.done([push, .reload(reloads[0])]) == 4)
    }

    @Test func `what a replay takes says nothing of the pace`() async throws {
        let scene = try await OwnerScene.started()
        for number in 0..<4 { try await scene.register("host-\(number)", instances: 128) }
        var push = Sports.push(1, to: "")
        push.target = .app(Sports.app)
        for number in 0..<300 {
            push.id = PushID(high: 7, low: UInt64(number))
            _ = try await scene.log.appendToAll(.push(push))
        }
        let again = scene.restarted()
        _ = try await again.start()
        try await again.settle()
        #expect(try await Self.units(again) > 300 * 4 * 128)
        // However slow the machine was, it is not taken for fast.
        let pace = again.work.partitions[0].pace
        #expect(pace <= WorkPace.assumed + WorkPace.assumed / 100, "\(pace)")
    }
}
