import Engine
import Ingest
import Journaling
import Ownership
import Serving
import TestSupport
import Testing
import WidgetModel

@testable import Partitions

/// A node that follows a partition of another one, and has it next.
@Suite struct StandbyTests {
    private static let other = NodeScene.other

    private static func hosts(_ count: Int) -> [String] {
        let all = (0...).lazy.map { "host-\($0)" }
        return Array(all.filter { PartitionID(of: HostKey($0), among: 2) == Self.other }.prefix(count))
    }

    private static func register(_ hosts: some Sequence<String>, at node: MemoryNode) async throws {
        for host in hosts {
            let answer = try await node.log.append(
                .register(Sports.registration(host, revision: 1, [Sports.instance("a")])),
                for: HostKey(host)
            )
            #expect(answer == .registered(RegistrationCounts(added: 1)))
        }
    }

    /// Waits until the owner has committed all, and a standby has applied it.
    private static func settle(_ scene: NodeScene, _ node: MemoryNode) async throws -> LogPosition {
        let last = LogPosition(UInt64(try scene.entries(Self.other)))
        while try scene.journal.readOutputs(Self.other, from: .first, outputsMax: 1000).last?.record.through != last {
            await Task.yield()
        }
        try node.hear(Self.other)
        while let progress = try await node.owners[1].standbyProgress(), progress.applied < last { await Task.yield() }
        return last
    }

    @Test func `it applies what another has committed, and goes on as the owner with nothing left to replay`()
        async throws
    {
        let scene = try await NodeScene()
        let hosts = Self.hosts(6)
        try await Self.register(hosts.prefix(2), at: scene.second)
        try await scene.first.owners[1].standBy()
        try await Self.register(hosts[2..<4], at: scene.second)
        let last = try await Self.settle(scene, scene.first)
        let expected = StandbyProgress(partition: Self.other, applied: last, lag: 0)
        #expect(try await scene.first.owners[1].standbyProgress() == expected)
        // It is the other's all the while, also what its tokens stand for.
        #expect(scene.first.owners[1].isAway)
        #expect(scene.first.directory.lookup(Sports.token(hosts[0])) == .unknown)
        #expect(try await scene.first.log.ask(HostQuestion(HostKey(hosts[0]))) != nil)
        let entries = try scene.entries(Self.other)

        await scene.second.give(Self.other)
        #expect(try await scene.first.take(Self.other) == 0)
        #expect(try scene.entries(Self.other) == entries, "a standby writes nothing")
        #expect(try await scene.first.owners[1].standbyProgress() == nil && !scene.first.owners[1].isAway)
        for host in hosts.prefix(4) {
            let binding = TokenBinding(host: HostKey(host), instance: nil, partition: Self.other)
            #expect(scene.first.directory.lookup(Sports.token(host)) == .bound(binding))
        }
        try await Self.register(hosts[4...], at: scene.first)
        #expect(try await scene.first.log.askAll(TotalsQuestion()).map(\.hosts) == [0, 6])
        // And the state is that of the log.
        let own = try await scene.first.owners[1].inspect { $0.stateDigest() }
        await scene.first.give(Self.other)
        #expect(try await scene.second.take(Self.other) > 0)
        #expect(try await scene.second.owners[1].inspect { $0.stateDigest() } == own)
    }

    @Test func `it replays what the owner had committed and it had not heard, and what that had not committed`()
        async throws
    {
        let scene = try await NodeScene()
        let hosts = Self.hosts(5)
        try await Self.register(hosts.prefix(2), at: scene.second)
        try await scene.first.owners[1].standBy()
        _ = try await Self.settle(scene, scene.first)
        try await Self.register(hosts[2..<4], at: scene.second)
        await scene.second.give(Self.other, committing: false)
        scene.nodes.setOwner(nil, of: Self.other)
        #expect(try await scene.first.take(Self.other) == 2)
        try await Self.register(hosts[4...], at: scene.first)
        #expect(try await scene.first.log.askAll(TotalsQuestion()).map(\.hosts) == [0, 5])
    }

    @Test func `what was asked for before it became the owner is answered by it`() async throws {
        let scene = try await NodeScene()
        try await Self.register(Self.hosts(2), at: scene.second)
        try await scene.first.owners[1].standBy()
        let last = try await Self.settle(scene, scene.first)
        await scene.second.give(Self.other)
        try await scene.first.take(Self.other)
        let places = [RecordPlace(position: last, index: 0)]
        let answers = try await scene.first.owners[1].answers(at: places, within: .minutes(5))
        #expect(answers == [.registered(RegistrationCounts(added: 1))])
    }

    @Test func `one that comes to another state than the owner ends, and the next owner begins anew`() async throws {
        let scene = try await NodeScene()
        try await Self.register(Self.hosts(2), at: scene.second)
        try await scene.first.owners[1].standBy()
        let last = try await Self.settle(scene, scene.first)
        try await Self.register(Self.hosts(3).suffix(1), at: scene.second)
        let wrong = OutputRecord(through: last.next, engineVersion: 1, runningHash: 1, effects: [0])
        scene.first.owners[1].noteOutput(OutputEntry(position: OutputPosition(99), record: wrong))
        let reason = OwnerError.engineDisagrees(partition: Self.other, position: last.next)
        await #expect(throws: reason) {
            while try await scene.first.owners[1].standbyProgress() != nil { await Task.yield() }
        }
        #expect(try await scene.first.owners[1].standbyProgress() == nil, "that is told once")
        #expect(try await scene.second.log.askAll(TotalsQuestion()).map(\.hosts) == [0, 3], "the owner goes on")
        await scene.second.give(Self.other)
        #expect(try await scene.first.take(Self.other) == Int(last.rawValue) + 1)
    }

    @Test func `it may end and begin as often as is wished`() async throws {
        let scene = try await NodeScene()
        try await Self.register(Self.hosts(1), at: scene.second)
        for _ in 0..<3 {
            try await scene.first.owners[1].standBy()
            _ = try await Self.settle(scene, scene.first)
            await scene.first.owners[1].standDown()
            #expect(try await scene.first.owners[1].standbyProgress() == nil)
        }
        // Of no use to one that does not stand by, or that owns the partition.
        await scene.second.owners[1].standDown()
        try scene.second.hear(Self.other)
        #expect(try await scene.second.log.askAll(TotalsQuestion()).map(\.hosts) == [0, 1])
    }
}
