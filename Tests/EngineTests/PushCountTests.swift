import Testing
import WidgetModel

@testable import Engine

/// A push to an app is one record of every partition, and one push.
@Suite struct PushCountTests {
    @Test(arguments: [UInt16(0), 1, 2])
    func `the first partition counts an app's pushes, a host's partition those to the host`(partition: UInt16) {
        var scene = Scene(partition: partition)
        scene.settle("phone", [Scene.scores("a", team: "seahawks")])
        let push = scene.makePush(match: "seahawks")
        scene.apply(.push(push))
        scene.apply(.push(push))
        scene.push(to: "phone")
        let stats = scene.engine.stats()
        let counted = partition == 0 ? 1 : 0
        #expect(stats.pushesAccepted == 1 + counted)
        #expect(stats.pushesRepeated == counted)
        // The matches happened here, whichever partition counts the push.
        #expect(stats.matched == 2)
        let senders = scene.engine.senders()
        #expect(senders.map(\.pushes) == [1 + counted])
        #expect(senders.map(\.repeats) == [counted])
        #expect(senders.map(\.matched) == [2])
    }

    @Test func `a push's row has a count for each outcome, and one for each reason of a failure`() {
        let row = PushTable.Row.blank
        #expect(row.counts.count == PushOutcome.allCases.count)
        #expect(row.failures.count == FailureReason.allCases.count)
    }
}
