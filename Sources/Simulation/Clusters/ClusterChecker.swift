import Engine
import JournalStreams
import Journaling
import Ownership
import Synchronization
import WidgetModel

/// Gives numbers that were never given before.
final class Counter: Sendable {
    private let last = Mutex<UInt64>(0)

    func next() -> UInt64 {
        self.last.withLock { last in
            last += 1
            return last
        }
    }
}

/// Watches a cluster from outside, over everything that its streams ever had, and checks the promises.
struct ClusterChecker {
    /// The identity of a record that was handed to some node: nil for all partitions.
    private struct Place: Hashable {
        let partition: PartitionID?
        let record: [UInt8]
    }

    private let log: SimulatedLog
    /// By partition.
    let witnesses: [LogWitness]
    private var walks: [EntryWalk]
    /// The newest original of which a partition has a copy.
    private var fans: [UInt64]
    /// The newest output of each partition that was looked at.
    private var outputs: [OutputEntry?]
    private var fanRead: UInt64 = 1
    private var originals: [FanMessage] = []
    /// How often a record was handed to a node, less how often it was stored.
    private var submitted: [Place: Int] = [:]
    private var checker: FaultChecker
    private(set) var occurrences: [ClusterOccurrence: Int] = [:]

    var violations: [String] { self.checker.violations }

    init(_ log: SimulatedLog, seed: UInt64) {
        self.log = log
        self.witnesses = (0..<FaultWorld.partitions).map {
            LogWitness(partition: PartitionID(UInt16($0)), partitions: FaultWorld.partitions, seed: ~seed)
        }
        self.walks = self.witnesses.map {
            EntryWalk(behind: .start, SimulatedLog.journalID, in: log.names.input($0.partition))
        }
        self.fans = Array(repeating: 0, count: FaultWorld.partitions)
        self.outputs = Array(repeating: nil, count: FaultWorld.partitions)
        self.checker = FaultChecker(partitions: FaultWorld.partitions)
    }

    mutating func fault(_ sentence: String) { self.checker.fault(sentence) }

    mutating func noteOccurrence(_ occurrence: ClusterOccurrence) { self.occurrences[occurrence, default: 0] += 1 }

    // MARK: Records for nodes

    mutating func noteSent(_ push: PushRecord) { self.checker.noteSent(push) }
    mutating func noteAccepted(_ push: PushID, _ partitions: [PartitionID]) {
        self.checker.noteAccepted(push, partitions)
    }
    mutating func noteRefused(_ reload: ReloadEffect) { self.checker.noteRefused(reload) }

    /// Records are handed to a node, perhaps again: each time they may be stored once.
    mutating func noteSubmitted(_ records: PackedRecords, to partition: PartitionID?) {
        for range in records.ranges {
            self.submitted[Place(partition: partition, record: Array(records.bytes[range])), default: 0] += 1
        }
    }

    private mutating func noteStored(_ records: PackedRecords, to partition: PartitionID?, at sequence: UInt64) {
        for range in records.ranges {
            let left = self.submitted[Place(partition: partition, record: Array(records.bytes[range])), default: 0]
            self.submitted[Place(partition: partition, record: Array(records.bytes[range]))] = left - 1
            guard left < 1 else { continue }
            let place = partition.map { "partition \($0)" } ?? "the log for all partitions"
            self.fault("a record is in \(place) more often than it was sent, again at \(sequence)")
        }
    }

    // MARK: Stored messages

    /// Reads the new messages of all streams.
    mutating func readLog(now: Int64) {
        for message in self.log.streams.history(of: self.log.names.fan, from: self.fanRead) {
            self.fanRead = message.sequence + 1
            do throws(MessageError) {
                let original = try FanMessage(message.bytes, SimulatedLog.journalID, in: self.log.names.fan)
                self.originals.append(original)
                self.noteStored(original.submission.distinctRecords[0], to: nil, at: message.sequence)
            } catch {
                self.fault("original \(message.sequence): \(error.sentence)")
            }
        }
        for witness in self.witnesses {
            let index = Int(witness.partition.rawValue)
            let stream = self.log.names.input(witness.partition)
            for message in self.log.streams.history(of: stream, from: self.walks[index].next.rawValue) {
                self.read(message, witness, now)
            }
        }
        self.checker.readOutputs(self.log, self.witnesses)
        for witness in self.witnesses { self.checkRules(of: witness.partition) }
    }

    private mutating func read(_ message: StoredMessage, _ witness: LogWitness, _ now: Int64) {
        let partition = witness.partition
        let index = Int(partition.rawValue)
        do {
            let before = self.walks[index].last.time.disagreements
            let (entry, input) = try self.walks[index].takeMessage(
                self.log.misread(message, in: self.log.names.input(partition))
            )
            if self.walks[index].last.time.disagreements > before { self.noteOccurrence(.disagreement) }
            self.checkTime(of: entry, partition, now)
            if let fan = input.fan {
                self.checkCopy(input, fan, partition)
            } else {
                self.noteStored(input.records, to: partition, at: message.sequence)
            }
            self.checker.noteApplied(entry, try witness.read(entry), witness)
        } catch {
            self.fault("partition \(partition), entry \(message.sequence): \(error)")
        }
    }

    /// A broker's clock takes no entry ahead of the nodes' clocks.
    private mutating func checkTime(of entry: LogEntry, _ partition: PartitionID, _ now: Int64) {
        let latest = Instant(milliseconds: now + ClusterRun.clockErrorMax) + EntryTime.leadMax
        guard entry.logTime > latest else { return }
        self.fault("partition \(partition), entry \(entry.position): its time is ahead of every node's clock")
    }

    /// Each partition has each original once, whole, and in their order.
    private mutating func checkCopy(_ copy: InputMessage, _ fan: UInt64, _ partition: PartitionID) {
        let index = Int(partition.rawValue)
        if fan != self.fans[index] + 1 {
            self.fault("partition \(partition): original \(fan) came behind \(self.fans[index])")
        }
        self.fans[index] = fan
        guard fan <= self.originals.count,
            self.originals[Int(fan) - 1].submission.records(for: partition) == copy.records
        else { return self.fault("partition \(partition): the copy of original \(fan) is another") }
    }

    /// Checks that a message is there that a node was told to be stored.
    mutating func checkStored(_ bytes: [UInt8], at sequence: UInt64, in stream: String) {
        if self.log.streams.history(of: stream, from: sequence).first?.bytes != bytes {
            self.fault("message \(sequence) of \(stream) is not the one that was reported as stored there")
        }
    }

    // MARK: Decision rules

    /// Rules change nowhere but at a gate, which decides nothing, behind a snapshot of all that was decided before.
    private mutating func checkRules(of partition: PartitionID) {
        let index = Int(partition.rawValue)
        let first = self.outputs[index]?.position.next ?? .first
        for output in self.log.outputs(of: partition, from: first) {
            defer { self.outputs[index] = output }
            guard let before = self.outputs[index]?.record, before.engineVersion != output.record.engineVersion else {
                continue
            }
            let isState = ClusterSnapshots(log: self.log).snapshots(partition)
                .contains { $0.position == output.record.through }
            guard output.record == RulesStanding.gate(to: Int(output.record.engineVersion), behind: before),
                before.ahead == 0, isState
            else {
                self.fault(
                    "partition \(partition), output \(output.position): other rules decide, and there is no gate"
                )
                continue
            }
            self.noteOccurrence(.gatePassed)
        }
    }

    // MARK: Owners

    /// An owner has applied an entry: its effects and state must be those of the witness.
    mutating func checkApplied(_ run: EntryRun, by owner: SimulatedOwner) {
        let position = run.entry.position
        let witness = self.witnesses[Int(owner.partition.rawValue)]
        if witness.effects(at: position) != run.effects.all {
            self.fault("partition \(owner.partition): position \(position) gave other effects")
        }
        if witness.hash(at: position) != owner.engine.runningHash {
            self.fault("partition \(owner.partition): position \(position) gave another state")
        }
    }

    /// A standby has applied an entry: its owner must have committed the entry's output.
    mutating func checkFollowed(_ run: EntryRun, by standby: SimulatedOwner) {
        self.checkApplied(run, by: standby)
        let (position, partition) = (run.entry.position, standby.partition)
        if position > self.log.newestOutput(partition)?.record.through ?? .start {
            self.fault("partition \(partition): a standby applied position \(position), which is not committed")
        }
    }

    /// A reload goes to its host.
    mutating func noteIssued(_ reload: ReloadEffect) {
        self.checker.readOutputs(self.log, self.witnesses)
        self.checker.noteReceived(reload)
    }

    // MARK: The end

    /// - Parameter owners: The one of each partition.
    mutating func judge(_ owners: [SimulatedOwner]) {
        for (owner, witness) in zip(owners, self.witnesses) {
            let partition = owner.partition
            if owner.applied != witness.applied || owner.engine.stateDigest() != witness.engine.stateDigest() {
                self.fault("partition \(partition): its owner's state is not that of the log")
            }
            let stats = owner.engine.stats()
            if stats.outcomes[.deferred] + stats.outcomes[.issued] > 0 {
                self.fault("partition \(partition): pushes have no outcome at the end")
            }
            if owner.machine.uncommittedCount > 0 { self.fault("partition \(partition): effects not committed") }
            if self.fans[Int(partition.rawValue)] != UInt64(self.originals.count) {
                self.fault("partition \(partition) does not have all that is for all")
            }
        }
        self.checker.checkBooks(owners, self.witnesses)
        self.checker.checkAccepted(owners, team: FaultWorld.team)
        self.checker.checkBudgets()
        self.checker.checkOutputs(self.log, self.witnesses)
    }
}
