import Engine
import JournalStreams
import Journaling
import Ownership
import Scenarios
import WidgetModel

/// Snapshots of the log on streams, and the trimming behind them.
extension ClusterRun {
    /// The state that a start begins with, or that the next snapshot is made of.
    mutating func loadState(of partition: PartitionID, notBeyond last: LogPosition, by rules: Int) throws -> LoadedState
    {
        let seed = self.dice.next()
        let store = ClusterSnapshots(log: self.log)
        let state = try LoadedState.newest(
            of: partition,
            among: FaultWorld.partitions,
            in: store,
            notBeyond: last,
            rules: rules,
            seed: seed,
            read: { try store.engine($0, among: FaultWorld.partitions, seed: seed, rules: rules) },
            refused: { _ in }
        )
        if state.snapshot != nil { self.checker.noteOccurrence(.snapshotRead) }
        return state
    }

    /// Reads the log as it is, from a position on.
    func reading(of partition: PartitionID) -> (LogPosition) throws -> [LogEntry] {
        let log = self.log
        return { position in
            let ends = log.streams.ends(of: log.names.input(partition))
            let (entries, _) = try log.entries(
                of: partition,
                from: position,
                through: ends.last,
                entriesMax: 16,
                known: nil
            )
            guard !entries.isEmpty else { throw JournalError(.corrupt, "position \(position) is gone") }
            return entries
        }
    }

    /// Asks for a snapshot of a partition.
    mutating func askForSnapshot(of partition: PartitionID, _ node: SimulatedNode) {
        guard let owner = node.seats[Int(partition.rawValue)].owner, !owner.machine.isReplaying, owner.applied > .start
        else { return }
        if self.bug == .startsAhead {
            let ahead = OwnerCheckpoint(through: owner.applied, runningHash: owner.engine.runningHash)
            guard owner.machine.isBetweenEntries else { return }
            node.seats[Int(partition.rawValue)].checkpoint = ahead
            return self.plan(node.agent(.snapshot(partition)))
        }
        owner.wantsSnapshot = true
        owner.machine.askForCheckpoint()
        self.planOwner(of: partition, node)
    }

    /// Replays the log to a checkpoint, writes the state, and removes snapshots and messages that are not needed any
    /// more.
    mutating func makeSnapshot(of partition: PartitionID, _ node: SimulatedNode) {
        self.writeSnapshot(of: partition, node)
        guard node.isUp, node.seats[Int(partition.rawValue)].isClosed else { return }
        // The rules before go on.
        self.leave(partition, node)
        self.planOwner(of: partition, node)
    }

    private mutating func writeSnapshot(of partition: PartitionID, _ node: SimulatedNode) {
        let index = Int(partition.rawValue)
        guard let checkpoint = node.seats[index].checkpoint.take(), self.now >= self.electionUntil else { return }
        var store = ClusterSnapshots(log: self.log)
        self.uploads += 1
        store.upload = self.uploads
        // Its writer may die in the middle.
        let isCut = self.dice.chance(self.plan.crashes * 10)
        if isCut { store.messagesMax = self.dice.below(3) }
        do {
            var state = try self.loadState(of: partition, notBeyond: checkpoint.through, by: node.rules)
            guard state.engine.position < checkpoint.through else { return self.stateWritten(partition, node) }
            try state.advance(to: checkpoint, read: self.reading(of: partition), checkStop: {})
            let id = SnapshotID(partition: partition, position: checkpoint.through, logTime: state.engine.time)
            var encoder = EngineSnapshotEncoder()
            try store.write(id) { encoder.next(state.engine) }
            let isLast = node.seats[index].isClosed
            self.stateWritten(partition, node)
            try self.tidy(partition, id, state.engine.time, store, node, isLast: isLast)
        } catch let error as JournalError where error.code == .closed {
            self.checker.noteOccurrence(.snapshotCut)
            self.kill(node)
        } catch let error as JournalError where error.code == .corrupt {
            // Another one trimmed meanwhile.
            self.checker.noteOccurrence(.overtaken)
        } catch OwnerError.noState {
            self.checker.noteOccurrence(.overtaken)
        } catch {
            self.checker.fault("partition \(partition): no snapshot: \(error)")
        }
    }

    private mutating func tidy(
        _ partition: PartitionID,
        _ newest: SnapshotID,
        _ now: Instant,
        _ store: ClusterSnapshots,
        _ node: SimulatedNode,
        isLast: Bool
    ) throws {
        let all = store.snapshots(partition)
        let kept = SnapshotRetention.kept(of: all, now: now, history: .zero)
        for old in all where !kept.contains(old) { try store.remove(old) }
        var oldest = kept.count < SnapshotRetention.newestKept ? LogPosition.start : kept.last?.position ?? .start
        if self.bug == .trimsAhead { oldest = kept.first?.position ?? .start }
        node.seats[Int(partition.rawValue)].trimming = Trimming(
            through: oldest,
            loggedBefore: Instant(milliseconds: .max)
        )
        self.plan(node.agent(.trim(partition)))
        // Where the one before is of other rules, no state is left without this one.
        guard kept.count > 1, !isLast, kept.allSatisfy({ !self.damaged.contains($0) }),
            kept.allSatisfy({ (try? RulesStanding.rules(of: $0, in: store)) == node.rules }),
            self.dice.chance(self.plan.damagedSnapshots)
        else { return }
        self.checker.noteOccurrence(.snapshotDamaged)
        self.damaged.insert(newest)
        store.damage(newest)
    }

    // MARK: Trimming

    mutating func stepTrim(_ agent: Agent, _ partition: PartitionID, _ node: SimulatedNode) {
        let index = Int(partition.rawValue)
        guard node.attempts[agent.work] == nil, var trimming = node.seats[index].trimming else { return }
        // If brokers do not answer, trimming is tried again with the next snapshot.
        guard self.canRead() else { return node.seats[index].trimming = nil }
        let (streams, names) = (self.log.streams, self.log.names)
        let (input, output) = (names.input(partition), names.output(partition))
        do {
            switch trimming.step {
            case .done:
                node.seats[index].trimming = nil
                return self.trimFan()
            case .look:
                trimming.looked(entries: streams.ends(of: input), newest: self.log.newestOutput(partition))
            case .readEntries(let first):
                let last = streams.ends(of: input).last
                trimming.read(
                    try self.log.entries(of: partition, from: first, through: last, entriesMax: 16, known: nil).entries
                )
            case .findOutputs: trimming.outputs(from: streams.ends(of: output).first)
            case .readOutput(let position):
                let message = streams.message(from: position.rawValue, in: output)
                let found = message.flatMap { self.log.output($0, of: partition) }
                trimming.read(output: found?.position == position ? found : nil)
            case .purgeOutputs(let position):
                streams.purge(output, before: position.rawValue)
                trimming.purgedOutputs()
            case .findCopies(let position):
                let copies = names.copies(partition)
                trimming.found(
                    newestCopy: self.log.input(streams.newest(in: input, of: copies), of: partition),
                    behind: self.log.input(
                        streams.message(of: copies, behind: position.rawValue, in: input),
                        of: partition
                    )
                )
            case .readNote:
                let (note, sequence) = try self.log.trimmed(partition)
                trimming.found(note: note, sequence: sequence)
            case .writeNote(let trimmed, let expectation):
                let subject = names.trimmed(partition)
                self.publish(
                    trimmed.bytes(SimulatedLog.journalID, in: subject),
                    to: subject,
                    in: names.notes,
                    self.bug == .notesBlindly ? .nothing : expectation,
                    by: agent
                )
            case .purgeEntries(let position):
                self.checker.noteOccurrence(.trimmed)
                streams.purge(input, before: position.rawValue)
                trimming.purged()
            }
        } catch {
            // Another one trimmed meanwhile.
            return node.seats[index].trimming = nil
        }
        node.seats[index].trimming = trimming
        if node.attempts[agent.work] == nil { self.plan(agent) }
    }

    mutating func noted(_ outcome: PublishOutcome, _ agent: Agent, _ partition: PartitionID, _ node: SimulatedNode) {
        let index = Int(partition.rawValue)
        switch outcome {
        case .stored, .otherEnd: node.seats[index].trimming?.noted(outcome)
        case .refused, .notTaken, .unknown: node.seats[index].trimming = nil
        }
        self.plan(agent)
    }

    /// Lets go of originals that all partitions have copies of which are gone.
    private func trimFan() {
        let fans = Self.partitions.map { (try? self.log.trimmed($0).note)?.fan ?? 0 }
        if let all = fans.min(), all > 0 { self.log.streams.purge(self.log.names.fan, before: all + 1) }
    }
}
