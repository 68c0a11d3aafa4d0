import Clustering
import Engine
import Journaling
import Logging
import Ownership
import Partitions
import WidgetModel

/// Starts and ends owners as placement orders, and tells placement the results. It does one thing after the other for
/// each partition.
actor PlacedOwners {
    private let membership: Membership
    private let owners: [PartitionOwner]
    private let readiness: Readiness
    private let logger: Logger
    /// Where an owner writes its last state; nil for nowhere, and then no other rules can go on.
    private let snapshots: (any SnapshotStore)?
    /// The work before an owner starts.
    private let prepare: @Sendable (PartitionID) async throws -> Void
    /// The work after an owner has started, once the gateway serves.
    private var arrive: @Sendable (PartitionID) async -> Void = { _ in }
    /// The timeline providers, once the gateway serves.
    private let providers = Shared<(any NodeProviders)?>(nil)
    /// Forgets the history of this gateway's partitions, once it serves.
    nonisolated let forgetHistory = Shared<ForgetHistory?>(nil)
    private var work: [PartitionID: Task<Void, Never>] = [:]
    /// Partitions whose owners are on their way through a gate, and which placement has not given up meanwhile.
    private var gating: Set<PartitionID> = []
    private let orders: AsyncStream<NodeOrder>
    private let continuation: AsyncStream<NodeOrder>.Continuation
    /// Why one of this gateway's first owners could not start.
    private var startFault: (any Error)?
    private var refusal: NodeError?
    private var hasLeft = false
    private var telling: Task<Void, Never>?
    /// Called when there is a refusal.
    private var onRefusal: (@Sendable () -> Void)?

    init(
        _ membership: Membership,
        _ owners: [PartitionOwner],
        _ readiness: Readiness,
        _ logger: Logger,
        snapshots: (any SnapshotStore)?,
        prepare: @escaping @Sendable (PartitionID) async throws -> Void
    ) {
        self.membership = membership
        self.owners = owners
        self.readiness = readiness
        self.logger = logger
        self.snapshots = snapshots
        self.prepare = prepare
        (self.orders, self.continuation) = AsyncStream.makeStream()
    }

    nonisolated var cluster: any Cluster { self.membership.cluster }

    /// Answers other nodes' questions to the partitions that are here.
    nonisolated func answerOthers() throws {
        let answers = OwnerAnswers(of: self.owners, providers: self.providers, forgetHistory: self.forgetHistory)
        try self.membership.exchange.answer(as: self.membership.node) { await answers.answer($0) }
    }

    /// Joins the cluster, and follows its orders until the node has left.
    func run() async {
        do {
            let orders = self.continuation
            try self.cluster.join(self.membership.node, limits: self.membership.limits) { orders.yield($0) }
        } catch {
            self.startFault = error
            return
        }
        let telling = Task { await self.tellProgress() }
        self.telling = telling
        for await order in self.orders {
            self.follow(order)
            if order == .left { break }
        }
        // No other task may ask owners whose threads are about to end.
        telling.cancel()
    }

    /// Has every partition that starts from now on bring something with it, and the timeline providers answer other nodes.
    func useProviders(_ providers: any NodeProviders, _ arrive: @escaping @Sendable (PartitionID) async -> Void) {
        self.providers.set(providers)
        self.arrive = arrive
    }

    /// Waits until the node is a member, every partition has an owner, and those that are the node's run.
    ///
    /// - Throws: ``NodeError``, or why an owner could not start.
    func settle() async throws {
        let warning = ContinuousClock.now + .milliseconds(self.membership.limits.silence.milliseconds * 5)
        var isWarned = false
        while !self.isSettled {
            if !isWarned, ContinuousClock.now > warning {
                isWarned = true
                self.logger.warning(
                    """
                    the partitions are not shared out yet: this node has to hear itself and the others (the brokers' user must be \
                    allowed to subscribe to freshet.<cluster>.beat), and partitions to be read
                    """
                )
                self.warnOfRules()
            }
            if let refusal = self.refusal { throw refusal }
            if let fault = self.startFault { throw fault }
            try await Task.sleep(for: .milliseconds(self.membership.limits.beat.milliseconds / 10))
        }
    }

    /// Partitions may wait for another version.
    private func warnOfRules() {
        for (rules, partitions) in self.cluster.view?.strandedPartitions ?? [:] {
            self.logger.error(
                """
                partitions go on by decision rules \(rules) (\(Engine.program(of: Int(rules)))), and no node has them: start one \
                node of that version, then run freshet cluster upgrade-rules
                """,
                metadata: ["partitions": "\(partitions.map { "\($0)" }.joined(separator: ", "))"]
            )
        }
    }

    private var isSettled: Bool {
        guard let view = self.cluster.view else { return false }
        let isMember = view.nodes.contains { $0.node == view.own && $0.phase == .member }
        return isMember
            && view.partitions.allSatisfy { seen in
                guard let owner = seen.owner else { return false }
                return owner != view.own || seen.standing == .running
            }
    }

    /// Calls back once, when the cluster has no room for this node: at once, if that is so already.
    func whenRefused(_ body: @escaping @Sendable () -> Void) {
        if self.refusal == nil { self.onRefusal = body } else { body() }
    }

    /// Why the cluster has no room for this node; nil if it has.
    var reason: NodeError? { self.refusal }

    /// Hands over everything, for as long as that may take.
    func leave(within time: Interval) async {
        self.cluster.tell(.leaving)
        let end = ContinuousClock.now + .milliseconds(time.milliseconds)
        while !self.hasLeft, ContinuousClock.now < end {
            // In a task of its own, since the gateway's may have been cancelled.
            await Task { try? await Task.sleep(for: .milliseconds(20)) }.value
        }
        if !self.hasLeft {
            self.logger.warning(
                "some partitions were not handed over in time; other nodes take them once this one is silent"
            )
        }
        if !self.hasLeft { for owner in self.owners { owner.stopNow() } }
        self.close()
        for work in self.work.values { await work.value }
        await self.telling?.value
    }

    /// Ends without a word.
    nonisolated func close() {
        self.cluster.close()
        self.membership.exchange.close()
        self.continuation.finish()
    }

    private func follow(_ order: NodeOrder) {
        switch order {
        case .start(let partition, let epoch): self.then(partition) { await self.start(partition, epoch) }
        case .stop(let partition, .behindGate(let rules)):
            let owner = self.owners[Int(partition.rawValue)]
            self.gating.insert(partition)
            self.then(partition) { await self.passGate(owner, to: rules) }
        case .stop(let partition, let manner):
            let owner = self.owners[Int(partition.rawValue)]
            self.gating.remove(partition)
            if owner.isAway { owner.stop() }
            self.then(partition) { await self.stop(owner, manner) }
        case .standBy(let partition):
            self.then(partition) { await self.standBy(self.owners[Int(partition.rawValue)]) }
        case .standDown(let partition):
            self.then(partition) { await self.owners[Int(partition.rawValue)].standDown() }
        case .refuse(let refusal):
            self.logger.critical("\(refusal)")
            self.refusal = refusal
            self.onRefusal?()
            self.onRefusal = nil
        case .left: self.hasLeft = true
        }
    }

    private func then(_ partition: PartitionID, _ body: @escaping @Sendable () async -> Void) {
        self.work[partition] = Task { [before = self.work[partition]] in
            await before?.value
            await body()
        }
    }

    private func start(_ partition: PartitionID, _ epoch: Epoch) async {
        let owner = self.owners[Int(partition.rawValue)]
        // It has a state by this program's rules.
        let isStandby = (try? await owner.standbyProgress()) != nil
        do {
            // For a standby, too: it may have missed that other rules decided for a while, and left their snapshot.
            try await self.prepare(partition)
            let progress = ReplayProgress(partition, of: self.owners.count, self.readiness, self.logger)
            let replayed = try await owner.start { progress.noteApplied($0, through: $1) }
            self.readiness.progress = nil
            self.cluster.tell(.started(partition))
            self.logger.notice(
                "this node owns the partition",
                metadata: ["partition": "\(partition)", "epoch": "\(epoch)", "replayed": "\(replayed)"]
            )
            await self.arrive(partition)
        } catch {
            await owner.giveUpStart()
            // The standby's state is dropped, and the next start begins with a snapshot.
            let end = isStandby && StandbyEnd(error) == .disagreed ? .unavailable : OwnerEnd(error)
            if case .otherRules(let rules) = end {
                self.logger.warning("\(error)", metadata: ["rules": "\(rules)"])
            } else if end == .failed {
                self.startFault = self.startFault ?? error
                self.readiness.set(.partitions, met: false)
                self.logger.critical("partition \(partition) cannot start: \(error)")
            }
            self.cluster.tell(.stopped(partition, end))
        }
    }

    private func stop(_ owner: PartitionOwner, _ manner: StopManner) async {
        let wasHere = !owner.isAway
        await owner.leave(committing: manner == .committed)
        self.cluster.tell(.stopped(owner.partition, .stopped))
        guard wasHere else { return }
        self.logger.notice(
            manner == .committed ? "the partition is handed over" : "another node has the partition",
            metadata: ["partition": "\(owner.partition)"]
        )
    }

    private func passGate(_ owner: PartitionOwner, to rules: UInt32) async {
        let partition = owner.partition
        self.logger.notice(
            "the partition passes to other decision rules: it decides nothing until its snapshot is written",
            metadata: ["partition": "\(partition)", "rules": "\(rules)"]
        )
        guard let snapshots = self.snapshots else { return await self.stop(owner, .committed) }
        let outcome = await owner.passGate(to: Int(rules), in: snapshots)
        // A stop that was ordered meanwhile is carried out, and told, in its turn.
        guard self.gating.remove(partition) != nil else { return }
        switch outcome {
        case .passed:
            self.cluster.tell(.stopped(partition, .passedGate))
            self.logger.notice("the partition has passed the gate", metadata: ["partition": "\(partition)"])
        case .gaveUp(let error):
            self.cluster.tell(.stopped(partition, .unavailable))
            self.logger.error(
                "the partition's state could not be written down: the rules before go on, and it is tried again",
                metadata: ["partition": "\(partition)", "error": "\(error)"]
            )
        case .ended: return
        }
    }

    private func standBy(_ owner: PartitionOwner) async {
        do {
            try await owner.standBy()
            await self.tellStandby(owner)
        } catch {
            self.logger.warning(
                "this node cannot stand by for a partition yet",
                metadata: ["partition": "\(owner.partition)", "error": "\(error)"]
            )
            self.cluster.tell(.standbyEnded(owner.partition, StandbyEnd(error)))
        }
    }

    /// Tells others how far a standby is, if that is one, or that it has ended.
    private func tellStandby(_ owner: PartitionOwner) async {
        do {
            guard let progress = try await owner.standbyProgress() else { return }
            self.cluster.tell(.standsBy(owner.partition, lag: progress.lag))
        } catch {
            self.cluster.tell(.standbyEnded(owner.partition, StandbyEnd(error)))
        }
    }

    /// Tells others how far the owners and standbys are, for people to see.
    private func tellProgress() async {
        while !Task.isCancelled {
            for owner in self.owners { await self.tellStandby(owner) }
            for owner in self.owners where !owner.isAway {
                guard let progress = try? await owner.progress() else { continue }
                self.cluster.tell(.reached(owner.partition, progress.applied))
            }
            try? await Task.sleep(for: .milliseconds(self.membership.limits.beat.milliseconds))
        }
    }
}

extension StandbyEnd {
    /// The meaning of a standby's error for placement.
    init(_ error: any Error) {
        if case OwnerError.engineDisagrees = error { self = .disagreed } else { self = .failed }
    }
}

extension OwnerEnd {
    /// The meaning of an owner's error for placement.
    init(_ error: any Error) {
        if let error = error as? OwnerError, error.isShutdown {
            self = .stopped
        } else if case OwnerError.decidedByOthers(_, let rules) = error {
            self = .otherRules(UInt32(clamping: rules))
        } else if case OwnerError.aheadOfOutputs = error {
            self = .unavailable
        } else if let error = error as? JournalError {
            switch error.code {
            case .fenced: self = .fenced
            case .corrupt, .formatMismatch, .invalid: self = .failed
            default: self = .unavailable
            }
        } else {
            self = .failed
        }
    }
}
