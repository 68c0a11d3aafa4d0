import Clustering
import TestSupport
import WidgetModel

/// Nodes of a cluster in virtual time: beats that come late or never, brokers that do not answer, nodes that die or stop for a
/// while, owners that take their time.
struct SimulatedCluster {
    static let partitions = 8

    /// The faults, and how often they happen, in percent.
    struct Faults {
        var lostBeats = 0
        var failedRequests = 0
        var failedStarts = 0
        /// The longest time that anything takes, in milliseconds.
        var delayMax = 20
    }

    final class Node {
        var machine: PlacementMachine
        var isDead = false
        var isPaused = false
        var hasLeft = false
        var refusal: NodeError?
        /// The events that came while it was paused.
        var waiting: [Event] = []
        /// Owners by partition: their epoch, and whether they have started.
        var owners: [PartitionID: (epoch: Epoch, isRunning: Bool)] = [:]
        /// Its standbys by partition: the number, and whether the state is read.
        var standbys: [PartitionID: (number: Int, isFollowing: Bool)] = [:]

        init(_ machine: PlacementMachine) { self.machine = machine }

        var name: NodeName { self.machine.own.name }
    }

    enum Event {
        case tick
        case beat(Beat)
        case read([Claim?]?, PlacementWishes)
        case claimed(PartitionID, ClaimOutcome)
        case released(PartitionID, ClaimOutcome)
        case rules(PartitionID, Epoch?, UInt32?)
        case started(PartitionID, Epoch)
        case stopped(PartitionID, Epoch, OwnerEnd)
        case follows(PartitionID, Int)
        case gate(PartitionID, Epoch, to: UInt32)
    }

    /// A message on its way.
    private struct Message {
        let at: Int64
        let node: Node
        let event: Event
    }

    private(set) var nodes: [Node] = []
    var faults = Faults()
    var random: SplitMix64
    private(set) var now: Int64 = 0
    /// As the brokers have them.
    private(set) var claims: [Claim?] = Array(repeating: nil, count: Self.partitions)
    /// The rules that the newest output of each partition names; nil before the first.
    private(set) var rules: [UInt32?] = Array(repeating: nil, count: Self.partitions)
    /// The note of what operators want.
    private(set) var wishes = PlacementWishes()
    /// The node that made each claim.
    private var makers: [Epoch: ClusterNode] = [:]
    private var epoch: UInt64 = 0
    /// The next message is the last.
    private var messages: [Message] = []
    /// Owners that started, since this was emptied.
    var starts: [(node: NodeName, partition: PartitionID)] = []
    /// How many of them went on from a standby of the owner before.
    var startsFromStandby = 0
    private var standbyCount = 0
    /// How often a partition passed to other rules.
    private(set) var gates = 0
    /// Acts that no node may do.
    private(set) var faultsFound: [String] = []

    init(seed: UInt64) { self.random = SplitMix64(seed: seed) }

    static func name(_ number: Int) -> NodeName { NodeName("node-\(number)")! }

    /// Has other things go wrong from now on.
    mutating func drawFaults() {
        self.faults.lostBeats = [0, 0, 5, 40].randomElement(using: &self.random)!
        self.faults.failedRequests = [0, 0, 10, 100].randomElement(using: &self.random)!
        self.faults.failedStarts = [0, 10].randomElement(using: &self.random)!
        self.faults.delayMax = [5, 50, 400].randomElement(using: &self.random)!
    }

    // MARK: Starts, ends and orders

    @discardableResult
    mutating func start(
        _ name: NodeName,
        rules: UInt32 = 1,
        standsBy: Bool = true,
        memory: Interval = .seconds(3600)
    ) -> Node {
        let own = ClusterNode(
            name: name,
            incarnation: Incarnation(startedAt: Instant(milliseconds: self.now), number: self.random.next()),
            address: "\(name):\(self.nodes.count)",
            rules: rules
        )
        var limits = PlacementMachine.Limits()
        (limits.standsBy, limits.memory) = (standsBy, memory)
        let now = Instant(milliseconds: self.now)
        let node = Node(PlacementMachine(own, partitions: Self.partitions, limits: limits, now: now))
        self.nodes.append(node)
        self.put(.tick, to: node, after: 0)
        return node
    }

    var living: [Node] { self.nodes.filter { !$0.isDead && !$0.hasLeft } }

    func kill(_ node: Node) { node.isDead = true }
    func pause(_ node: Node) { node.isPaused = true }

    mutating func resume(_ node: Node) {
        node.isPaused = false
        for event in node.waiting { self.put(event, to: node, after: 0) }
        node.waiting = []
    }

    mutating func leave(_ node: Node) {
        node.machine.leave()
        self.perform(node)
    }

    /// An operator's order, at one of the nodes.
    mutating func order(_ change: PlacementWishes.Change, at node: Node? = nil) {
        self.epoch += 1
        self.wishes.apply(change)
        self.wishes.version = self.epoch
        guard let node = node ?? self.living.first(where: { !$0.isPaused }) else { return }
        node.machine.wished(self.wishes)
        self.perform(node)
    }

    /// The node that is to have a partition while all living nodes are there.
    func first(for partition: PartitionID) -> NodeName? {
        let rules = self.rules[Int(partition.rawValue)]
        let nodes = self.living.filter { rules == nil || $0.machine.own.rules == rules }
        let ranking = Rendezvous.ranking(of: nodes.map(\.name), for: partition)
        return self.wishes.ranking(ranking, for: partition).first
    }

    /// The outputs' fence ends one of the owners of a partition.
    mutating func fence(_ node: Node, _ partition: PartitionID) {
        guard let owner = node.owners[partition] else { return }
        self.put(.stopped(partition, owner.epoch, .fenced), to: node, after: 0)
    }

    /// The nodes that follow the owner of a partition.
    func followers(of partition: PartitionID) -> [NodeName] {
        self.living.filter { $0.standbys[partition]?.isFollowing ?? false }.map(\.name)
    }

    /// The nodes with a running owner of a partition.
    func owners(of partition: PartitionID) -> [Node] { self.living.filter { $0.owners[partition]?.isRunning ?? false } }

    // MARK: Time

    mutating func run(milliseconds: Int64) {
        let end = self.now + milliseconds
        while let message = self.messages.last, message.at <= end {
            self.messages.removeLast()
            self.now = message.at
            if message.node.isDead || message.node.hasLeft { continue }
            if message.node.isPaused {
                message.node.waiting.append(message.event)
            } else {
                self.handle(message.event, message.node)
            }
        }
        self.now = end
    }

    private mutating func put(_ event: Event, to node: Node, after delay: Int64) {
        let at = self.now + delay
        // Behind all that comes by then.
        var (low, high) = (0, self.messages.count)
        while low < high {
            let middle = (low + high) / 2
            if self.messages[middle].at > at { low = middle + 1 } else { high = middle }
        }
        self.messages.insert(Message(at: at, node: node, event: event), at: low)
    }

    private mutating func delay() -> Int64 { Int64.random(in: 1...Int64(self.faults.delayMax), using: &self.random) }
    private mutating func happens(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &self.random) < percent }

    // MARK: Nodes

    private mutating func handle(_ event: Event, _ node: Node) {
        let time = Instant(milliseconds: self.now)
        switch event {
        case .tick:
            node.machine.pass(to: time)
            self.put(.tick, to: node, after: 100)
        case .beat(let beat): node.machine.heard(beat, at: time)
        case .read(let claims, let wishes): node.machine.claimsRead(claims, wishes)
        case .claimed(let partition, let outcome): node.machine.claimed(partition, outcome)
        case .released(let partition, let outcome): node.machine.released(partition, outcome)
        case .rules(let partition, let epoch, let rules): node.machine.rulesRead(partition, behind: epoch, rules)
        case .started(let partition, let epoch):
            guard node.owners[partition]?.epoch == epoch else { return }
            let rules = self.rules[Int(partition.rawValue)]
            if let rules, rules != node.machine.own.rules {
                node.owners[partition] = nil
                node.machine.ownerStopped(partition, .otherRules(rules))
            } else if self.happens(self.faults.failedStarts) {
                node.owners[partition] = nil
                node.machine.ownerStopped(partition, .unavailable)
            } else {
                node.owners[partition]?.isRunning = true
                self.rules[Int(partition.rawValue)] = node.machine.own.rules
                self.starts.append((node.name, partition))
                node.machine.ownerStarted(partition)
            }
        case .follows(let partition, let number):
            guard node.standbys[partition]?.number == number else { return }
            let isOwn = self.rules[Int(partition.rawValue)].map { $0 == node.machine.own.rules } ?? true
            if !isOwn || self.happens(self.faults.failedStarts) {
                node.standbys[partition] = nil
                node.machine.standbyEnded(partition, .failed)
            } else {
                node.standbys[partition]?.isFollowing = true
                node.machine.standbyFollows(partition, lag: 0)
            }
        case .stopped(let partition, let epoch, let end):
            guard node.owners[partition]?.epoch == epoch else { return }
            node.owners[partition] = nil
            node.machine.ownerStopped(partition, end)
        case .gate(let partition, let epoch, let rules):
            guard node.owners[partition]?.epoch == epoch else { return }
            if self.happens(self.faults.failedStarts) {
                self.put(.stopped(partition, epoch, .unavailable), to: node, after: self.delay())
            } else if self.rules[Int(partition.rawValue)] != node.machine.own.rules {
                // Another one was faster: the fence.
                self.put(.stopped(partition, epoch, .fenced), to: node, after: self.delay())
            } else {
                self.rules[Int(partition.rawValue)] = rules
                self.gates += 1
                // It may die before it can say so.
                self.put(.stopped(partition, epoch, .passedGate), to: node, after: 5 * self.delay())
            }
        }
        self.perform(node)
    }

    private mutating func perform(_ node: Node) {
        for action in node.machine.takeActions() { self.perform(action, node) }
    }

    private mutating func perform(_ action: PlacementAction, _ node: Node) {
        switch action {
        case .beat(let beat):
            for other in self.living where !self.happens(self.faults.lostBeats) {
                self.put(.beat(beat), to: other, after: self.delay())
            }
        case .readClaims:
            let isAnswered = !self.happens(self.faults.failedRequests)
            self.put(.read(isAnswered ? self.claims : nil, self.wishes), to: node, after: self.delay())
        case .claim(let partition, let epoch):
            let outcome = self.store(partition, behind: epoch) { Claim(epoch: $0, node: node.machine.own) }
            self.put(.claimed(partition, outcome), to: node, after: self.delay())
        case .release(let partition, let epoch, let release):
            if self.makers[epoch] != node.machine.own { self.fault(node, "released \(partition) of another") }
            let outcome = self.store(partition, behind: epoch) {
                Claim(epoch: $0, node: node.machine.own, release)
            }
            self.put(.released(partition, outcome), to: node, after: self.delay())
        case .startOwner(let partition, let epoch):
            if self.makers[epoch] != node.machine.own { self.fault(node, "started \(partition) of another") }
            if node.owners[partition] != nil { self.fault(node, "started \(partition) twice") }
            node.owners[partition] = (epoch, false)
            if node.standbys.removeValue(forKey: partition)?.isFollowing ?? false { self.startsFromStandby += 1 }
            self.put(.started(partition, epoch), to: node, after: 5 * self.delay())
        case .readRules(let partition, let epoch):
            let rules = self.happens(self.faults.failedRequests) ? nil : self.rules[Int(partition.rawValue)]
            self.put(.rules(partition, epoch, rules), to: node, after: self.delay())
        case .stopOwner(let partition, let manner):
            guard let owner = node.owners[partition] else {
                return self.fault(node, "stopped \(partition) for nothing")
            }
            if case .behindGate(let rules) = manner {
                if rules == node.machine.own.rules { self.fault(node, "passes \(partition) to its own rules") }
                return self.put(.gate(partition, owner.epoch, to: rules), to: node, after: 5 * self.delay())
            }
            self.put(.stopped(partition, owner.epoch, .stopped), to: node, after: self.delay())
        case .startStandby(let partition):
            if node.owners[partition] != nil { self.fault(node, "follows \(partition), which it has") }
            if node.standbys[partition] != nil { self.fault(node, "follows \(partition) twice") }
            if node.standbys.values.contains(where: { !$0.isFollowing }) {
                self.fault(node, "reads the states of two partitions at once")
            }
            self.standbyCount += 1
            node.standbys[partition] = (self.standbyCount, false)
            self.put(.follows(partition, self.standbyCount), to: node, after: 5 * self.delay())
        case .stopStandby(let partition):
            if node.standbys.removeValue(forKey: partition) == nil { self.fault(node, "ends nothing of \(partition)") }
        case .refuse(let refusal): node.refusal = refusal
        case .left:
            if !node.owners.isEmpty { self.fault(node, "left with owners") }
            if !node.standbys.isEmpty { self.fault(node, "left with standbys") }
            node.hasLeft = true
        }
    }

    private mutating func fault(_ node: Node, _ text: String) { self.faultsFound.append("\(node.name) \(text)") }

    private mutating func store(_ partition: PartitionID, behind epoch: Epoch?, _ claim: (Epoch) -> Claim)
        -> ClaimOutcome
    {
        if self.happens(self.faults.failedRequests) { return .notStored }
        let index = Int(partition.rawValue)
        guard self.claims[index]?.epoch == epoch else { return .lost(self.claims[index]) }
        // Other notes are in the same stream.
        self.epoch += UInt64.random(in: 1...3, using: &self.random)
        let made = claim(Epoch(self.epoch))
        self.claims[index] = made
        self.makers[made.epoch] = made.node
        return .stored(made.epoch)
    }
}
