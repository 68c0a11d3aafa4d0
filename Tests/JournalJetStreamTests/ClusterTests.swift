#if JetStream
import BrokerSupport
import Clustering
import Dispatch
import JournalContract
import JournalJetStream
import Journaling
import Synchronization
import Testing
import WidgetModel

/// Nodes that share a log on real brokers.
@Suite(.enabled(if: Brokers.isThere, "make setup installs nats-server"), .serialized)
struct ClusterTests {
    private static let partitions = 8

    private static func name(_ number: Int) -> NodeName { NodeName("node-\(number)")! }

    private static func owners(among nodes: [TestNode]) -> [PartitionID: NodeName?] {
        let names = nodes.map(\.name)
        return (0..<Self.partitions).map { PartitionID(UInt16($0)) }
            .reduce(into: [:]) { $0[$1] = Rendezvous.ranking(of: names, for: $1).first }
    }

    /// Waits until each partition has one owner, the first by hashing, as every node sees it.
    private static func settle(_ nodes: [TestNode]) {
        let owners = Self.owners(among: nodes)
        eventually {
            for (partition, name) in owners {
                let running = nodes.filter { $0.running.contains(partition) }.map(\.name)
                guard running == [name] else { return false }
            }
            return nodes.allSatisfy { node in
                node.view?.partitions.allSatisfy { seen in
                    seen.owner?.name == owners[seen.partition] && seen.standing == .running
                        && seen.standby?.node == seen.next
                } ?? false
            }
        }
    }

    private static func harness(_ brokers: Brokers, replicas: Int = 1) throws -> Harness {
        try Harness(brokers, partitions: Self.partitions, replicas: replicas)
    }

    @Test func `entries by a clock that is far from the broker's are counted where they are read`() throws {
        let harness = try Self.harness(try Brokers())
        let ahead = try JetStreamJournal(configuration: harness.configuration) { Harness.now() + .minutes(6) }
        defer { ahead.close() }
        var records = PackedRecords()
        records.append([8])
        let cluster = harness.own.makeCluster()
        defer { cluster.close() }
        // Its copies are not counted: they may have waited for long.
        #expect(ahead.appendToAll(SubmissionToAll(records)).code == nil)
        #expect(harness.own.appendToAll(SubmissionToAll(records)).code == nil)
        for (journal, partition) in [(harness.own, 0), (ahead, 1), (ahead, 1)] as [(JetStreamJournal, UInt16)] {
            journal.append(Submission(partition: PartitionID(partition), records: records)) { _ in }
        }
        eventually { cluster.clockTroubles.map(\.entries).reduce(0, +) > 0 }
        #expect(cluster.clockTroubles.map(\.partition) == [PartitionID(1)])
        #expect(cluster.clockTroubles[0].writtenAt - cluster.clockTroubles[0].storedAt > .minutes(5))
        #expect(cluster.clockTroubles[0].isPresent(at: .now))
    }

    @Test func `three nodes share the partitions; one dies, one stops for a while, one leaves`() throws {
        let harness = try Self.harness(try Brokers())
        var nodes = try (0..<3).map { try TestNode(Self.name($0), harness.configuration) }
        Self.settle(nodes)

        // As by kill -9: without a word.
        let dead = nodes.remove(at: 0)
        dead.die()
        Self.settle(nodes)

        // As by SIGSTOP and SIGCONT: it hears no beats, sends none, and finds that all is another's.
        let stopped = nodes[0]
        stopped.stop()
        let had = stopped.running
        eventually { had.isSubset(of: nodes[1].running) }
        #expect(stopped.running == had)
        stopped.goOn()
        eventually { stopped.running.isDisjoint(with: had) }
        Self.settle(nodes)

        // As by SIGTERM.
        let left = nodes.remove(at: 0)
        left.leave()
        eventually { left.hasLeft }
        #expect(left.running.isEmpty)
        Self.settle(nodes)
        #expect(nodes[0].running.count == Self.partitions)
        for node in nodes { node.die() }
    }

    /// So patient that no busy machine makes a node look dead that connects anew.
    private static var patient: PlacementMachine.Limits {
        var limits = PlacementMachine.Limits()
        limits.silence = .seconds(10)
        return limits
    }

    @Test func `claims outlive the broker that has them, and its absence moves nothing`() throws {
        let harness = try Self.harness(try Brokers())
        let nodes = try (0..<2).map { try TestNode(Self.name($0), harness.configuration, Self.patient) }
        Self.settle(nodes)
        let starts = nodes.map(\.starts)
        harness.brokers.kill(0)
        eventually { nodes.allSatisfy { $0.view?.nodes.contains { $0.phase == .joining } ?? false } }
        try harness.brokers.start(0)
        Self.settle(nodes)
        eventually { nodes.allSatisfy { $0.view?.nodes.allSatisfy { $0.phase == .member && $0.isAlive } ?? false } }
        #expect(nodes.map(\.starts) == starts)
        for node in nodes { node.die() }
    }

    @Test func `an election among three brokers moves nothing`() throws {
        let harness = try Self.harness(try Brokers(3), replicas: 3)
        let nodes = try (0..<2).map { try TestNode(Self.name($0), harness.configuration, Self.patient) }
        Self.settle(nodes)
        let starts = nodes.map(\.starts)
        for number in 0..<3 {
            harness.brokers.kill(number)
            // Once an entry can be appended again, the election is over.
            #expect(harness.journal.append("after \(number)").code == nil)
            try harness.brokers.start(number)
            #expect(harness.journal.append("back \(number)").code == nil)
        }
        Self.settle(nodes)
        #expect(nodes.map(\.starts) == starts)
        for node in nodes { node.die() }
    }

    @Test func `operators' orders reach all nodes and outlive them, and the brokers are seen`() throws {
        let harness = try Self.harness(try Brokers())
        let nodes = try (0..<2).map { try TestNode(Self.name($0), harness.configuration) }
        Self.settle(nodes)
        let partition = try #require(nodes[0].running.min())
        try nodes[0].change(.place(partition, Self.name(1)))
        eventually { nodes[1].running.contains(partition) && !nodes[0].running.contains(partition) }
        try nodes[1].change(.drain(Self.name(1)))
        eventually { nodes[0].running.count == Self.partitions && nodes[1].running.isEmpty }
        // The same again is no change.
        try nodes[0].change(.drain(Self.name(1)))
        eventually { nodes.allSatisfy { $0.brokers != nil } }
        let brokers = try #require(nodes[0].brokers)
        #expect(brokers.servers == harness.brokers.servers && brokers.connected == brokers.servers[0])
        #expect(brokers.brokers.map(\.name) == ["n0"] && brokers.leaderless.isEmpty && brokers.lagging.isEmpty)
        #expect(brokers.streams.count == 2 * Self.partitions + 3)
        for node in nodes { node.die() }

        let later = try TestNode(Self.name(2), harness.configuration)
        Self.settle([later])
        let seen = try #require(later.view?.partitions[Int(partition.rawValue)])
        #expect(seen.wished == Self.name(1))
        try later.change(.place(partition, nil))
        try later.change(.undrain(Self.name(1)))
        #expect(later.view?.partitions[Int(partition.rawValue)].wished == nil)
        later.die()
    }

    @Test func `operators' order to change rules moves partitions to a node that has them, and outlives that node`()
        throws
    {
        let harness = try Self.harness(try Brokers())
        let old = try TestNode(Self.name(0), harness.configuration)
        Self.settle([old])
        let new = try TestNode(Self.name(1), harness.configuration, rules: 2)
        eventually { old.view?.nodes.contains { $0.node.name == new.name && $0.phase == .member } ?? false }
        #expect(new.starts == 0 && new.view?.partitions.allSatisfy { $0.rules == 1 } == true)
        try old.change(.changeRules(to: 2))
        eventually { new.running.count == Self.partitions && old.running.isEmpty }
        #expect(old.starts == Self.partitions && new.starts == Self.partitions)
        eventually { [old, new].allSatisfy { $0.view?.partitions.allSatisfy { $0.rules == 2 } ?? false } }
        #expect(old.view?.wishedRules == 2)
        for node in [old, new] { node.die() }

        // From the brokers alone. Its owners would find out at their start by what rules outputs go on.
        let later = try TestNode(Self.name(2), harness.configuration, rules: 2)
        Self.settle([later])
        #expect(later.view?.wishedRules == 2)
        later.die()
    }

    @Test func `a snapshot that is there is replaced by its next owner alone`() throws {
        let harness = try Self.harness(try Brokers())
        let id = SnapshotID(partition: PartitionID(0), position: LogPosition(1), logTime: .epoch)
        func write(_ text: String, _ write: (SnapshotID, () throws -> [UInt8]?) throws -> Void) throws {
            var frames = [Array(text.utf8)][...]
            try write(id) { frames.popFirst() }
        }
        func read() throws -> [String] {
            var found: [String] = []
            try harness.own.read(id, wanting: { _ in true }) { found.append(String(decoding: $0, as: UTF8.self)) }
            return found
        }
        try write("by the rules before", harness.own.write)
        try write("by the rules before, later", harness.own.write)
        #expect(try read() == ["by the rules before"])
        try write("by the others", harness.own.replace)
        // A node that was stopped in the middle does not undo it.
        try write("by the rules before, much later", harness.own.write)
        #expect(try read() == ["by the others"])
        try harness.own.setAside(id)
        try write("anew", harness.own.write)
        #expect(try read() == ["anew"])
    }

    @Test func `the later of two nodes with one name is refused, and the other one keeps what it has`() throws {
        let harness = try Self.harness(try Brokers())
        let first = try TestNode(Self.name(0), harness.configuration)
        Self.settle([first])
        let second = try TestNode(Self.name(0), harness.configuration)
        eventually { second.hasLeft }
        #expect(second.refusal == .nameTaken(Self.name(0), address: first.address))
        #expect(second.starts == 0 && first.refusal == nil && first.running.count == Self.partitions)
        first.die()
        second.die()
    }
}

/// Waits until something is so, and fails if that is never.
private func eventually(_ condition: () -> Bool, sourceLocation: SourceLocation = #_sourceLocation) {
    let end = ContinuousClock.now + .seconds(300)
    let pause = DispatchSemaphore(value: 0)
    while !condition() {
        guard ContinuousClock.now < end else {
            Issue.record("it never happens", sourceLocation: sourceLocation)
            return
        }
        // So that brokers have the processor.
        _ = pause.wait(timeout: .now() + .milliseconds(20))
    }
}

/// A node whose owners are nothing but names, with a connection of its own.
private final class TestNode: Sendable {
    private struct State {
        var running: Set<PartitionID> = []
        var starts = 0
        var refusal: NodeError?
        var hasLeft = false
    }

    let name: NodeName
    let address: String
    private let journal: JetStreamJournal
    private let cluster: JetStreamCluster
    private let gate = Gate()
    private let queue = DispatchQueue(label: "node")
    private let state = Mutex(State())

    init(
        _ name: NodeName,
        _ configuration: JetStreamJournal.Configuration,
        _ limits: PlacementMachine.Limits = PlacementMachine.Limits(),
        rules: UInt32 = 1
    ) throws {
        self.name = name
        self.journal = try Harness.open(configuration)
        let number = UInt64.random(in: 0...UInt64.max)
        self.address = "127.0.0.1:\(number)"
        self.cluster = self.journal.makeCluster { [gate = self.gate] in
            gate.pass()
            return JetStreamCluster.uptime()
        }
        let node = ClusterNode(
            name: name,
            incarnation: Incarnation(startedAt: Harness.now(), number: number),
            address: self.address,
            rules: rules
        )
        try self.cluster.join(node, limits: limits) { [weak self] order in
            guard let self else { return }
            self.queue.async { self.follow(order) }
        }
    }

    private func follow(_ order: NodeOrder) {
        switch order {
        case .start(let partition, _):
            self.state.withLock { state in
                state.starts += 1
                state.running.insert(partition)
            }
            self.cluster.tell(.started(partition))
        case .stop(let partition, let manner):
            self.state.withLock { _ = $0.running.remove(partition) }
            if case .behindGate = manner {
                self.cluster.tell(.stopped(partition, .passedGate))
            } else {
                self.cluster.tell(.stopped(partition, .stopped))
            }
        case .standBy(let partition): self.cluster.tell(.standsBy(partition, lag: 0))
        case .standDown: break
        case .refuse(let refusal): self.state.withLock { $0.refusal = refusal }
        case .left: self.state.withLock { $0.hasLeft = true }
        }
    }

    var view: ClusterView? { self.cluster.view }
    var brokers: BrokersView? { self.cluster.brokers }
    var running: Set<PartitionID> { self.state.withLock { $0.running } }
    var starts: Int { self.state.withLock { $0.starts } }
    var refusal: NodeError? { self.state.withLock { $0.refusal } }
    var hasLeft: Bool { self.state.withLock { $0.hasLeft } }

    func stop() { self.gate.isOpen.withLock { $0 = false } }
    func goOn() { self.gate.isOpen.withLock { $0 = true } }
    func change(_ change: PlacementWishes.Change) throws { try self.cluster.change(change) }
    func leave() { self.cluster.tell(.leaving) }

    func die() {
        self.goOn()
        self.cluster.close()
        self.journal.close()
    }

    /// The gate at which the node's clock waits while it is stopped.
    private final class Gate: Sendable {
        let isOpen = Mutex(true)

        func pass() {
            let pause = DispatchSemaphore(value: 0)
            while !self.isOpen.withLock({ $0 }) { _ = pause.wait(timeout: .now() + .milliseconds(20)) }
        }
    }
}
#endif
