import Engine
import Journaling
import Scenarios
import WidgetModel

extension FaultRun {
    /// The least milliseconds between two ticks of a partition, for those that the journal holds back.
    private static let tickSpacing: Int64 = 250

    /// Whether the gateway dies here. Everything in its memory is gone, and so is what the journal had not written.
    private mutating func dies() -> Bool {
        guard self.dice.chance(self.plan.crashes) else { return false }
        self.crash()
        return true
    }

    mutating func crash() {
        self.isDown = true
        self.crashes += 1
        self.journal = self.journal.reopened()
        self.isHeld = false
        _ = self.inbox.take()
        for host in self.hosts.indices {
            self.hosts[host].session = nil
            self.queue.put(.connect(host), at: self.now + 10 + Int64(self.dice.below(3000)))
        }
    }

    /// The gateway starts: the engines are made of the log, and nothing else.
    mutating func boot() {
        self.isDown = false
        self.start += 1
        self.owners = []
        self.directory = [:]
        // What was committed just before the end counts, although nobody was called back any more.
        self.checker.readOutputs(self.journal)
        for number in 0..<FaultWorld.partitions {
            let partition = PartitionID(UInt16(number))
            let owner = SimulatedOwner(
                partition: partition,
                partitions: FaultWorld.partitions,
                seed: UInt64(self.start) &* 0x9E37_79B9
            )
            self.recover(owner)
            self.owners.append(owner)
        }
        for owner in self.owners { self.sendOutstanding(of: owner) }
        self.checker.checkBooks(self.owners)
        self.checker.checkAccepted(self.owners, team: FaultWorld.team)
    }

    private mutating func recover(_ owner: SimulatedOwner) {
        let partition = owner.partition
        guard let entries = try? self.journal.read(partition, from: .start, entriesMax: .max),
            let outputs = try? self.journal.readOutputs(partition, from: .first, outputsMax: .max)
        else { return self.checker.fault("partition \(partition): the log cannot be read") }
        var next = outputs[...]
        for entry in entries {
            self.apply(entry, owner)
            while let output = next.first, output.record.through == entry.position {
                next = next.dropFirst()
                if output.record.runningHash != owner.engine.runningHash {
                    self.checker.fault("partition \(partition): position \(entry.position) gives another state now")
                }
                if self.mutation != .repeatsOutputs { owner.uncommitted = [] }
            }
        }
        owner.lastOutput = outputs.last?.position
    }

    private mutating func apply(_ entry: LogEntry, _ owner: SimulatedOwner) {
        let logTime = self.mutation == .readsClock ? Instant(milliseconds: self.now) : entry.logTime
        do throws(EngineError) {
            let applied = try owner.apply(self.mutated(entry), logTime: logTime)
            self.note(applied.directory)
            self.checker.noteApplied(entry, applied, owner)
        } catch {
            self.checker.fault("\(error)")
        }
        self.checker.noteEntry(owner.partition, entry.position, hash: owner.engine.runningHash)
    }

    /// An entry as an owner with a bug reads it.
    func mutated(_ entry: LogEntry) -> LogEntry {
        guard [.ignoresOrders, .ignoresLeases, .ignoresDates].contains(self.mutation) else { return entry }
        var packed = PackedRecords()
        for range in entry.records {
            var reader = ByteReader(entry.bytes, in: range)
            switch (try? Record(from: &reader), self.mutation) {
            case (.order, .ignoresOrders): packed.append(Record.tick.bytes)
            case (.register(var registration), .ignoresLeases):
                registration.lease = nil
                packed.append(Record.register(registration).bytes)
            case (.push(var push), .ignoresDates):
                push.notBefore = nil
                packed.append(Record.push(push).bytes)
            default: packed.append(Array(entry.bytes[range]))
            }
        }
        return LogEntry(position: entry.position, logTime: entry.logTime, packed: packed)
    }

    // MARK: Requests

    /// A request has come: it goes into the log, and is answered when it is there.
    mutating func accept(_ number: Int) {
        guard !self.dies() else { return }
        guard let record = self.admit(number) else { return }
        self.requests[number].wasAppended = true
        if case .push(let push) = record { self.checker.noteTaken(push.id) }
        self.append(record, to: self.requests[number].partitions, request: number, limits: self.requests[number].limits)
        if self.mutation == .acknowledgesEarly { self.answer(number) }
    }

    /// - Parameter limits: How many instances a push may match, by partition; nil for any number.
    mutating func append(_ record: Record, to partitions: [PartitionID], request: Int?, limits: [Int]? = nil) {
        let batches = partitions.map { partition in
            var packed = PackedRecords()
            if case .push(var push) = record, let limits {
                push.matchedMax = limits[Int(partition.rawValue)]
                packed.append(Record.push(push).bytes)
            } else {
                packed.append(record.bytes)
            }
            return Submission.Batch(partition: partition, records: packed)
        }
        if self.dice.chance(self.plan.failedWrites) {
            self.journal.failNextAppend(with: JournalError(.unavailable, "a fault of the simulation"))
        } else if self.dice.chance(self.plan.unknownWrites) {
            let error = JournalError(.unknownOutcome, "a fault of the simulation")
            self.journal.failNextAppend(with: error, isStored: self.dice.chance(0.5))
        }
        if !self.isHeld, self.dice.chance(self.plan.heldWrites) {
            self.isHeld = true
            self.journal.hold()
            self.queue.put(.release, at: self.now + 1 + Int64(self.dice.below(1000)))
        }
        let (start, inbox) = (self.start, self.inbox)
        self.journal.append(Submission(batches)) { result in
            inbox.put(.appended(start: start, request: request, result))
        }
    }

    mutating func release() {
        guard self.isHeld else { return }
        self.isHeld = false
        self.journal.release()
    }

    /// What the record of a request is in the log; nil if it is answered that there will be none.
    private mutating func admit(_ number: Int) -> Record? {
        let request = self.requests[number]
        guard case .push(var push) = request.record else { return request.record }
        if let token = request.token {
            guard let known = self.directory[token], let known else {
                self.checker.note(.unknownToken)
                self.turnAway(number, push.id)
                return nil
            }
            push.target = .host(known.host, self.mutation == .confusesTokens ? nil : known.instance)
            self.requests[number].partitions = FaultWorld.partitions(of: .push(push))
        }
        if let matchedMax = request.matchedMax {
            let counts = self.owners.map { $0.engine.matchCount(push).matched }
            if counts.reduce(0, +) > matchedMax, self.mutation != .ignoresMatchedMax {
                self.checker.note(.turnedAway)
                self.turnAway(number, push.id)
                return nil
            }
            let isIgnored = self.mutation == .ignoresMatchedMax
            self.requests[number].limits = isIgnored ? nil : MatchQuota.divide(matchedMax, by: counts)
            self.checker.noteGuarded(push.id, matchedMax: matchedMax)
        }
        return .push(push)
    }

    /// A push is refused. One that was sent before may have been taken then, although nobody was told.
    private mutating func turnAway(_ number: Int, _ push: PushID) {
        if !self.requests[number].wasAppended { self.checker.noteTurnedAway(push) }
        self.transmit(.answer(number))
    }

    private mutating func answer(_ number: Int) {
        if case .push(let push) = self.requests[number].record {
            self.checker.noteAccepted(push.id, self.requests[number].partitions)
        }
        // Between the making of an answer and its sending.
        guard !self.dies() else { return }
        self.transmit(.answer(number))
    }

    // MARK: Applying and committing

    /// Follows up what the journal called back and what is new in the log, until nothing is.
    mutating func settle() {
        var isBusy = true
        while isBusy, !self.isDown {
            isBusy = false
            for message in self.inbox.take() {
                isBusy = true
                self.take(message)
                if self.isDown { break }
            }
            for number in self.owners.indices where !self.isDown {
                if self.catchUp(number) { isBusy = true }
            }
        }
        if self.isDown {
            self.boot()
            return self.settle()
        }
        for number in self.owners.indices { self.planTick(number) }
    }

    private mutating func take(_ message: JournalInbox.Message) {
        switch message {
        case .appended(let start, let request, let result):
            guard start == self.start, let request, case .success = result else { return }
            // After the commit, before the answer.
            guard !self.dies() else { return }
            if self.mutation != .acknowledgesEarly { self.answer(request) }
        case .committed(let start, let partition, let record, let effects, let result):
            guard start == self.start else { return }
            self.committed(partition, record, effects, result)
        }
    }

    /// Applies what an owner has not applied yet, and commits; whether there was anything to do.
    private mutating func catchUp(_ number: Int) -> Bool {
        let (partition, next) = (self.owners[number].partition, self.owners[number].applied.next)
        guard let entries = try? self.journal.read(partition, from: next, entriesMax: .max) else { return false }
        if !entries.isEmpty {
            let owner = self.owners[number]
            for entry in entries {
                if self.mutation == .skipsEntries, self.dice.chance(0.05) {
                    owner.applied = entry.position
                } else {
                    self.apply(entry, owner)
                }
            }
            if self.mutation == .deliversEarly { self.hand(self.owners[number].uncommitted) }
            // Between applying and committing.
            if self.dies() { return true }
        }
        return self.commit(number) || !entries.isEmpty
    }

    private mutating func commit(_ number: Int) -> Bool {
        guard !self.owners[number].isCommitting, !self.owners[number].uncommitted.isEmpty else { return false }
        let record = self.owners[number].outputRecord()
        let effects = self.owners[number].uncommitted
        let partition = self.owners[number].partition
        self.owners[number].uncommitted = []
        self.owners[number].committing = effects
        self.owners[number].isCommitting = true
        if self.dice.chance(self.plan.failedWrites) {
            self.journal.failNextOutput(with: JournalError(.unavailable, "a fault of the simulation"))
        } else if self.dice.chance(self.plan.unknownWrites) {
            let error = JournalError(.unknownOutcome, "a fault of the simulation")
            self.journal.failNextOutput(with: error, isStored: self.dice.chance(0.5))
        }
        let (start, inbox) = (self.start, self.inbox)
        self.journal.commitOutput(partition, expected: self.owners[number].lastOutput, record) { result in
            inbox.put(.committed(start: start, partition, record, effects, result))
        }
        return true
    }

    private mutating func committed(
        _ partition: PartitionID,
        _ record: OutputRecord,
        _ effects: [Effect],
        _ result: Result<OutputPosition, JournalError>
    ) {
        let number = Int(partition.rawValue)
        var position: OutputPosition?
        switch result {
        case .success(let written): position = written
        case .failure(let error) where error.isRetriable:
            self.owners[number].uncommitted = effects + self.owners[number].uncommitted
            self.owners[number].committing = []
            self.queue.put(.commitAgain(partition, start: self.start), at: self.now + 50)
            return
        case .failure(let error) where error.code == .unknownOutcome:
            // The newest output tells: if it is the one that was tried, it was written.
            let tried = self.owners[number].lastOutput?.next ?? .first
            let newest = try? self.journal.lastOutput(partition)
            guard newest == OutputEntry(position: tried, record: record) else { return self.crash() }
            position = tried
        case .failure(let error): return self.checker.fault("partition \(partition): \(error)")
        }
        self.owners[number].lastOutput = position
        self.owners[number].isCommitting = false
        self.owners[number].committing = []
        self.checker.readOutputs(self.journal)
        // Between the commit of an output and its delivery.
        guard !self.dies() else { return }
        if self.mutation == .losesEffects, self.dice.chance(0.25) { return self.hand([], owed: effects) }
        if self.mutation != .deliversEarly { self.hand(effects, owed: effects) }
    }

    private mutating func hand(_ effects: [Effect], owed: [Effect] = []) {
        let due = self.now + Int64(self.plan.delayMax) + 1000
        for effect in owed {
            switch effect {
            case .reload(let reload):
                guard let host = self.hosts.firstIndex(where: { $0.id == reload.host }),
                    let session = self.hosts[host].session
                else { continue }
                self.checker.expect(reload.id, from: .session(session, of: host), by: due)
            case .push(let push): self.checker.expect(push.id, from: .start(self.start), by: due)
            case .invalidation: continue
            }
        }
        for effect in effects {
            switch effect {
            case .reload(let reload):
                guard let host = self.hosts.firstIndex(where: { $0.id == reload.host }) else { continue }
                self.deliver(reload, to: host)
            case .push(let push): self.dispatch(push)
            case .invalidation: continue
            }
        }
    }

    /// Sends a reload over its host's connection. A connection loses nothing unless it breaks.
    mutating func deliver(_ reload: ReloadEffect, to host: Int) {
        guard let session = self.hosts[host].session else { return }
        if self.dice.chance(self.plan.lost) {
            self.hosts[host].session = nil
            self.queue.put(.connect(host), at: self.now + 1000 + Int64(self.dice.below(20_000)))
            return
        }
        let copies = self.dice.chance(self.plan.doubled) ? 2 : 1
        for _ in 0..<copies {
            let delay = 1 + Int64(self.dice.below(self.plan.delayMax))
            self.queue.put(.reload(host, session: session, reload), at: self.now + delay)
        }
    }

    /// Plans the tick that the engine's next timer asks for.
    private mutating func planTick(_ number: Int) {
        guard let due = self.owners[number].engine.nextTimer else { return }
        let at = max(due.milliseconds, self.now + Self.tickSpacing)
        if let planned = self.owners[number].tickAt, planned <= at { return }
        self.owners[number].tickAt = at
        self.queue.put(.tick(self.owners[number].partition, start: self.start), at: at)
    }
}
