import Engine
import TestSupport
import Testing
import WidgetModel

/// Broadcast channels as state of the engine.
@Suite struct ChannelTests {
    private static let app = Scene.sports

    private static func channel(
        _ id: String,
        _ policy: Channel.StoragePolicy = .mostRecent,
        _ definition: String? = nil
    ) -> Channel {
        Channel(
            id: ChannelID(id),
            storagePolicy: policy,
            pushType: .liveActivity,
            definition: definition.map { Array($0.utf8) }
        )
    }

    private static func create(_ id: String, app: BundleID = Self.app, max: Int = 10_000) -> Record {
        .channel(.create(Self.channel(id), app: app, channelsMax: max))
    }

    private static func delete(_ id: String, app: BundleID = Self.app) -> Record {
        .channel(.delete(ChannelID(id), app: app))
    }

    @Test func `a channel is there from its creation to its deletion`() {
        var scene = Scene()
        let channel = Self.channel("c1", .none, #"{"kind":"scores"}"#)
        #expect(scene.engine.channel(channel.id, app: Self.app) == nil)
        let record = Record.channel(.create(channel, app: Self.app, channelsMax: 5))
        #expect(scene.apply(record) == .channel(.created))
        #expect(scene.engine.channel(channel.id, app: Self.app) == channel)
        #expect(scene.engine.channel(channel.id, app: Scene.game) == nil)
        #expect(scene.apply(record) == .channel(.alreadyExists))
        #expect(scene.engine.stats().channels == 1)
        #expect(scene.apply(Self.delete("c1", app: Scene.game)) == .channel(.unknown))
        #expect(scene.apply(Self.delete("c1")) == .channel(.deleted))
        #expect(scene.apply(Self.delete("c1")) == .channel(.unknown))
        #expect(scene.engine.channel(channel.id, app: Self.app) == nil)
        #expect(scene.engine.stats().channels == 0)
    }

    @Test func `an app has as many channels as it may have, and each app its own`() {
        var scene = Scene()
        #expect(scene.apply(Self.create("c1", max: 2)) == .channel(.created))
        #expect(scene.apply(Self.create("c2", max: 2)) == .channel(.created))
        #expect(scene.apply(Self.create("c3", max: 2)) == .channel(.limit(2)))
        #expect(scene.apply(Self.create("c3", app: Scene.game, max: 2)) == .channel(.created))
        #expect(scene.apply(Self.delete("c1")) == .channel(.deleted))
        #expect(scene.apply(Self.create("c3", max: 2)) == .channel(.created))
        // A limit that was lowered afterwards leaves existing channels.
        #expect(scene.apply(Self.create("c4", max: 1)) == .channel(.limit(1)))
        #expect(scene.engine.channels(app: Self.app).map(\.id) == [ChannelID("c2"), ChannelID("c3")])
        #expect(scene.engine.channels(app: Scene.game).map(\.id) == [ChannelID("c3")])
        #expect(scene.engine.channels(app: BundleID("com.example.none")) == [])
    }

    @Test(arguments: UInt64(1)...8)
    func `beside a set the table says the same, and a replay gives the same state`(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        var scene = Scene()
        scene.checks = false
        var model: [BundleID: Set<String>] = [Self.app: [], Scene.game: []]
        for _ in 0..<400 {
            let app = random.next() % 2 == 0 ? Self.app : Scene.game
            let id = "c\(random.next() % 40)"
            let known = model[app, default: []]
            if random.next() % 3 == 0 {
                #expect(
                    scene.apply(Self.delete(id, app: app)) == .channel(known.contains(id) ? .deleted : .unknown),
                    "seed \(seed)"
                )
                model[app]?.remove(id)
            } else {
                let expected: ChannelAnswer =
                    known.contains(id) ? .alreadyExists : known.count == 25 ? .limit(25) : .created
                #expect(scene.apply(Self.create(id, app: app, max: 25)) == .channel(expected), "seed \(seed)")
                if expected == .created { model[app]?.insert(id) }
            }
            #expect(scene.engine.checkInvariants() == [], "seed \(seed)")
        }
        for app in [Self.app, Scene.game] {
            let ids = model[app, default: []].sorted().map { ChannelID($0) }
            #expect(scene.engine.channels(app: app).map(\.id) == ids, "seed \(seed)")
        }
        var again = Engine(partition: PartitionID(0), partitions: 1, seed: seed)
        var output = EngineOutput()
        for entry in scene.log {
            try again.apply(entry, into: &output)
        }
        #expect(again.stateDigest() == scene.engine.stateDigest(), "seed \(seed)")
        #expect(again.runningHash == scene.engine.runningHash, "seed \(seed)")
    }

    @Test func `the digest of the state tells channels apart`() {
        func digest(_ channel: Channel) -> UInt64 {
            var scene = Scene()
            scene.apply(.channel(.create(channel, app: Self.app, channelsMax: 5)))
            // The same record for all, so that only the state differs.
            return scene.engine.stateDigest()
        }
        let digests = [
            Self.channel("c1"), Self.channel("c2"), Self.channel("c1", .none), Self.channel("c1", .mostRecent, "{}"),
        ].map { digest($0) }
        #expect(Set(digests).count == 4)
    }

    @Test func `records read back as they were written, and damaged ones are refused`() throws {
        let records: [Record] = [
            Self.create("c1"), Self.delete("c1"),
            .channel(.create(Self.channel("c2", .none, #"{"match":{}}"#), app: Self.app, channelsMax: 0)),
        ]
        for record in records {
            let bytes = record.bytes
            #expect(bytes[0] == 16)
            var reader = ByteReader(bytes)
            #expect(try Record(from: &reader) == record)
            for end in 0..<bytes.count {
                var short = ByteReader(Array(bytes[..<end]))
                #expect(throws: ByteError.self) { try Record(from: &short) }
            }
            var long = ByteReader(bytes + [0])
            #expect(throws: ByteError.self) { try Record(from: &long) }
        }
        // An unknown command, and an unknown storage policy.
        for bytes in [[16, 2, 1, 0x61], [16, 0, 1, 0x61, 5, 1, 0x62, 2, 0, 0]] as [[UInt8]] {
            var reader = ByteReader(bytes)
            #expect(throws: ByteError.self) { try Record(from: &reader) }
        }
    }
}
