import IntentMatching
import TestSupport
import Testing
import Timelines
import WidgetModel

@testable import Engine

/// An engine's state as frames: whole, exact, and refused where it is not.
@Suite struct SnapshotTests {
    static func frames(of engine: borrowing Engine) -> [[UInt8]] {
        var encoder = EngineSnapshotEncoder()
        var frames: [[UInt8]] = []
        while let frame = encoder.next(engine) { frames.append(frame) }
        return frames
    }

    static func engine(
        of frames: [[UInt8]],
        partition: UInt16 = 0,
        partitions: Int = 1
    ) throws(SnapshotError) -> Engine {
        var decoder = EngineSnapshotDecoder(partition: PartitionID(partition), partitions: partitions)
        for frame in frames { try decoder.takeFrame(frame) }
        return try decoder.finish()
    }

    /// The same as several threads come to it.
    private static func engineOfSeveral(of frames: [[UInt8]]) throws(SnapshotError) -> Engine {
        var tables = EngineSnapshotDecoder(partition: PartitionID(0), partitions: 1, leavesInstances: true)
        for frame in frames { try tables.takeFrame(frame) }
        var engine = try tables.finishWithoutInstances()
        try engine.adopt(Self.instances(of: frames))
        try engine.adopt(Self.index(of: frames))
        return engine
    }

    private static func instances(of frames: [[UInt8]]) throws(SnapshotError) -> EngineInstances {
        var decoder = EngineInstancesDecoder()
        for frame in frames where try !decoder.takeFrame(frame) { break }
        return try decoder.finish()
    }

    private static func index(of frames: [[UInt8]]) throws(SnapshotError) -> EngineIndex {
        var decoder = EngineIndexDecoder()
        for frame in frames where EngineIndexDecoder.needs(frame[0]) {
            if try !decoder.takeFrame(frame) { break }
        }
        return decoder.finish()
    }

    /// Small tables, so that they run over.
    private static var limits: EngineLimits {
        var limits = EngineLimits()
        limits.repeatEntriesMax = 40
        limits.decisionsRetainedMax = 100
        limits.pushesRetainedMax = 30
        return limits
    }

    @Test(arguments: Seeds.from(701, count: 12))
    func `an engine that was read back goes on as the one that was written`(seed: UInt64) throws {
        let isSmall = seed.isMultiple(of: 2)
        var policy = Scene.steady
        policy.isRolling = seed.isMultiple(of: 3)
        if policy.isRolling { policy.window = .fixed(length: .day, anchor: .hostHash) }
        var schedule = RandomSchedule(
            seed: seed,
            settings: Scene.settings(budget: policy, limits: isSmall ? Self.limits : EngineLimits()),
            deliveries: seed.isMultiple(of: 3) ? [.stream] : [.stream, .apns, .webhook],
            policies: seed.isMultiple(of: 5) ? [policy, .widgetkit] : [],
            hasClockSteps: seed.isMultiple(of: 7)
        )
        schedule.scene.checks = false
        let channel = Channel(id: ChannelID("c\(seed)"), storagePolicy: .mostRecent, pushType: .widgets)
        schedule.scene.apply(.channel(.create(channel, app: Scene.sports, channelsMax: 10)))
        schedule.run(steps: 20 + Int(seed % 400))
        var written = Engine(partition: PartitionID(0), partitions: 1)
        for entry in schedule.scene.log {
            var output = EngineOutput()
            try written.apply(entry, into: &output)
        }
        let frames = Self.frames(of: written)
        var read =
            try seed.isMultiple(of: 3)
            ? Self.engineOfSeveral(of: frames) : Self.engine(of: frames)
        #expect(read.stateDigest() == written.stateDigest(), "seed \(seed)")
        #expect(read.runningHash == written.runningHash, "seed \(seed)")
        #expect(read.stats() == written.stats(), "seed \(seed)")
        #expect(read.behind(longerThan: .hours(1)) == written.behind(longerThan: .hours(1)), "seed \(seed)")
        #expect(read.nextTimer == written.nextTimer, "seed \(seed)")
        #expect(read.checkInvariants() == [], "seed \(seed)")
        #expect(Self.frames(of: read) == frames, "seed \(seed)")

        if seed.isMultiple(of: 4) { read.finishLoading() }
        let count = schedule.scene.log.count
        schedule.run(steps: 150)
        for entry in schedule.scene.log[count...] {
            var outputs = [EngineOutput(), EngineOutput()]
            try written.apply(entry, into: &outputs[0])
            try read.apply(entry, into: &outputs[1])
            #expect(outputs[0] == outputs[1], "seed \(seed), position \(entry.at)")
        }
        #expect(read.runningHash == schedule.scene.engine.runningHash, "seed \(seed)")
        #expect(read.stateDigest() == schedule.scene.engine.stateDigest(), "seed \(seed)")
        #expect(read.stats() == schedule.scene.engine.stats(), "seed \(seed)")
        #expect(read.checkInvariants() == [], "seed \(seed)")
        #expect(Self.frames(of: read) == Self.frames(of: written), "seed \(seed)")
    }

    @Test(arguments: Seeds.from(801, count: 6))
    func `what tokens stand for is as all the changes since the beginning say`(seed: UInt64) throws {
        var schedule = RandomSchedule(seed: seed, deliveries: [.stream, .apns])
        schedule.scene.checks = false
        schedule.run(steps: 500)
        func taken(_ changes: [DirectoryChange], into known: inout [DeviceToken: DirectoryChange]) {
            for change in changes {
                switch change {
                case .bound(let token, _, _), .removed(let token, _, _, _): known[token] = change
                case .forgotten(let token): known[token] = nil
                }
            }
        }
        var replayed = Engine(partition: PartitionID(0), partitions: 1)
        var fromLog: [DeviceToken: DirectoryChange] = [:]
        for entry in schedule.scene.log {
            var output = EngineOutput()
            try replayed.apply(entry, into: &output)
            taken(output.directory, into: &fromLog)
        }
        var fromState: [DeviceToken: DirectoryChange] = [:]
        let read = try Self.engine(of: Self.frames(of: schedule.scene.engine))
        read.removedTokens { taken($0, into: &fromState) }
        read.controlTokens(of: read.registry.usedInstances()) { taken($0, into: &fromState) }
        let apps = read.appIDs
        read.forEachHostToken { bytes, host, app in
            let token = DeviceToken(bytes: Array(copying: bytes))
            let id = HostID(String(decoding: Array(copying: host), as: UTF8.self))
            #expect(fromState[token] == nil, "seed \(seed)")
            fromState[token] = .bound(token, host: HostKey(app: apps[app], id: id), instance: nil)
        }
        #expect(fromState.count == read.tokenCount)
        #expect(fromState == fromLog, "seed \(seed)")
        #expect(fromState.count > 2, "seed \(seed)")
    }

    @Test func `conditions, tags, controls and an empty engine come back`() throws {
        var scene = Scene()
        var widget = Scene.scores("w1", team: "seahawks")
        widget.when = try MatchPattern.parse(.object([.init(name: "quarter", value: .int(4))]))
        widget.tags = ["beta", "west"]
        var control = Scene.scores("c1", team: "mariners")
        control.family = .systemMedium
        control.controlToken = Scene.token("control")
        scene.register("phone", [control, widget])
        scene.pass(.minutes(10))
        let read = try Self.engine(of: Self.frames(of: scene.engine))
        #expect(read.stateDigest() == scene.engine.stateDigest())
        #expect(read.host(HostKey("phone")) == scene.engine.host(HostKey("phone")))
        #expect(read.checkInvariants() == [])
        let blank = Engine(partition: PartitionID(0), partitions: 1)
        let frames = Self.frames(of: blank)
        #expect(frames.count == 2)
        #expect(try Self.engine(of: frames).stateDigest() == blank.stateDigest())
    }

    @Test func `frames of another partition, version or of no whole state are refused`() throws {
        var schedule = RandomSchedule(seed: 5)
        schedule.scene.checks = false
        schedule.run(steps: 100)
        let frames = Self.frames(of: schedule.scene.engine)
        #expect(throws: SnapshotError.otherPartition) { _ = try Self.engine(of: frames, partition: 1, partitions: 2) }
        #expect(throws: SnapshotError.otherPartition) { _ = try Self.engine(of: frames, partitions: 2) }
        // Behind the section come the versions of the format and of the rules, a byte each.
        var other = frames
        other[0][1] += 1
        #expect(throws: SnapshotError.otherFormat(version: EngineSnapshot.version + 1)) {
            _ = try Self.engine(of: other)
        }
        other = frames
        other[0][2] -= 1
        #expect(throws: SnapshotError.otherEngine(version: UInt64(Engine.version - 1))) {
            _ = try Self.engine(of: other)
        }
        for count in 0..<frames.count {
            #expect(throws: SnapshotError.incomplete(frames: count)) {
                _ = try Self.engine(of: Array(frames.prefix(count)))
            }
        }
        for index in frames.indices.dropLast() {
            var missing = frames
            missing.remove(at: index)
            #expect(throws: SnapshotError.self, "without frame \(index)") { _ = try Self.engine(of: missing) }
        }
    }

    @Test(arguments: Seeds.from(901, count: 3))
    func `damaged frames never end the process`(seed: UInt64) throws {
        var schedule = RandomSchedule(seed: seed, deliveries: [.stream, .apns])
        schedule.scene.checks = false
        schedule.run(steps: 60)
        let frames = Self.frames(of: schedule.scene.engine)
        var random = SplitMix64(seed: seed)
        for frame in frames.indices.dropFirst() {
            for _ in 0..<8 {
                var damaged = frames
                damaged[frame].removeLast(1 + Int(random.next() % UInt64(damaged[frame].count)))
                #expect(throws: SnapshotError.self, "seed \(seed)") { _ = try Self.engine(of: damaged) }
            }
        }
    }

    /// One that is alone, one with another one behind it, and one of a window and a configuration before.
    @Test func `lists of reloads are read back`() throws {
        var scene = Scene()
        scene.register("phone", [Scene.scores("w1", team: "seahawks"), Scene.scores("w2", team: "mariners")])
        scene.register("pad", [Scene.scores("w1", team: "seahawks")])
        scene.pass(.hours(23))
        scene.register("pad", [Scene.scores("w1", team: "sounders")])
        let charged = scene.engine.outstandingReloads(host: HostKey("pad"))
        #expect(charged.count == 2)
        scene.acknowledge(charged[1])
        scene.push(match: "mariners")
        let frames = Self.frames(of: scene.engine)
        for isOfSeveral in [false, true] {
            let engine = try isOfSeveral ? Self.engineOfSeveral(of: frames) : Self.engine(of: frames)
            #expect(engine.stateDigest() == scene.engine.stateDigest())
            #expect(engine.checkInvariants() == [])
            #expect(engine.reloads.count == 4)
            #expect(Self.frames(of: engine) == frames)
        }
    }

    @Test(arguments: Seeds.from(921, count: 3))
    func `one host that is read alone is what it is among the others`(seed: UInt64) throws {
        var schedule = RandomSchedule(seed: seed, deliveries: [.stream, .apns])
        schedule.scene.checks = false
        schedule.run(steps: 120)
        let frames = Self.frames(of: schedule.scene.engine)
        let whole = try Self.engine(of: frames)
        let ids = PageQuestion(HostList(of: nil), limit: 100).answer(from: whole).rows.map(\.host)
        #expect(ids.count > 2, "seed \(seed)")
        for id in ids {
            var decoder = EngineSnapshotDecoder(partition: PartitionID(0), partitions: 1, only: id)
            for frame in frames { try decoder.takeFrame(frame) }
            let alone = try decoder.finish()
            let view = whole.host(id)
            let host = try #require(view)
            #expect(alone.host(id) == host, "seed \(seed)")
            for instance in host.instances {
                let address = InstanceAddress(host: id, instance: instance.id)
                #expect(alone.instance(address) == whole.instance(address), "seed \(seed)")
            }
            #expect(alone.stats().hosts == 1, "seed \(seed)")
        }
    }

    @Test func `instances and an index of another snapshot are refused`() throws {
        var schedule = RandomSchedule(seed: 6)
        schedule.scene.checks = false
        schedule.run(steps: 40)
        let frames = Self.frames(of: schedule.scene.engine)
        schedule.run(steps: 40)
        var tables = EngineSnapshotDecoder(partition: PartitionID(0), partitions: 1, leavesInstances: true)
        for frame in Self.frames(of: schedule.scene.engine) { try tables.takeFrame(frame) }
        var engine = try tables.finishWithoutInstances()
        #expect(throws: SnapshotError.otherPartition) { try engine.adopt(Self.instances(of: frames)) }
        #expect(throws: SnapshotError.otherPartition) { try engine.adopt(Self.index(of: frames)) }
    }

    @Test(arguments: [65_535, 65_536])
    func `an id of an instance that is too long for its row is refused`(length: Int) throws {
        var scene = Scene()
        scene.register("phone", [Scene.scores("w1", team: "seahawks")])
        var frames = Self.frames(of: scene.engine)
        let section = try #require(frames.firstIndex { $0[0] == 4 })
        var frame = frames[section]
        // The section, the length of the shapes, these, and the row's number; then its length in four bytes, and the id in it.
        let lengthAt = 5 + Int(frame[1]) + Int(frame[2]) << 8 + 1
        let idAt = try #require((lengthAt + 4..<frame.count - 2).first { Array(frame[$0..<$0 + 3]) == [2] + "w1".utf8 })
        var id = ByteWriter()
        id.write(String(repeating: "w", count: length))
        let rowLength = Int(frame[lengthAt]) + Int(frame[lengthAt + 1]) << 8 + id.bytes.count - 3
        frame.replaceSubrange(idAt..<idAt + 3, with: id.bytes)
        for byte in 0..<4 { frame[lengthAt + byte] = UInt8(truncatingIfNeeded: rowLength >> (8 * byte)) }
        frames[section] = frame
        if length == 65_535 {
            #expect(try Self.engine(of: frames).stats().instances == 1)
        } else {
            #expect(throws: SnapshotError.self) { _ = try Self.engine(of: frames) }
        }
    }

    @Test func `instances are refused where one of them is missing`() throws {
        var scene = Scene()
        scene.register("phone", [Scene.scores("w1", team: "seahawks"), Scene.scores("w2", team: "mariners")])
        let frames = Self.frames(of: scene.engine)
        let section = try #require(frames.firstIndex { $0[0] == 4 })
        var others = frames
        others.remove(at: section)
        #expect(throws: SnapshotError.incomplete(frames: section)) { _ = try Self.instances(of: others) }
    }
}
