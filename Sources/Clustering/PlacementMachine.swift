package import WidgetModel

/// The partitions that a node owns, as a value: it hears the other nodes, and decides which partitions it claims, starts, hands over and
/// gives up, in which order.
///
/// Its driver reports events and the time, by a clock that only goes forward, and carries out ``takeActions()``.
/// It has no clock, no brokers and no threads.
///
/// Its rules:
/// - Rendezvous hashing over the living members names a partition's owner. A node not heard for a while is dead, but only while its
///   judge hears itself: one that is cut off judges no node, and listens anew when it hears itself again.
/// - A partition is started behind a claim that the brokers have stored, each behind the one before it. A claim holds until the
///   next: nothing is renewed, so an election of the brokers' moves nothing.
/// - None of that is needed for safety: of two owners the fence of the outputs lets one commit.
/// - A living node gives one partition at a time, to a node that has been a member for a while and is starting no other.
/// - Orders of operators (``PlacementWishes``) change the order of the nodes for a partition. But only nodes with the decision rules
///   that its log goes on by decide a partition. When operators order other rules, and a node has them, the owner passes the gate
///   to them and releases the partition.
/// - The second by hashing follows the owner with a state of its own, to have the partition next. It begins with one partition at a
///   time, and with none while an owner of its own starts.
package struct PlacementMachine: Sendable {
    package struct Limits: Hashable, Sendable {
        /// How often a node tells that it is there. Default 500 ms.
        package var beat = Interval.milliseconds(500)
        /// A node that is not heard for so long is dead. Default 2 s, four beats.
        package var silence = Interval.seconds(2)
        /// A node that is not heard for so long is forgotten. Default 1 h.
        package var memory = Interval.seconds(3600)
        /// Whether the node follows owners that others have. Default true.
        package var standsBy = true

        package init() {}
    }

    enum Phase: Hashable {
        /// It listens until then; nil while it does not even hear itself.
        case joining(until: Instant?)
        case member
        case leaving
        case over
    }

    struct Peer {
        var node: ClusterNode
        var phase: Beat.Phase
        var heardAt: Instant
        /// Since when it has been a member.
        var memberSince: Instant?
        var holdings: [Beat.Holding]
        var followings: [Beat.Following]
        var report: NodeReport?
    }

    /// The part of this node in a partition.
    enum Holding: Hashable {
        case none
        case claiming
        case starting(Epoch)
        case running(Epoch)
        /// The owner is told to stop; then the claim is released, with or without a successor.
        case handingOver(Epoch, to: NodeName?)
        /// The owner is told to stop behind a gate; then the claim is released for nodes with those rules.
        case gating(Epoch, rules: UInt32)
        /// The owner is told to stop, and the claim is another's.
        case givingUp
        case releasing(Epoch, Release)
        case failed(Epoch)
    }

    struct Slot {
        let partition: PartitionID
        /// The newest that is known.
        var claim: Claim?
        var learnedAt: Instant
        var holding = Holding.none
        var standby = Standby.none
        var applied = LogPosition.start
        /// No claim before that.
        var notBefore: Instant
        /// A release of one's own, which is told for a while.
        var released: (epoch: Epoch, release: Release, until: Instant)?
        /// By which rules its outputs say that the log goes on, behind a claim.
        var found: (epoch: Epoch?, rules: UInt32)?
        /// When that is to be read, if it matters; nil while it is.
        var rulesDue: Instant?
    }

    /// How often claims are read that others should have told of.
    static let beatsPerRead: Int64 = 20

    package let own: ClusterNode
    let limits: Limits
    var phase = Phase.joining(until: nil)
    var now: Instant
    var peers: [NodeName: Peer] = [:]
    var slots: [Slot]
    private var ownHeardAt: Instant?
    private var beatDue: Instant
    /// When claims are to be read; nil while they are.
    private var readDue: Instant?
    private(set) var areClaimsKnown = false
    /// Beats that another node of this name has sent.
    private var rivalBeats = 0
    private(set) var wishes = PlacementWishes()
    /// No partition of this node's passes a gate before that: one could not.
    private(set) var gateNotBefore = Instant.distantPast
    /// The newest wishes that a node has told of.
    private var newestWishes: UInt64 = 0
    /// What operators are told of this node; nil before its driver knows.
    var report: NodeReport?
    var counts = ClusterCounts()
    var actions: [PlacementAction] = []

    /// A node that has just started.
    ///
    /// - Parameters:
    ///   - own: The identity by which others know it.
    ///   - partitions: How many the log has.
    ///   - now: By a clock that only goes forward.
    package init(_ own: ClusterNode, partitions: Int, limits: Limits = Limits(), now: Instant) {
        self.own = own
        self.limits = limits
        self.now = now
        self.beatDue = now
        self.readDue = now
        self.slots = (0..<partitions).map { number in
            Slot(partition: PartitionID(UInt16(number)), learnedAt: now, notBefore: now, rulesDue: now)
        }
    }

    /// The actions to take since the last call, in this order.
    package mutating func takeActions() -> [PlacementAction] {
        let actions = self.actions
        self.actions = []
        return actions
    }

    // MARK: Events

    /// Time has passed. To be told at least once a beat.
    package mutating func pass(to now: Instant) {
        self.noteTime(now)
        if self.phase == .over { return }
        if case .joining(let until?) = self.phase, self.now >= until, self.areClaimsKnown { self.phase = .member }
        if let due = self.readDue, self.now >= due {
            self.readDue = nil
            self.actions.append(.readClaims)
            self.peers = self.peers.filter { self.now - $0.value.heardAt < self.limits.memory }
        }
        self.decide()
        if self.now >= self.beatDue { self.beat() }
    }

    /// A node has told that it is there; this one, too, hears itself.
    package mutating func heard(_ beat: Beat, at now: Instant) {
        self.noteTime(now)
        guard beat.node.name != self.own.name else {
            return beat.node.incarnation == self.own.incarnation ? self.heardOwn() : self.heardRival(beat)
        }
        let isNews = self.takeBeat(beat)
        self.newestWishes = max(self.newestWishes, beat.wishes)
        if self.areWishesOld, let due = self.readDue { self.readDue = min(due, self.now) }
        for holding in beat.holdings where Int(holding.partition.rawValue) < self.slots.count {
            self.learn(Claim(holding, of: beat.node), of: holding.partition)
        }
        if isNews { self.decide() }
    }

    /// The newest claim of each partition and the operators' wishes, as the brokers have them; nil if they did not answer.
    package mutating func claimsRead(_ claims: [Claim?]?, _ wishes: PlacementWishes = PlacementWishes()) {
        guard let claims else {
            self.readDue = self.now + self.limits.silence
            return
        }
        self.follow(wishes)
        self.areClaimsKnown = true
        // If a node claims and dies before it tells, only the brokers know the claim.
        self.readDue = self.now + self.limits.beat * Self.beatsPerRead
        for (slot, claim) in zip(self.slots, claims) { if let claim { self.learn(claim, of: slot.partition) } }
        self.decide()
    }

    /// Operators want something else, as the brokers have it.
    package mutating func wished(_ wishes: PlacementWishes) {
        self.follow(wishes)
        self.beat()
        self.decide()
    }

    private mutating func follow(_ wishes: PlacementWishes) {
        if wishes.version > self.wishes.version { self.wishes = wishes }
        self.newestWishes = max(self.newestWishes, self.wishes.version)
    }

    /// Whether another node knows newer ones.
    var areWishesOld: Bool { self.newestWishes > self.wishes.version }

    /// Takes the outcome of a claim.
    package mutating func claimed(_ partition: PartitionID, _ outcome: ClaimOutcome) {
        let index = Int(partition.rawValue)
        guard self.slots[index].holding == .claiming else { return }
        self.slots[index].holding = .none
        switch outcome {
        case .stored(let epoch):
            // Another one may have been heard of before this one's answer came.
            guard epoch > self.slots[index].claim?.epoch ?? Epoch(0) else { break }
            if let claim = self.slots[index].claim, !claim.isReleased { self.counts.takeovers += 1 }
            self.learn(Claim(epoch: epoch, node: self.own), of: partition)
            self.slots[index].applied = .start
            self.slots[index].released = nil
            self.slots[index].holding = .starting(epoch)
            // The standby becomes the owner.
            self.slots[index].standby = .none
            self.actions.append(.startOwner(partition, epoch))
            self.beat()
        case .lost(let claim):
            if let claim { self.learn(claim, of: partition) }
        case .notStored: self.slots[index].notBefore = self.now + self.limits.beat
        }
        self.decide()
    }

    /// Takes the outcome of a release.
    package mutating func released(_ partition: PartitionID, _ outcome: ClaimOutcome) {
        let index = Int(partition.rawValue)
        guard case .releasing(_, let release) = self.slots[index].holding else { return }
        self.slots[index].holding = .none
        switch outcome {
        case .stored(let epoch):
            self.counts.moves += 1
            self.learn(Claim(epoch: epoch, node: self.own, release), of: partition)
            self.slots[index].released = (epoch, release, self.now + self.limits.silence)
            self.beat()
        case .lost(let claim):
            if let claim { self.learn(claim, of: partition) }
        case .notStored: self.slots[index].notBefore = self.now + self.limits.beat
        }
        self.decide()
    }

    package mutating func ownerStarted(_ partition: PartitionID) {
        let index = Int(partition.rawValue)
        guard case .starting(let epoch) = self.slots[index].holding else { return }
        self.slots[index].holding = .running(epoch)
        self.beat()
        self.decide()
    }

    /// How far an owner is.
    package mutating func ownerReached(_ partition: PartitionID, _ applied: LogPosition) {
        self.slots[Int(partition.rawValue)].applied = applied
    }

    /// An owner has ended, by an order or by itself.
    package mutating func ownerStopped(_ partition: PartitionID, _ end: OwnerEnd) {
        let index = Int(partition.rawValue)
        let slot = self.slots[index]
        switch (slot.holding, end) {
        case (.none, _), (.claiming, _), (.releasing, _), (.failed, _): return
        case (.givingUp, _): self.slots[index].holding = .none
        case (.handingOver, .fenced), (.gating, .fenced), (.starting, .fenced), (.running, .fenced):
            self.slots[index].holding = .none
            self.slots[index].notBefore = self.now + self.limits.silence
            self.readAnew()
        case (.handingOver(let epoch, let successor), _):
            self.release(index, behind: epoch, Release(to: successor, rules: self.own.rules))
        case (.gating(let epoch, let rules), .passedGate), (.gating(let epoch, _), .otherRules(let rules)),
            (.starting(let epoch), .otherRules(let rules)), (.running(let epoch), .otherRules(let rules)):
            self.release(index, behind: epoch, Release(to: self.first(for: slot, by: rules), rules: rules))
        case (.starting(let epoch), .failed), (.running(let epoch), .failed), (.gating(let epoch, _), .failed):
            self.slots[index].holding = .failed(epoch)
        case (.gating, _):
            // It goes on by the rules before, and tries again later.
            self.slots[index].holding = .none
            self.gateNotBefore = self.now + Self.gatePause
        case (.starting, _), (.running, _):
            self.slots[index].holding = .none
            self.slots[index].notBefore = self.now + self.limits.silence
        }
        self.beat()
        self.decide()
    }

    /// The node is to end: it hands over its partitions, and says when that is done.
    package mutating func leave() {
        guard self.phase != .leaving, self.phase != .over else { return }
        self.phase = .leaving
        self.beat()
        self.decide()
    }

    // MARK: Beats

    private mutating func noteTime(_ now: Instant) {
        self.now = max(self.now, now)
        guard self.phase == .member, self.now - (self.ownHeardAt ?? self.now) >= self.limits.silence else { return }
        // It was stopped, or cut off: its knowledge may be old.
        self.phase = .joining(until: nil)
        self.rivalBeats = 0
        self.readAnew()
    }

    private mutating func readAnew() {
        self.areClaimsKnown = false
        self.readDue = self.now
    }

    private mutating func heardOwn() {
        self.ownHeardAt = self.now
        if self.phase == .joining(until: nil) { self.phase = .joining(until: self.now + self.limits.silence) }
    }

    /// Of two nodes with one name, the one that is a member stays, or else the earlier one.
    private mutating func heardRival(_ beat: Beat) {
        let isEarlier = beat.node.incarnation < self.own.incarnation
        let givesWay =
            switch self.phase {
            case .joining: beat.phase == .member || (beat.phase == .joining && isEarlier)
            case .member: beat.phase == .member && isEarlier
            case .leaving, .over: false
            }
        guard givesWay else { return }
        self.rivalBeats += 1
        // One alone may be the last one of a node that has ended.
        guard self.rivalBeats > 1 else { return }
        self.actions.append(.refuse(.nameTaken(self.own.name, address: beat.node.address)))
        self.leave()
    }

    /// - Returns: Whether it says anything new.
    private mutating func takeBeat(_ beat: Beat) -> Bool {
        let known = self.peers[beat.node.name]
        if let known, known.node.incarnation != beat.node.incarnation {
            // The one that is known has not ended, and the other one will be refused.
            if !self.isSilent(known), known.phase != .leaving, beat.phase != .member { return false }
        }
        let isSame = known?.node == beat.node
        if isSame, let known {
            let beats = (self.now - known.heardAt).milliseconds / max(1, self.limits.beat.milliseconds)
            self.counts.beatsMissed += max(0, Int(beats) - 1)
        }
        // A node that was silent for long has to be steady anew before it is given anything.
        let isSteady = isSame && known.map { self.now - $0.heardAt < self.limits.silence } ?? false
        let memberSince = isSteady ? known?.memberSince : nil
        self.peers[beat.node.name] = Peer(
            node: beat.node,
            phase: beat.phase,
            heardAt: self.now,
            memberSince: beat.phase == .member ? memberSince ?? self.now : nil,
            holdings: beat.holdings,
            followings: beat.followings,
            report: beat.report
        )
        return !isSame || known?.phase != beat.phase || known?.holdings != beat.holdings
    }

    mutating func beat() {
        self.beatDue = self.now + self.limits.beat
        let beat = Beat(
            node: self.own,
            phase: self.toldPhase,
            holdings: self.ownHoldings,
            wishes: self.wishes.version,
            followings: self.ownFollowings,
            report: self.report
        )
        // Several changes at one time are told at once.
        self.actions.removeAll { if case .beat = $0 { true } else { false } }
        self.actions.append(.beat(beat))
    }

    /// When this node heard itself last.
    var lastHeardOwn: Instant { self.ownHeardAt ?? .distantPast }

    // MARK: Claims

    /// Learns a claim, and gives up the partition if this node held it by an older claim.
    private mutating func learn(_ claim: Claim, of partition: PartitionID) {
        let index = Int(partition.rawValue)
        guard claim.epoch > self.slots[index].claim?.epoch ?? Epoch(0) else { return }
        self.slots[index].claim = claim
        self.slots[index].learnedAt = self.now
        guard claim.node != self.own else { return }
        self.slots[index].released = nil
        switch self.slots[index].holding {
        case .starting, .running, .handingOver, .gating:
            self.slots[index].holding = .givingUp
            self.actions.append(.stopOwner(partition, .atOnce))
            self.beat()
        case .failed: self.slots[index].holding = .none
        case .none, .claiming, .givingUp, .releasing: break
        }
    }

    // MARK: Deciding

    mutating func decide() {
        switch self.phase {
        case .joining, .over: return
        case .member:
            for index in self.slots.indices { self.decide(index) }
            self.decideStandbys()
        case .leaving:
            self.endStandbys()
            for index in self.slots.indices { self.letGo(index) }
            guard self.slots.allSatisfy({ $0.holding == .none }) else { return }
            self.phase = .over
            self.beat()
            self.actions.append(.left)
        }
    }

    private mutating func decide(_ index: Int) {
        let slot = self.slots[index]
        switch slot.holding {
        case .none:
            guard self.areClaimsKnown, self.now >= slot.notBefore else { return }
            if self.isOwnToClaim(slot) {
                self.slots[index].holding = .claiming
                self.actions.append(.claim(slot.partition, behind: slot.claim?.epoch))
            } else if let claim = slot.claim, claim.node == self.own, !claim.isReleased {
                // Its owner has ended, and the partition is another node's by now.
                let rules = self.rules(of: slot) ?? self.own.rules
                self.release(index, behind: claim.epoch, Release(to: self.first(for: slot), rules: rules))
            } else {
                self.askForRules(index)
            }
        case .running(let epoch):
            guard !self.isMoving else { return }
            if let (rules, taker) = self.rulesToChange(of: slot), self.isReady(taker, for: slot.partition) {
                return self.passGate(index, epoch, to: rules)
            }
            guard let successor = self.successor(of: slot) else { return }
            self.slots[index].holding = .handingOver(epoch, to: successor)
            self.actions.append(.stopOwner(slot.partition, .committed))
            self.beat()
        case .claiming, .starting, .handingOver, .gating, .givingUp, .releasing, .failed: return
        }
    }

    /// Hands a partition over to the first node that is there, if any.
    private mutating func letGo(_ index: Int) {
        let slot = self.slots[index]
        let successor = self.first(for: slot)
        switch slot.holding {
        case .starting(let epoch), .running(let epoch):
            // No other node has its rules: it waits for none of those that it is to pass to.
            if case .running = slot.holding, successor == nil, let (rules, _) = self.rulesToChange(of: slot) {
                return self.passGate(index, epoch, to: rules)
            }
            self.slots[index].holding = .handingOver(epoch, to: successor)
            self.actions.append(.stopOwner(slot.partition, .committed))
        case .failed(let epoch):
            self.release(index, behind: epoch, Release(to: successor, rules: self.own.rules))
        case .none, .claiming, .handingOver, .gating, .givingUp, .releasing: return
        }
    }

    private mutating func release(_ index: Int, behind epoch: Epoch, _ release: Release) {
        self.slots[index].holding = .releasing(epoch, release)
        self.actions.append(.release(self.slots[index].partition, behind: epoch, release))
    }
}
