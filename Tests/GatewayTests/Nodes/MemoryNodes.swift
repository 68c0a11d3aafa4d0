import Clustering
import Engine
import Ingest
import Journaling
import Logging
import NIOPosix
import OperatorAPI
import Partitions
import Serving
import Synchronization
import TestSupport
import WidgetModel

/// The network between nodes: which node has which partition, and which nodes hear each other. Messages are calls.
final class MemoryNodes: Sendable {
    private struct State {
        var owners: [PartitionID: ClusterNode] = [:]
        var bodies: [Incarnation: @Sendable (NodeQuestion) async -> NodeAnswer] = [:]
        var silent: Set<Incarnation> = []
        var cutOff: Set<Incarnation> = []
        var asked = 0
    }

    /// As of `JetStreamExchange`.
    private static let questionBytesMax = 1_000_000

    private let state = Mutex(State())

    /// How many questions went from node to node.
    var asked: Int { self.state.withLock { $0.asked } }

    func owner(of partition: PartitionID) -> ClusterNode? { self.state.withLock { $0.owners[partition] } }
    func setOwner(_ node: ClusterNode?, of partition: PartitionID) {
        self.state.withLock { $0.owners[partition] = node }
    }

    func silence(_ node: ClusterNode) { self.state.withLock { _ = $0.silent.insert(node.incarnation) } }
    func hear(_ node: ClusterNode) { self.state.withLock { _ = $0.silent.remove(node.incarnation) } }

    func cutOff(_ node: ClusterNode) { self.state.withLock { _ = $0.cutOff.insert(node.incarnation) } }
    func connect(_ node: ClusterNode) { self.state.withLock { _ = $0.cutOff.remove(node.incarnation) } }
    func isCutOff(_ node: ClusterNode) -> Bool { self.state.withLock { $0.cutOff.contains(node.incarnation) } }

    func answer(as node: ClusterNode, _ body: @escaping @Sendable (NodeQuestion) async -> NodeAnswer) {
        self.state.withLock { $0.bodies[node.incarnation] = body }
    }

    func ask(_ node: ClusterNode, _ question: NodeQuestion) async -> NodeAnswer {
        guard question.bytes.count <= Self.questionBytesMax else { return .tooLong }
        let body = self.state.withLock { state in
            state.asked += 1
            return state.silent.contains(node.incarnation) ? nil : state.bodies[node.incarnation]
        }
        return await body?(question) ?? .silence
    }

    /// One node's side.
    struct Side: Cluster, NodeExchange {
        let nodes: MemoryNodes
        let node: ClusterNode

        func join(
            _ node: ClusterNode,
            limits: PlacementMachine.Limits,
            follow: @escaping @Sendable (NodeOrder) -> Void
        ) {}
        func tell(_ news: NodeNews) {}
        var view: ClusterView? { nil }
        var isCutOff: Bool { self.nodes.isCutOff(self.node) }
        var brokers: BrokersView? { nil }
        var clockTroubles: [ClockTrouble] { [] }
        var losses: Int { 0 }
        func change(_ change: PlacementWishes.Change) {}
        func announce(_ announcement: [UInt8]) {}
        func watch(_ take: @escaping @Sendable ([UInt8]) -> Void) {}
        func owner(of partition: PartitionID) -> ClusterNode? { self.nodes.owner(of: partition) }
        func close() {}

        func ask(_ node: ClusterNode, _ question: NodeQuestion) async -> NodeAnswer {
            await self.nodes.ask(node, question)
        }
        func answer(
            as node: ClusterNode,
            _ body: @escaping @Sendable (NodeQuestion) async -> NodeAnswer
        ) { self.nodes.answer(as: node, body) }
    }
}

/// A node with owners of its own on a log that it shares.
final class MemoryNode: Sendable {
    let node: ClusterNode
    let owners: [PartitionOwner]
    let directory: HostDirectory
    let log: CommandLog
    /// The same log, which gives up at once.
    let impatientLog: CommandLog
    let providers = Shared<(any NodeProviders)?>(nil)
    let forgetHistory = Shared<ForgetHistory?>(nil)
    let feed = OperatorFeed(epoch: 0)
    let auditArchive = MemoryArchive()
    let audit: OperatorAudit
    private let nodes: MemoryNodes
    private let journal: MemoryJournal

    init(
        _ number: UInt64,
        _ journal: MemoryJournal,
        _ nodes: MemoryNodes,
        _ time: FakeTime,
        limits: OtherNodes.Limits,
        snapshots: MemorySnapshots? = nil,
        rules: Int = 1
    ) {
        let partitions = journal.format.partitions
        let name = "node-\(number)"
        self.node = ClusterNode(
            name: NodeName(name)!,
            incarnation: Incarnation(startedAt: time.wall, number: number),
            address: "\(name):443",
            rules: UInt32(rules)
        )
        let side = MemoryNodes.Side(nodes: nodes, node: self.node)
        let directory = HostDirectory(seed: number, apps: [Sports.app], absent: partitions) { side.isCutOff }
        let membership = Membership(side, side, as: self.node)
        let services = PartitionOwner.Services(
            journal: journal,
            snapshots: snapshots,
            clock: time.makeClock(),
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
            elsewhere: membership.elsewhere,
            rules: rules
        )
        self.audit = Self.audit(journal, self.auditArchive, self.feed)
        let sinks = PartitionOwner.Sinks(
            hosts: { partition, engine in directory.takeTokens(engine, partition) },
            directory: { partition, changes in directory.apply(changes, partition) },
            arrived: { _ in directory.noteArrival() },
            left: { directory.leave($0, wasKnown: $1) },
            failed: { _, _ in }
        )
        self.owners = (0..<partitions).map { number in
            PartitionOwner(
                engine: Engine(partition: PartitionID(UInt16(number)), partitions: partitions, rules: rules),
                partition: PartitionID(UInt16(number)),
                loop: MultiThreadedEventLoopGroup.singleton.next(),
                services: services,
                sinks: sinks
            )
        }
        self.directory = directory
        self.log = CommandLog(
            journal: journal,
            owners: self.owners,
            nodes: OtherNodes(membership, limits: limits)
        )
        var impatient = OtherNodes.Limits()
        (impatient.question, impatient.answer) = (.milliseconds(1), .milliseconds(1))
        self.impatientLog = CommandLog(
            journal: journal,
            owners: self.owners,
            nodes: OtherNodes(membership, limits: impatient)
        )
        self.nodes = nodes
        self.journal = journal
        let answers = OwnerAnswers(
            of: self.owners,
            providers: self.providers,
            forgetHistory: self.forgetHistory
        )
        nodes.answer(as: self.node) { await answers.answer($0) }
    }

    private static func audit(_ journal: MemoryJournal, _ archive: MemoryArchive, _ feed: OperatorFeed) -> OperatorAudit
    {
        OperatorAudit(
            archive: archive,
            history: { journal },
            shared: journal,
            feed: feed,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        )
    }

    /// The audit of the node's next process.
    var restartedAudit: OperatorAudit { Self.audit(self.journal, self.auditArchive, OperatorFeed(epoch: 1)) }

    /// - Returns: How many entries were replayed.
    @discardableResult func take(_ partition: PartitionID) async throws -> Int {
        self.nodes.setOwner(self.node, of: partition)
        return try await self.owners[Int(partition.rawValue)].start { _, _ in }
    }

    /// Tells its standby of a partition the committed outputs, perhaps once more.
    func hear(_ partition: PartitionID) throws {
        for output in try self.journal.readOutputs(partition, from: .first, outputsMax: 1000) {
            self.owners[Int(partition.rawValue)].noteOutput(output)
        }
    }

    func give(_ partition: PartitionID, committing isCommitting: Bool = true) async {
        await self.owners[Int(partition.rawValue)].leave(committing: isCommitting)
    }
}
