import Engine
package import Journaling
import Ownership
package import WidgetModel

/// Replays one partition of a log and holds it to its outputs: the same states, and the same effects to the byte. Where it
/// comes past a snapshot, that has to be the same state, too.
package struct ReplayCheck: ~Copyable {
    package private(set) var faults: [LogError] = []
    /// The newest entry that was applied.
    package private(set) var applied = LogPosition.start
    /// The state's digest behind it.
    package private(set) var stateDigest: UInt64 = 0
    /// How many outputs were compared.
    package private(set) var outputsCompared = 0

    private let partition: PartitionID
    private let partitions: Int
    private var engine: Engine
    /// The effects since the last output.
    private var effects: [Effect] = []
    private let snapshots: (any SnapshotHistory)?
    /// Outputs that the next whole one completes.
    private var chunks: [OutputEntry] = []
    /// Whether the next output may hold effects of entries from before the replay began.
    private var isMidOutput = false

    /// Replays.
    ///
    /// - Parameters:
    ///   - history: The log.
    ///   - partition: Which partition of it.
    ///   - snapshots: Its states: of a log whose first entries are gone the oldest good one is where the replay begins,
    ///     and all behind it are compared. Without them the log has to be whole.
    ///   - end: The first entry that is not to be read, since it is known to be damaged; nil for all.
    ///   - progress: Called with the newest applied position now and then.
    /// - Throws: The log's errors. If there is nothing to begin with, that is a fault like others.
    package init(
        _ history: any LogHistory,
        _ partition: PartitionID,
        snapshots: (any SnapshotHistory)? = nil,
        before end: LogPosition? = nil,
        progress: (LogPosition) -> Void = { _ in }
    ) throws {
        self.partition = partition
        self.partitions = history.format.partitions
        self.snapshots = snapshots
        self.engine = HistoryStart.empty(of: partition, among: self.partitions)
        let all = try snapshots?.snapshots(partition).reversed() ?? []
        do {
            self.engine = try HistoryStart(snapshots).engine(of: partition, in: history, .oldest(notAfter: nil))
        } catch let fault as HistoryError {
            for id in all { self.check(id) }
            let sentence = "the log begins here and cannot be replayed: \(fault)"
            self.noteFault(.missing, .entries, try history.head(partition).rawValue, sentence)
            return
        }
        self.applied = self.engine.position
        var outputs = OutputWalk(history, partition)
        var compared = LogPosition.start
        while let output = try outputs.next(through: self.applied) {
            if output.record.ahead > 0 {
                self.chunks.append(output)
            } else {
                (compared, self.chunks) = (output.record.through, [])
            }
        }
        self.isMidOutput = compared != self.applied
        for id in all where id.position < self.applied { self.check(id) }
        var waiting = all.filter { $0.position > self.applied }[...]
        var walk = EntryWalk(history, partition, behind: self.applied)
        while let entry = try walk.next() {
            if let end, entry.position >= end { break }
            guard self.apply(entry) else { break }
            while let output = try outputs.next(through: entry.position) { self.compare(output) }
            if waiting.first?.position == entry.position, let id = waiting.popFirst() { self.check(id) }
            progress(self.applied)
        }
        self.stateDigest = self.engine.stateDigest()
    }

    /// Applies an entry; false if the replay ends with it.
    private mutating func apply(_ entry: LogEntry) -> Bool {
        self.checkPlaces(entry)
        var run = EntryRun(entry)
        do throws(EngineError) {
            try run.finish(&self.engine)
        } catch {
            var code = LogError.Code.record
            if case .olderVersion = error { code = .version }
            self.noteFault(code, .entries, entry.position.rawValue, "record \(run.recordsBegun - 1): \(error)")
            return false
        }
        self.effects += run.effects.all
        for answer in run.output.answers {
            guard case .settingsTooNew(let version) = answer.result else { continue }
            let sentence =
                "record \(answer.recordIndex): decision rules version \(version), this program has \(Engine.version)"
            self.noteFault(.version, .entries, entry.position.rawValue, sentence)
            return false
        }
        self.applied = entry.position
        return true
    }

    /// A host's registration stands in the partition that the host belongs to.
    private mutating func checkPlaces(_ entry: LogEntry) {
        var index = 0
        for range in entry.records {
            defer { index += 1 }
            guard let header = try? RecordHeader(entry.bytes, in: range), header.kind == .register,
                case .host(let place) = header.subject,
                let host = HostKey(text: String(decoding: entry.bytes[place], as: UTF8.self))
            else { continue }
            let home = PartitionID(of: host, among: self.partitions)
            guard home != self.partition else { continue }
            let sentence = "record \(index): host \(host) belongs to partition \(home)"
            self.noteFault(.partition, .entries, entry.position.rawValue, sentence)
        }
    }

    private mutating func compare(_ entry: OutputEntry) {
        self.outputsCompared += 1
        let place = entry.position.rawValue
        if Int(entry.record.engineVersion) != Engine.version {
            let sentence = "decision rules version \(entry.record.engineVersion), this program has \(Engine.version)"
            self.noteFault(.version, .outputs, place, sentence)
            return self.letGo()
        }
        if entry.record.runningHash != self.engine.runningHash {
            let sentence =
                "replay through entry \(entry.record.through) gives state \(Base16.text(of: self.engine.runningHash)), the output has \(Base16.text(of: entry.record.runningHash))"
            self.noteFault(.state, .outputs, place, sentence)
            return self.letGo()
        }
        // A chunk comes before the entries that its effects are of.
        if entry.record.ahead > 0 { return self.chunks.append(entry) }
        defer {
            self.letGo()
            self.isMidOutput = false
        }
        guard !self.isMidOutput else { return }
        var first = 0
        for output in self.chunks + [entry] {
            var reader = ByteReader(output.record.effects)
            let count = (try? reader.readCount()) ?? 0
            let isLast = output.position == entry.position
            let end = isLast ? self.effects.count : min(first + count, self.effects.count)
            var writer = ByteWriter(reserving: output.record.effects.count)
            writer.write(count: end - first)
            for effect in self.effects[first..<end] { effect.encode(into: &writer) }
            if writer.bytes != output.record.effects || (!isLast && end != output.record.ahead) {
                let sentence = "a replay gives other effects than its own (\(end - first))"
                return self.noteFault(.effects, .outputs, output.position.rawValue, sentence)
            }
            first = end
        }
    }

    /// Forgets the effects and chunks that were to be compared.
    private mutating func letGo() {
        self.effects = []
        self.chunks = []
    }

    /// Reads a snapshot, and compares it if the replay has come to its place.
    private mutating func check(_ id: SnapshotID) {
        guard let snapshots = self.snapshots else { return }
        let place = id.position.rawValue
        do {
            let engine = try snapshots.engine(id, among: self.partitions)
            guard id.position == self.applied, engine.stateDigest() != self.engine.stateDigest() else { return }
            let sentence = "a replay gives another state than the snapshot has"
            self.noteFault(.snapshot, .entries, place, sentence)
        } catch SnapshotError.otherFormat, SnapshotError.otherEngine {
            // Another version's: good for that one.
        } catch {
            // A gateway may have removed it meanwhile.
            guard (try? snapshots.snapshots(self.partition).contains(id)) ?? false else { return }
            self.noteFault(.snapshot, .entries, place, "the snapshot cannot be used: \(error)")
        }
    }

    private mutating func noteFault(
        _ code: LogError.Code,
        _ table: LogError.Table,
        _ position: UInt64,
        _ sentence: String
    ) {
        self.faults.append(LogError(code, partition: self.partition, table: table, position: position, sentence))
    }
}

/// Outputs one by one, as the replay comes to their entries.
private struct OutputWalk {
    private let history: any LogHistory
    private let partition: PartitionID
    private var read: [OutputEntry] = []
    private var index = 0
    private var position = OutputPosition.first
    private var isAtEnd = false

    init(_ history: any LogHistory, _ partition: PartitionID) {
        self.history = history
        self.partition = partition
    }

    /// The next output, if it goes no further than an entry.
    mutating func next(through position: LogPosition) throws(JournalError) -> OutputEntry? {
        if self.index == self.read.count, !self.isAtEnd {
            self.read = try self.history.readOutputs(self.partition, from: self.position, outputsMax: 64)
            self.index = 0
            self.isAtEnd = self.read.isEmpty
            if let last = self.read.last { self.position = last.position.next }
        }
        guard self.index < self.read.count, self.read[self.index].record.through <= position else { return nil }
        defer { self.index += 1 }
        return self.read[self.index]
    }
}
