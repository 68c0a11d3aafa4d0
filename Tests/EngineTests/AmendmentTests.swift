import TestSupport
import Testing
import WidgetModel

@testable import Engine

/// The operators' changes of the configuration, as every partition keeps them.
@Suite struct AmendmentTests {
    private static let night = OperatorSource(caller: "night", address: "203.0.113.7", request: "r-1")
    private static let day = OperatorSource(caller: "day", address: "203.0.113.8", request: "r-2")
    private static let team = AmendedEntry.team(TeamID("T"))
    private static let app = AmendedEntry.app(BundleID("com.example.scores"))

    @Test func `the last word on an entry stands where the first stood, until it is taken back`() {
        var scene = Scene()
        let first = scene.now
        let answers = scene.apply([
            .amend(Amendment(.put("1"), Self.team, by: Self.night)), .amend(Amendment(.end, Self.app, by: Self.night)),
        ])
        #expect(answers == [.amended, .amended])
        scene.pass(.hours(1))
        scene.apply(.amend(Amendment(.put("2"), Self.team, by: Self.day)))
        let team = StandingAmendment(entry: Self.team, value: "2", since: scene.now, source: Self.day)
        let app = StandingAmendment(entry: Self.app, value: nil, since: first, source: Self.night)
        #expect(scene.engine.amendments == [team, app])
        #expect(scene.engine.amendments[Self.app] == app)
        #expect(InForceQuestion().answer(from: scene.engine).amendments == [team, app])
        scene.apply(.amend(Amendment(.revert, Self.team, by: Self.day)))
        scene.apply(.amend(Amendment(.revert, Self.team, by: Self.day)))
        #expect(scene.engine.amendments == [app])
    }

    @Test(arguments: [Amendment.Action.put("{\"id\":\"T\"}"), .end, .revert], [Self.team, Self.app])
    func `a record has one form`(action: Amendment.Action, entry: AmendedEntry) throws {
        let record = Record.amend(Amendment(action, entry, by: Self.night))
        var reader = ByteReader(record.bytes)
        #expect(try Record(from: &reader) == record)
        for count in 1..<record.bytes.count {
            var reader = ByteReader(Array(record.bytes.prefix(count)))
            #expect(throws: ByteError.self) { try Record(from: &reader) }
        }
    }

    @Test func `a snapshot has them, and one without them is as it was before there were any`() throws {
        var scene = Scene()
        scene.settle("phone", [Scene.scores("w1", team: "seahawks")])
        let bare = SnapshotTests.frames(of: scene.engine)
        scene.apply(.amend(Amendment(.put("1"), Self.team, by: Self.night)))
        let frames = SnapshotTests.frames(of: scene.engine)
        let engine = try SnapshotTests.engine(of: frames)
        #expect(engine.amendments == scene.engine.amendments && engine.amendments.count == 1)
        #expect(engine.stateDigest() == scene.engine.stateDigest())
        scene.apply(.amend(Amendment(.revert, Self.team, by: Self.day)))
        // Position, time and hash differ; nothing else does.
        #expect(SnapshotTests.frames(of: scene.engine).map(\.count) == bare.map(\.count))
        #expect(try SnapshotTests.engine(of: bare).amendments.isEmpty)
    }
}
