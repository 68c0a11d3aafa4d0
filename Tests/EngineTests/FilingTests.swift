import TestSupport
import Testing
import WidgetModel

@testable import Engine

/// Decisions as a file keeps them, against looking up each one alone.
@Suite struct FilingTests {
    @Test(arguments: UInt64(1)...8)
    func `each decision is filed with its instance, unless that was removed`(seed: UInt64) throws {
        var schedule = RandomSchedule(seed: seed, hasRare: true)
        schedule.run(steps: 400)
        Self.check(schedule.scene.engine, seed)
        // A snapshot has nothing of an instance that is forgotten, while decisions about it may still be kept.
        Self.check(try SnapshotTests.engine(of: SnapshotTests.frames(of: schedule.scene.engine)), seed)
    }

    private static func check(_ engine: borrowing Engine, _ seed: UInt64) {
        var next: UInt64 = 0
        var (withInstance, without) = (0, 0)
        while true {
            let filed = engine.decisions(from: next, atLeast: 1, limit: 1 + Int(seed) * 7)
            if filed.rows.isEmpty { break }
            for (number, row) in zip(filed.first..., filed.rows) {
                let entry = engine.ledger.decisions[number]!
                let isLive = engine.registry[entry.instance].isLive
                let address = isLive ? engine.address(ofDecision: number, entry) : nil
                #expect(row.instance.map { filed.instances[$0] } == address)
                #expect(row.decision == entry.view)
                if address == nil { without += 1 } else { withInstance += 1 }
            }
            #expect(Set(filed.instances).count == filed.instances.count)
            next = filed.first + UInt64(filed.rows.count)
        }
        let count = engine.decisionCount
        #expect(next == count)
        #expect(withInstance > 0 && without > 0)
    }
}
