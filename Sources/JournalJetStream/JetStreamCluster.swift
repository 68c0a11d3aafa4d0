#if JetStream
package import Clustering
import Dispatch
import JournalStreams
package import Journaling
import Synchronization
package import WidgetModel

/// The nodes that have one log on NATS JetStream open: beats are messages that nothing stores, claims are notes of the log's.
package final class JetStreamCluster: Cluster {
    private struct Joined {
        var machine: PlacementMachine
        let follow: @Sendable (NodeOrder) -> Void
    }

    private enum Request: Sendable {
        case readClaims
        case claim(PartitionID, behind: Epoch?)
        case release(PartitionID, behind: Epoch, Release)
        case readRules(PartitionID, behind: Epoch?)
    }

    private static let publishMilliseconds = 2000
    private static let watchMilliseconds = 500

    private let core: OpenLog
    private let watch: BrokerWatch
    /// By a clock that only goes forward.
    private let now: @Sendable () -> Instant
    private let joined = Mutex<Joined?>(nil)
    private let requests = WorkBox<Request>()
    private let isClosed = Atomic<Bool>(false)
    /// Tells its own announcements from those of other nodes.
    private let number = UInt64.random(in: .min ... .max)
    private let threads = ThreadGroup()

    init(_ core: OpenLog, now: @escaping @Sendable () -> Instant) {
        self.core = core
        self.watch = BrokerWatch(core)
        self.now = now
    }

    package func owner(of partition: PartitionID) -> ClusterNode? {
        self.joined.withLock { $0?.machine.owner(of: partition) }
    }

    package var isCutOff: Bool {
        let now = self.now()
        return self.joined.withLock { $0?.machine.isCutOff(at: now) ?? false }
    }

    package var view: ClusterView? { self.joined.withLock { $0?.machine.view } }
    package var brokers: BrokersView? { self.watch.latest }
    package var clockTroubles: [ClockTrouble] { self.core.clockTroubles }
    package var losses: Int { self.core.losses }

    package func join(
        _ node: ClusterNode,
        limits: PlacementMachine.Limits,
        follow: @escaping @Sendable (NodeOrder) -> Void
    ) throws(JournalError) {
        self.joined.withLock { joined in
            precondition(joined == nil, "a node joins once")
            let partitions = self.core.format.partitions
            let machine = PlacementMachine(node, partitions: partitions, limits: limits, now: self.now())
            joined = Joined(machine: machine, follow: follow)
        }
        // A quarter of a beat, so that beats are told in time.
        let wait = max(1, Int(limits.beat.milliseconds / 4))
        try self.threads.start("cluster-beat") { self.listen(waitMilliseconds: wait) }
        try self.threads.start("cluster-claim") {
            while let group = self.requests.next() { for request in group { self.carryOut(request) } }
        }
        try self.threads.start("cluster-brokers") { self.watch.run { self.isOver } }
    }

    package func tell(_ news: NodeNews) {
        self.update { machine in
            switch news {
            case .started(let partition): machine.ownerStarted(partition)
            case .stopped(let partition, let end): machine.ownerStopped(partition, end)
            case .standsBy(let partition, let lag): machine.standbyFollows(partition, lag: lag)
            case .standbyEnded(let partition, let end): machine.standbyEnded(partition, end)
            case .reached(let partition, let applied): machine.ownerReached(partition, applied)
            case .reports(let report): machine.reports(report)
            case .leaving: machine.leave()
            }
        }
    }

    // MARK: Announcements

    package func announce(_ announcement: [UInt8]) {
        guard self.joined.withLock({ $0?.machine.hasPeers ?? false }) else { return }
        let subject = self.core.names.announcements
        self.core.broker.tell(
            AnnouncementMessage.bytes(announcement, by: self.number, self.core.journalID, in: subject),
            to: subject
        )
    }

    package func watch(_ take: @escaping @Sendable ([UInt8]) -> Void) throws(JournalError) {
        try self.threads.start("cluster-announce") {
            let subject = self.core.names.announcements
            self.listen(to: subject, waitMilliseconds: Self.watchMilliseconds) { told in
                guard let told, let heard = try? AnnouncementMessage.read(told, self.core.journalID, in: subject),
                    heard.node != self.number
                else { return }
                take(heard.announcement)
            }
        }
    }

    package func close() {
        self.isClosed.store(true, ordering: .relaxed)
        self.requests.close()
        self.threads.join()
    }

    private var isOver: Bool { self.isClosed.load(ordering: .relaxed) || self.core.isClosed }

    // MARK: Threads

    /// Hands on the messages to a subject, and nil when none has come for a while, until this is over.
    private func listen(to subject: String, waitMilliseconds: Int, _ take: ([UInt8]?) -> Void) {
        self.core.listen(to: subject, waitMilliseconds: waitMilliseconds, until: { self.isOver }) { take($0?.bytes) }
    }

    private func listen(waitMilliseconds: Int) {
        let subject = self.core.names.beats
        self.listen(to: subject, waitMilliseconds: waitMilliseconds) { told in
            // A message of another log, or of a newer program, is not for this node.
            if let told, let beat = try? BeatMessage.beat(told, self.core.journalID, in: subject) {
                let now = self.now()
                self.update { $0.heard(beat, at: now) }
            }
            let now = self.now()
            self.update { $0.pass(to: now) }
        }
    }

    /// Passes an event to the machine, and carries out its actions. Under its lock, so that all is done in its order.
    private func update(_ body: (inout PlacementMachine) -> Void) {
        self.joined.withLock { joined in
            guard joined != nil, !self.isOver else { return }
            body(&joined!.machine)
            for action in joined!.machine.takeActions() { self.perform(action, joined!.follow, joined!.machine.own) }
        }
    }

    private func perform(_ action: PlacementAction, _ follow: (NodeOrder) -> Void, _ own: ClusterNode) {
        switch action {
        case .beat(let beat):
            let subject = self.core.names.beats
            self.core.broker.tell(BeatMessage.bytes(beat, self.core.journalID, in: subject), to: subject)
        case .readClaims: _ = self.requests.add(.readClaims)
        case .claim(let partition, let epoch): _ = self.requests.add(.claim(partition, behind: epoch))
        case .release(let partition, let epoch, let release):
            _ = self.requests.add(.release(partition, behind: epoch, release))
        case .readRules(let partition, let epoch): _ = self.requests.add(.readRules(partition, behind: epoch))
        case .startOwner(let partition, let epoch): follow(.start(partition, epoch))
        case .stopOwner(let partition, let manner): follow(.stop(partition, manner))
        case .startStandby(let partition): follow(.standBy(partition))
        case .stopStandby(let partition): follow(.standDown(partition))
        case .refuse(let refusal): follow(.refuse(refusal))
        case .left: follow(.left)
        }
    }

    // MARK: Claims

    private func carryOut(_ request: Request) {
        guard let own = self.joined.withLock({ $0?.machine.own }) else { return }
        switch request {
        case .readClaims:
            let (claims, wishes) = (self.readAll(), try? self.readWishes())
            self.update { machine in
                guard let claims, let wishes else { return machine.claimsRead(nil) }
                machine.claimsRead(claims, wishes)
            }
        case .claim(let partition, let epoch):
            let outcome = self.store(.claim, of: partition, by: own, behind: epoch)
            self.update { $0.claimed(partition, outcome) }
        case .release(let partition, let epoch, let release):
            let outcome = self.store(.release(release), of: partition, by: own, behind: epoch)
            self.update { $0.released(partition, outcome) }
        case .readRules(let partition, let epoch):
            let rules = self.readRules(of: partition, own)
            self.update { $0.rulesRead(partition, behind: epoch, rules) }
        }
    }

    private func readAll() -> [Claim?]? {
        do throws(JournalError) {
            var claims: [Claim?] = []
            for partition in self.core.partitions { claims.append(try self.read(partition)) }
            return claims
        } catch {
            return nil
        }
    }

    private func read(_ partition: PartitionID) throws(JournalError) -> Claim? {
        let subject = self.core.names.claim(partition)
        guard let message = try self.core.broker.newest(in: self.core.names.notes, of: subject) else { return nil }
        do throws(MessageError) {
            return try ClaimMessage.claim(message, self.core.journalID, in: subject)
        } catch {
            throw JournalError(.corrupt, "the claim of partition \(partition) is damaged: \(error.sentence)")
        }
    }

    /// The rules that the newest output of a partition names; those of any node where nothing is decided yet, nil if no broker
    /// answers.
    private func readRules(of partition: PartitionID, _ own: ClusterNode) -> UInt32? {
        let (stream, subject) = (self.core.names.output(partition), self.core.names.outputs(partition))
        do {
            guard let message = try self.core.broker.newest(in: stream, of: subject) else { return own.rules }
            return try OutputMessage.record(message.bytes, self.core.journalID, in: stream).engineVersion
        } catch {
            return nil
        }
    }

    // MARK: Wishes

    package func change(_ change: PlacementWishes.Change) throws(JournalError) {
        let wishes = try self.core.persist { () throws(JournalError) in try self.store(change) }
        self.update { $0.wished(wishes) }
    }

    /// Stores a change behind the newest note. Where that is another one meanwhile, or it is not known whether it was stored, the
    /// caller tries again: a change that is made twice is made once.
    private func store(_ change: PlacementWishes.Change) throws(JournalError) -> PlacementWishes {
        let subject = self.core.names.wishes
        let known = try self.readWishes()
        var wishes = known
        wishes.apply(change)
        guard wishes != known else { return known }
        let bytes = WishesMessage.bytes(wishes, self.core.journalID, in: subject)
        switch self.core.broker.publish(
            bytes,
            to: subject,
            .lastOfSubject(known.version),
            waitMilliseconds: Self.publishMilliseconds
        ) {
        case .stored(let sequence):
            wishes.version = sequence
            return wishes
        case .refused(let error): throw error
        case .otherEnd: throw JournalError(.unavailable, "another operator has changed something at the same time")
        case .notTaken(let text), .unknown(let text): throw JournalError(.unavailable, "note \(subject): \(text)")
        }
    }

    private func readWishes() throws(JournalError) -> PlacementWishes {
        let subject = self.core.names.wishes
        guard let message = try self.core.broker.newest(in: self.core.names.notes, of: subject) else {
            return PlacementWishes()
        }
        do throws(MessageError) {
            return try WishesMessage.wishes(message, self.core.journalID, in: subject)
        } catch {
            throw JournalError(.corrupt, "the note of the operators' wishes is damaged: \(error.sentence)")
        }
    }

    /// Stores a claim if the newest one is as expected. Once it may have been stored, it is tried until that is known.
    private func store(
        _ content: ClaimMessage.Content,
        of partition: PartitionID,
        by own: ClusterNode,
        behind epoch: Epoch?
    ) -> ClaimOutcome {
        let subject = self.core.names.claim(partition)
        let bytes = ClaimMessage.bytes(content, by: own, self.core.journalID, in: subject)
        let expected = epoch?.rawValue ?? 0
        var isOpen = false
        while !self.isOver {
            let outcome = self.core.broker.publish(
                bytes,
                to: subject,
                .lastOfSubject(expected),
                waitMilliseconds: Self.publishMilliseconds
            )
            switch outcome {
            case .stored(let sequence): return .stored(Epoch(sequence))
            case .otherEnd:
                do throws(JournalError) {
                    let newest = try self.core.broker.newest(in: self.core.names.notes, of: subject)
                    // An earlier attempt was stored, and the answer never came.
                    if isOpen, let newest, newest.sequence > expected, newest.bytes == bytes {
                        return .stored(Epoch(newest.sequence))
                    }
                    return .lost(try self.read(partition))
                } catch {
                    if error.code == .corrupt { return .notStored }
                }
            case .refused, .notTaken: if !isOpen { return .notStored }
            case .unknown: isOpen = true
            }
            Patience(milliseconds: 0).pause()
        }
        return .notStored
    }
}

extension JetStreamJournal {
    /// The cluster of the nodes that have this log open.
    ///
    /// - Parameter now: A clock that only goes forward; by default the system's.
    package func makeCluster(now: @escaping @Sendable () -> Instant = JetStreamCluster.uptime) -> JetStreamCluster {
        JetStreamCluster(self.core, now: now)
    }
}

extension JetStreamCluster {
    /// Time since the machine has started, as an instant.
    package static let uptime: @Sendable () -> Instant = {
        Instant(milliseconds: Int64(DispatchTime.now().uptimeNanoseconds / 1_000_000))
    }
}
#endif
