import TestSupport
import Testing
import Timelines
import WidgetModel

@testable import Engine

/// Changed settings, and the operators' changes of the configuration that come with them, as every partition keeps them.
@Suite struct AmendmentTests {
    private static let night = OperatorSource(caller: "night", address: "203.0.113.7", request: "r-1")
    private static let day = OperatorSource(caller: "day", address: "203.0.113.8", request: "r-2")
    private static let team = AmendedEntry.team(TeamID("T"))
    private static let app = AmendedEntry.app(BundleID("com.example.scores"))

    @Test func `the last word on an entry stands where the first stood, until it is taken back`() {
        var scene = Scene()
        let first = scene.now
        #expect(scene.amend(.put("1"), Self.team, by: Self.night) == .settings(orphaned: 0))
        scene.amend(.end, Self.app, by: Self.night)
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

    @Test func `settings that were worked out from others than stand change nothing`() {
        var scene = Scene()
        scene.settle("phone", [Scene.scores("w1", team: "seahawks")])
        let other = Scene.settings(budget: .unlimited)
        let first = SettingsChange(other, from: 0, with: Amendment(.end, Self.team, by: Self.night))
        #expect(scene.apply(.configure(first)) == .settings(orphaned: 0))
        let stands = scene.engine.amendments
        // As from two gateways at one moment, and from one that knows of a change that there was not.
        for base in [-1, 0, 2, .max] {
            let late = SettingsChange(nil, from: base, with: Amendment(.revert, Self.team, by: Self.day))
            #expect(scene.apply(.configure(late)) == .settingsOvertaken)
            #expect(scene.apply(.configure(SettingsChange(Scene.settings(), from: base))) == .settingsOvertaken)
        }
        // A gateway that stood still since it found no settings here.
        #expect(scene.apply(.settings(Scene.settings())) == .settingsOvertaken)
        let inForce = InForceQuestion().answer(from: scene.engine)
        #expect(inForce.settings == other && inForce.settingsVersion == 1 && inForce.amendments == stands)
        // A reading of the file keeps what requests have changed, and is a change as they are.
        #expect(scene.apply(.configure(SettingsChange(Scene.settings(), from: 1))) == .settings(orphaned: 0))
        #expect(scene.engine.amendments == stands && scene.engine.settingsVersion == 2)
        #expect(scene.engine.settings == Scene.settings())
    }

    @Test func `a change of what no engine decides by goes through no table`() throws {
        var scene = Scene()
        scene.settle("phone", [Scene.scores("w1", team: "seahawks")])
        let amendment = Amendment(.end, Self.team, by: Self.night)
        let cases: [(EngineSettings?, Bool)] = [(nil, true), (Scene.settings(budget: .unlimited), false)]
        for (settings, isDone) in cases {
            var engine = scene.engine.duplicate()
            let bytes = Record.configure(SettingsChange(settings, from: 0, with: amendment)).bytes
            var output = EngineOutput()
            try engine.begin(
                bytes,
                in: bytes.indices,
                recordIndex: 0,
                at: scene.position.next,
                logTime: scene.now,
                into: &output
            )
            let (isRecordDone, amended) = (engine.isRecordDone, engine.amendments.map(\.entry))
            #expect(isRecordDone == isDone)
            #expect(amended == [Self.team])
        }
    }

    @Test func `settings that are too new stay out, and their change is counted as by newer rules`() {
        var scene = Scene()
        let newer = EngineSettings(engineVersion: Engine.version + 1, apps: [])
        let change = SettingsChange(newer, from: 0, with: Amendment(.end, Self.app, by: Self.night))
        #expect(scene.apply(.configure(change)) == .settingsTooNew(engineVersion: Engine.version + 1))
        #expect(scene.engine.amendments.map(\.entry) == [Self.app] && scene.engine.settingsVersion == 1)
        #expect(scene.engine.settings == Scene.settings())
    }

    @Test func `partitions that start at other times agree`() {
        var early = Scene()
        var late = Scene(settings: Scene.settings(budget: .unlimited))
        late.apply(.settings(Scene.settings()))
        late.pass(.hours(1))
        early.amend(.end, Self.app, by: Self.night)
        late.amend(.end, Self.app, by: Self.night)
        let next = Record.configure(
            SettingsChange(Scene.settings(), from: 1, with: Amendment(.put("1"), Self.app, by: Self.day))
        )
        #expect([early.apply(next), late.apply(next)] == [.settings(orphaned: 0), .settings(orphaned: 0)])
        #expect(early.engine.amendments.map(\.value) == ["1"] && late.engine.amendments.map(\.value) == ["1"])
    }

    @Test(arguments: [Amendment.Action.put("{\"id\":\"T\"}"), .end, .revert], [Self.team, Self.app])
    func `a record has one form`(action: Amendment.Action, entry: AmendedEntry) throws {
        let amendment = Amendment(action, entry, by: Self.night)
        let changes = [
            SettingsChange(Scene.settings(), from: 7, with: amendment), SettingsChange(Scene.settings(), from: 7),
            SettingsChange(nil, from: 7, with: amendment),
        ]
        for record in changes.map({ Record.configure($0) }) + [.settings(Scene.settings())] {
            var reader = ByteReader(record.bytes)
            #expect(try Record(from: &reader) == record)
            for count in 1..<record.bytes.count {
                var reader = ByteReader(Array(record.bytes.prefix(count)))
                #expect(throws: ByteError.self) { try Record(from: &reader) }
            }
        }
    }

    @Test func `a snapshot has them, and one without them is as it was before there were any`() throws {
        var scene = Scene()
        scene.settle("phone", [Scene.scores("w1", team: "seahawks")])
        let bare = try SnapshotTests.engine(of: SnapshotTests.frames(of: scene.engine))
        #expect(bare.stateDigest() == scene.engine.stateDigest())
        scene.amend(.put("1"), Self.team, by: Self.night)
        let engine = try SnapshotTests.engine(of: SnapshotTests.frames(of: scene.engine))
        #expect(engine.amendments == scene.engine.amendments && engine.amendments.count == 1)
        let version = engine.settingsVersion
        #expect(version == 1)
        #expect(engine.stateDigest() == scene.engine.stateDigest())
    }
}

extension Scene {
    /// An operator changes an entry of which no engine decides anything.
    @discardableResult
    fileprivate mutating func amend(
        _ action: Amendment.Action,
        _ entry: AmendedEntry,
        by source: OperatorSource
    ) -> RecordAnswer.Result {
        let version = self.engine.settingsVersion
        let amendment = Amendment(action, entry, by: source)
        return self.apply(.configure(SettingsChange(nil, from: version, with: amendment)))
    }
}
