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
        scene.amend(.put("2"), Self.team, by: Self.day)
        let team = StandingAmendment(entry: Self.team, value: "2", since: scene.now, source: Self.day)
        let app = StandingAmendment(entry: Self.app, value: nil, since: first, source: Self.night)
        #expect(scene.engine.amendments == [team, app])
        #expect(scene.engine.amendments[Self.app] == app)
        #expect(InForceQuestion().answer(from: scene.engine).amendments == [team, app])
        scene.amend(.revert, Self.team, by: Self.day)
        scene.amend(.revert, Self.team, by: Self.day)
        #expect(scene.engine.amendments == [app])
    }

    @Test func `an amendment that was made from another one than stands changes nothing`() {
        var scene = Scene()
        let first = Amendment(.put("1"), Self.team, by: Self.night)
        scene.apply(.amend(first))
        let stands = scene.engine.amendments
        // As from two operators who saw no amendment, and from one who saw the first.
        #expect(scene.apply(.amend(Amendment(.put("2"), Self.team, by: Self.day))) == .amendmentOvertaken)
        #expect(scene.apply(.amend(Amendment(.revert, Self.team, by: Self.day))) == .amendmentOvertaken)
        #expect(scene.engine.amendments == stands)
        let second = Amendment(.put("2"), Self.team, replacing: stands[0], by: Self.day)
        #expect(scene.apply(.amend(second)) == .amended)
        #expect(scene.apply(.amend(second)) == .amendmentOvertaken)
        scene.apply(.amend(first))
        #expect(scene.engine.amendments.map(\.value) == ["2"])
        // The same value by another request is another amendment, and another entry has its own.
        scene.amend(.put("2"), Self.team, by: Self.night)
        #expect(
            scene.apply(.amend(Amendment(.end, Self.team, replacing: stands[0], by: Self.day))) == .amendmentOvertaken
        )
        #expect(scene.apply(.amend(Amendment(.end, Self.app, by: Self.day))) == .amended)
    }

    @Test func `partitions whose times differ agree on it`() {
        var early = Scene()
        var late = Scene()
        late.pass(.hours(1))
        early.amend(.end, Self.app, by: Self.night)
        late.amend(.end, Self.app, by: Self.night)
        let next = Record.amend(Amendment(.put("1"), Self.app, replacing: early.engine.amendments[0], by: Self.day))
        #expect([early.apply(next), late.apply(next)] == [.amended, .amended])
    }

    @Test(arguments: [Amendment.Action.put("{\"id\":\"T\"}"), .end, .revert], [Self.team, Self.app])
    func `a record has one form`(action: Amendment.Action, entry: AmendedEntry) throws {
        let standing = StandingAmendment(entry: entry, value: "1", since: .epoch, source: Self.day)
        let record = Record.amend(Amendment(action, entry, replacing: standing, by: Self.night))
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
        scene.amend(.revert, Self.team, by: Self.day)
        // Position, time and hash differ; nothing else does.
        #expect(SnapshotTests.frames(of: scene.engine).map(\.count) == bare.map(\.count))
        #expect(try SnapshotTests.engine(of: bare).amendments.isEmpty)
    }
}

extension Scene {
    /// An operator changes an entry as it stands.
    fileprivate mutating func amend(_ action: Amendment.Action, _ entry: AmendedEntry, by source: OperatorSource) {
        self.apply(.amend(Amendment(action, entry, replacing: self.engine.amendments[entry], by: source)))
    }
}
