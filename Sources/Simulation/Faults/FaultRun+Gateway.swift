import Engine
import Journaling
import Ownership
import Scenarios
import TimelineProviding
import WidgetModel

extension FaultRun {
    /// How often the gateway dies in a run at the most.
    private static let crashesMax = 100

    /// Whether it may die here: one that dies again and again before it has read its log would never come to anything, nor would a run in
    /// which each event is followed by a death, since every start reads the whole log.
    var mayDie: Bool { (self.isStarted || self.deathsAtStart < 2) && self.crashes < Self.crashesMax }

    /// Whether the gateway dies here. Everything in its memory is gone, and so is everything that the journal had not written.
    ///
    /// - Parameter share: How likely that is here, measured by other points.
    mutating func dies(share: Double = 1) -> Bool {
        guard self.mayDie, self.dice.chance(self.plan.crashes * share) else { return false }
        self.crash()
        return true
    }

    mutating func crash() {
        self.isDown = true
        if !self.isStarted { self.deathsAtStart += 1 }
        self.isStarted = false
        self.crashes += 1
        self.journal = self.journal.reopened()
        self.isHeld = false
        self.rivals = []
        self.deliverers = []
        self.fetchers = []
        _ = self.inbox.takeAll()
        self.disconnectHosts()
    }

    /// Another gateway takes the log over, and this one does not know: it goes on until the journal refuses its outputs.
    mutating func takeOver() {
        self.checker.noteOccurrence(.takeover)
        self.rivals += self.owners
        self.isStarted = false
        self.disconnectHosts()
        self.boot()
    }

    /// Gateways that do not know that they lost the log stop, as a lease or a lock has them do. The journal refuses only those
    /// that have effects to commit; the others would ask the provider for ever.
    mutating func endRivals() {
        for rival in self.rivals { self.end(rival) }
    }

    /// With its last owner, the deliverer and the fetcher of a start end, too.
    private mutating func end(_ rival: SimulatedOwner) {
        rival.machine.stop()
        self.rivals.removeAll { $0 === rival }
        guard !self.rivals.contains(where: { $0.start == rival.start }) else { return }
        self.deliverers.removeAll { $0.start == rival.start }
        self.fetchers.removeAll { $0.start == rival.start }
    }

    private mutating func disconnectHosts() {
        for host in self.hosts.indices {
            self.hosts[host].session = nil
            self.queue.insert(.connect(host), at: self.now + 10 + Int64(self.dice.below(3000)))
        }
    }

    /// The gateway starts: its engines are made of snapshots and the log, and nothing else.
    mutating func boot() {
        self.isDown = false
        self.start += 1
        self.owners = []
        self.directory = [:]
        self.deliverers.append(SimulatedDeliverer(start: self.start, &self.dice))
        self.makeFetcher()
        // Outputs that were committed just before the end count, although no owner was called back any more.
        self.readLog()
        self.checker.readOutputs(self.journal, self.witnesses)
        for number in 0..<FaultWorld.partitions where !self.isDown { self.recover(PartitionID(UInt16(number))) }
        guard !self.isDown else { return self.boot() }
        (self.isStarted, self.deathsAtStart) = (true, 0)
        for owner in self.owners { self.expectOutstanding(of: owner) }
        if self.mutation != .forgetsHeld { self.deliverer(self.start)?.machine.catchUp() }
        self.beginFetching()
        self.checker.checkBooks(self.owners, self.witnesses)
        self.checker.checkAccepted(self.owners, team: FaultWorld.team)
    }

    private mutating func recover(_ partition: PartitionID) {
        do {
            let newest = try self.journal.lastOutput(partition)
            let state = try self.loadState(of: partition, notBeyond: newest?.record.through ?? .start)
            let chunkBytesMax = self.dice.pick([1, 200, 2000, 262_144])
            let owner = SimulatedOwner(state.makeOwner(chunkBytesMax: chunkBytesMax), start: self.start)
            let (start, inbox) = (self.start, self.inbox)
            self.journal.observeAppends(partition) { inbox.append(.announced(start: start, partition, $0)) }
            self.owners.append(owner)
            // Tokens that a snapshot holds; the log behind it tells of the others.
            self.learnTokens(of: owner)
            try owner.machine.start(newest: self.mutated(newest, owner))
            while owner.machine.isReplaying, !self.isDown { _ = try self.step(owner) }
            guard !self.isDown else { return }
            let through = newest?.record.through ?? .start
            let known = Int(clamping: newest?.record.ahead ?? 0)
            let effects = self.witnesses[Int(partition.rawValue)].effects.dropFirst(Int(through.rawValue)).joined()
            owner.unpublished = Set(effects.dropFirst(known).flatMap { $0.reloads.map(\.id) })
        } catch let error as JournalError where error.code == .failing {
            self.crash()
        } catch {
            self.checker.fault("partition \(partition) does not start: \(error)")
        }
    }

    /// The witnesses read the new entries of the log, and the checker with them.
    mutating func readLog() {
        for witness in self.witnesses {
            guard let entries = try? self.journal.read(witness.partition, from: witness.applied.next, entriesMax: .max)
            else { return self.checker.fault("partition \(witness.partition): the log cannot be read") }
            for entry in entries {
                do throws(EngineError) {
                    let applied = try witness.read(self.mutated(entry))
                    self.checker.noteApplied(entry, applied, witness)
                } catch {
                    self.checker.fault("\(error)")
                }
            }
        }
    }

    // MARK: Requests

    /// A request has come: it goes into the log, and is answered when it is there.
    mutating func acceptRequest(_ number: Int) {
        guard !self.dies() else { return }
        guard let record = self.admit(number) else { return }
        self.requests[number].wasAppended = true
        if case .push(let push) = record { self.checker.noteTaken(push.id) }
        self.append(record, to: self.requests[number].partitions, request: number, limits: self.requests[number].limits)
        if self.mutation == .acknowledgesEarly { self.answer(number) }
    }

    /// - Parameter limits: How many instances a push may match, by partition; nil for any number.
    mutating func append(_ record: Record, to partitions: [PartitionID], request: Int?, limits: [Int]? = nil) {
        let parts = partitions.map { partition in
            guard case .push(var push) = record, let limits else { return PackedRecords(record.bytes) }
            push.matchedMax = limits[Int(partition.rawValue)]
            return PackedRecords(Record.push(push).bytes)
        }
        let (start, inbox) = (self.start, self.inbox)
        self.drawWriteFaults()
        if partitions.count == 1 {
            self.journal.append(Submission(partition: partitions[0], records: parts[0])) { result in
                inbox.append(.appended(start: start, request: request, result.map { _ in () }))
            }
        } else {
            self.journal.appendToAll(
                SubmissionToAll(each: parts),
                whenDurable: { inbox.append(.appended(start: start, request: request, $0)) },
                whenPlaced: { _ in }
            )
        }
    }

    /// The journal's next write fails, comes late, or is stored without an answer that says so.
    mutating func drawWriteFaults() {
        if let fault = self.drawWriteFault() {
            self.journal.failNextAppend(with: fault.error, isStored: fault.isStored)
        }
        if !self.isHeld, self.dice.chance(self.plan.heldWrites) {
            self.isHeld = true
            self.journal.hold()
            self.queue.insert(.release, at: self.now + 1 + Int64(self.dice.below(1000)))
        }
    }

    /// The fault of a write, and whether it is stored all the same; nil if it has none.
    private mutating func drawWriteFault() -> (error: JournalError, isStored: Bool)? {
        if self.now < self.isFullUntil {
            self.checker.noteOccurrence(.fullDisk)
            return (JournalError(.full, "a fault of the simulation"), false)
        }
        if self.dice.chance(self.plan.failedWrites) {
            return (JournalError(.unavailable, "a fault of the simulation"), false)
        }
        guard self.dice.chance(self.plan.unknownWrites) else { return nil }
        return (JournalError(.unknownOutcome, "a fault of the simulation"), self.dice.chance(0.5))
    }

    mutating func release() {
        guard self.isHeld else { return }
        self.isHeld = false
        self.journal.release()
    }

    /// The record of a request for the log; nil if the request is refused.
    private mutating func admit(_ number: Int) -> Record? {
        let request = self.requests[number]
        guard case .push(var push) = request.record else { return request.record }
        if let token = request.token {
            guard let known = self.directory[token], let known else {
                self.checker.noteOccurrence(.unknownToken)
                self.turnAway(number, push.id)
                return nil
            }
            push.target = .host(known.host, self.mutation == .confusesTokens ? nil : known.instance)
            self.requests[number].partitions = FaultWorld.partitions(of: .push(push))
        }
        if let matchedMax = request.matchedMax {
            let counts = self.owners.map { $0.engine.matchCount(push).matched }
            if counts.reduce(0, +) > matchedMax, self.mutation != .ignoresMatchedMax {
                self.checker.noteOccurrence(.turnedAway)
                self.turnAway(number, push.id)
                return nil
            }
            let isIgnored = self.mutation == .ignoresMatchedMax
            self.requests[number].limits = isIgnored ? nil : MatchQuota.divide(matchedMax, by: counts)
            self.checker.noteGuarded(push.id, matchedMax: matchedMax)
        }
        return .push(push)
    }

    /// A push is refused. One that was sent before may have been taken then, although its sender was not told.
    private mutating func turnAway(_ number: Int, _ push: PushID) {
        if !self.requests[number].wasAppended { self.checker.noteTurnedAway(push) }
        self.transmit(.answer(number))
    }

    mutating func answer(_ number: Int) {
        if case .push(let push) = self.requests[number].record {
            self.checker.noteAccepted(push.id, self.requests[number].partitions)
        }
        // Between the making of an answer and its sending.
        guard !self.dies() else { return }
        self.transmit(.answer(number))
    }

    // MARK: Following the log

    /// Follows up the journal's callbacks, until nothing is left to do.
    mutating func settle() {
        var isBusy = true
        while isBusy, !self.isDown {
            isBusy = false
            for message in self.inbox.takeAll() where !self.isDown {
                isBusy = true
                self.follow(message)
            }
            self.readLog()
            for fetcher in self.fetchers where !self.isDown {
                if self.follow(fetcher) { isBusy = true }
            }
            for owner in self.owners + self.rivals where !self.isDown {
                if self.follow(owner) { isBusy = true }
            }
            for deliverer in self.deliverers where !self.isDown {
                if self.follow(deliverer) { isBusy = true }
            }
        }
        if self.isDown {
            self.boot()
            return self.settle()
        }
        for number in self.owners.indices { self.planTick(number) }
    }

    /// The owner of a partition in a start of the gateway that is still alive.
    func owner(_ partition: PartitionID, start: Int) -> SimulatedOwner? {
        (self.owners + self.rivals).first { $0.partition == partition && $0.start == start }
    }

    /// Carries out a machine's actions until it has none; whether it had any.
    private mutating func follow(_ owner: SimulatedOwner) -> Bool {
        var isBusy = false
        do {
            while !self.isDown, !owner.machine.isStopped, try self.step(owner) { isBusy = true }
        } catch {
            self.stopped(owner, error)
        }
        return isBusy
    }

    /// One slice or action of a machine; false if there is nothing to do.
    private mutating func step(_ owner: SimulatedOwner) throws -> Bool {
        var units = self.dice.pick([1, 7, 64, 4096])
        guard let action = try owner.machine.next(&units) else {
            // Between two slices of an entry.
            if owner.machine.isBehind { _ = self.dies(share: 0.1) }
            return owner.machine.isBehind
        }
        try self.perform(action, owner, slice: units)
        // Behind whatever was done.
        if !self.isDown { _ = self.dies() }
        return true
    }

    private mutating func perform(_ action: OwnerAction, _ owner: SimulatedOwner, slice units: Int) throws {
        switch action {
        case .read(let position): try self.read(from: position, owner, slice: units)
        case .tell(let run): self.tell(run, owner)
        case .commit(let record, let expected): self.commit(record, expected: expected, owner)
        // A start takes no virtual time.
        case .awaitRetry where owner.machine.isReplaying: owner.machine.retry()
        case .awaitRetry: self.queue.insert(.journalAgain(owner.partition, start: owner.start), at: self.now + 50)
        case .readNewestOutput:
            self.checker.noteOccurrence(.unknownOutput)
            try owner.machine.takeNewestOutput(try self.lookUpOutput(of: owner.partition))
        case .publish(let output): self.publish(output.effects, owner)
        // Operators of one machine change rules while it does not run.
        case .writeState: break
        case .tellCheckpoint(let checkpoint):
            self.tellUndelivered(of: owner, through: checkpoint.through)
            guard owner.wantsSnapshot else { return }
            owner.wantsSnapshot = false
            let at = self.now + Int64(self.dice.below(5000))
            self.queue.insert(.snapshot(owner.partition, checkpoint), at: at)
        }
    }

    /// An entry was applied: its effects and state must be those of the witness.
    private mutating func tell(_ run: EntryRun, _ owner: SimulatedOwner) {
        let position = run.entry.position
        let witness = self.witnesses[Int(owner.partition.rawValue)]
        if witness.applied < position { self.readLog() }
        if witness.effects(at: position) != run.effects.all {
            self.checker.fault("partition \(owner.partition): position \(position) gave other effects")
        }
        if witness.hash(at: position) != owner.engine.runningHash {
            self.checker.fault("partition \(owner.partition): position \(position) gave another state")
        }
        if owner.start == self.start { self.learnTokens(run.output.directory) }
        self.tellApplied(by: owner)
        self.noteApplied(run, by: owner)
        guard !owner.machine.isReplaying else { return }
        if self.mutation == .snapshotsAhead, self.dice.chance(0.1) {
            let ahead = OwnerCheckpoint(through: owner.applied, runningHash: owner.engine.runningHash)
            self.makeSnapshot(owner.partition, ahead)
        }
        owner.unpublished.formUnion(run.effects.all.flatMap { $0.reloads.map(\.id) })
    }

    private mutating func commit(_ record: OutputRecord, expected: OutputPosition?, _ owner: SimulatedOwner) {
        if record.ahead > 0 { self.checker.noteOccurrence(.chunk) }
        if self.mutation == .deliversEarly { self.hand((try? record.readEffects()) ?? [], from: owner) }
        if let fault = self.drawWriteFault() {
            self.journal.failNextOutput(with: fault.error, isStored: fault.isStored)
        }
        let (start, inbox, partition) = (owner.start, self.inbox, owner.partition)
        let isStale = self.mutation == .expectsStale && self.dice.chance(0.2)
        let known = isStale ? expected.map { OutputPosition($0.rawValue - 1) } : expected
        self.journal.commitOutput(partition, expected: known, self.mutated(record)) { result in
            inbox.append(.committed(start: start, partition, result))
        }
    }

    private mutating func publish(_ effects: [Effect], _ owner: SimulatedOwner) {
        self.checker.readOutputs(self.journal, self.witnesses)
        for effect in effects { owner.unpublished.subtract(effect.reloads.map(\.id)) }
        // Between the commit of an output and its delivery.
        guard !self.dies() else { return }
        if self.mutation == .losesEffects, self.dice.chance(0.25) { return self.hand([], owed: effects, from: owner) }
        if self.mutation != .deliversEarly { self.hand(effects, owed: effects, from: owner) }
    }

    /// An owner does not go on: the other one that there is has written, or it cannot know what the log has.
    mutating func stopped(_ owner: SimulatedOwner, _ error: any Error) {
        let code = (error as? JournalError)?.code
        guard owner.start == self.start else {
            if code == .fenced { self.checker.noteOccurrence(.fenced) }
            return self.end(owner)
        }
        owner.machine.stop()
        let isPlanned = code == .unknownOutcome || code == .failing || (code == .fenced && self.wasTakenOver)
        guard isPlanned else { return self.checker.fault("partition \(owner.partition) stopped: \(error)") }
        self.crash()
    }

    private mutating func hand(_ effects: [Effect], owed: [Effect] = [], from owner: SimulatedOwner) {
        let due = self.now + Int64(self.plan.delayMax) + 1000
        for effect in owed {
            switch effect {
            case .reload(let reload) where FaultWorld.isFetched(reload): continue
            case .reload(let reload):
                guard let host = self.hosts.firstIndex(where: { $0.id == reload.host }),
                    let session = self.hosts[host].session
                else { continue }
                let debtor = FaultChecker.Debtor.session(session, of: host)
                self.checker.expect(reload, from: debtor, by: due, since: reload.id.position)
            case .push(let push):
                let reloads = push.members.map(\.reload)
                self.expectDelivery(of: reloads, start: owner.start, since: push.id.position)
            case .invalidation: continue
            }
        }
        self.deliverer(owner.start)?.machine.takeReloads(DeliveryMachine.reloads(in: effects), now: self.clock.now)
        let fetched = effects.flatMap(\.reloads).filter(FaultWorld.isFetched)
        self.fetcher(owner.start)?.machine.takeReloads(issued: fetched.map(\.id))
        for effect in effects {
            switch effect {
            case .reload(let reload) where FaultWorld.isFetched(reload): continue
            case .reload(let reload):
                guard let host = self.hosts.firstIndex(where: { $0.id == reload.host }) else { continue }
                self.deliver(reload, to: host)
            case .push, .invalidation: continue
            }
        }
    }

    /// Sends a reload over its host's connection. A connection loses nothing unless it breaks.
    mutating func deliver(_ reload: ReloadEffect, to host: Int) {
        guard let session = self.hosts[host].session else { return }
        if self.dice.chance(self.plan.lost) {
            self.hosts[host].session = nil
            self.queue.insert(.connect(host), at: self.now + 1000 + Int64(self.dice.below(20_000)))
            return
        }
        let copies = self.dice.chance(self.plan.doubled) ? 2 : 1
        for _ in 0..<copies {
            let delay = 1 + Int64(self.dice.below(self.plan.delayMax))
            self.queue.insert(.reload(host, session: session, reload), at: self.now + delay)
        }
    }

    private var uptime: Interval { .milliseconds(self.now) }

    mutating func tick(_ partition: PartitionID) {
        let owner = self.owners[Int(partition.rawValue)]
        owner.tickAt = nil
        guard owner.machine.takeTick(at: self.clock.now, uptime: self.uptime) else { return }
        self.append(.tick, to: [partition], request: nil)
    }

    /// Plans the next tick.
    private mutating func planTick(_ number: Int) {
        guard let delay = self.owners[number].machine.tickDelay(at: self.clock.now, uptime: self.uptime) else { return }
        let at = self.now + delay.milliseconds
        if let planned = self.owners[number].tickAt, planned <= at { return }
        self.owners[number].tickAt = at
        self.queue.insert(.tick(self.owners[number].partition, start: self.start), at: at)
    }
}
