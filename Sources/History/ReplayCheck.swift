import Engine
package import Journaling
package import WidgetModel

/// Replays one partition of a log and holds it to its outputs: the same states, and the same effects to the byte.
package struct ReplayCheck {
    package private(set) var faults: [LogFault] = []
    /// The newest entry that was applied.
    package private(set) var applied = LogPosition.start
    /// The state's digest behind it.
    package private(set) var stateDigest: UInt64 = 0
    /// How many outputs were compared.
    package private(set) var outputsCompared = 0

    private let partition: PartitionID
    private let partitions: Int
    private var engine: Engine
    private var output = EngineOutput()
    /// What came out since the last output.
    private var effects: [Effect] = []

    private static let chunk = 256

    /// Replays.
    ///
    /// - Parameters:
    ///   - history: The log.
    ///   - partition: Which partition of it.
    ///   - start: Where the replay begins.
    ///   - end: The first entry that is not to be read, since it is known to be damaged; nil for all.
    ///   - progress: Called with the newest applied position now and then.
    /// - Throws: What the log or the start throws.
    package init(
        _ history: any LogHistory,
        _ partition: PartitionID,
        from start: any HistoryStart = EmptyStart(),
        before end: LogPosition? = nil,
        progress: (LogPosition) -> Void = { _ in }
    ) throws {
        self.partition = partition
        self.partitions = history.format.partitions
        self.engine = try start.engine(
            of: partition,
            among: history.format.partitions,
            notAfter: Instant(milliseconds: .min)
        )
        self.applied = self.engine.position
        var outputs = OutputWalk(history, partition)
        while try outputs.next(through: self.applied) != nil {}
        reading: while true {
            let entries = try history.read(partition, from: self.applied.next, entriesMax: Self.chunk)
            if entries.isEmpty { break }
            for entry in entries {
                if let end, entry.position >= end { break reading }
                guard entry.position == self.applied.next else {
                    let sentence = "the log begins here, and there is no state to replay it from"
                    self.note(.missing, .entries, entry.position.rawValue, sentence)
                    break reading
                }
                guard self.apply(entry) else { break reading }
                while let output = try outputs.next(through: entry.position) { self.compare(output) }
            }
            progress(self.applied)
        }
        self.stateDigest = self.engine.stateDigest()
    }

    /// Applies an entry; false if the replay ends with it.
    private mutating func apply(_ entry: LogEntry) -> Bool {
        let bytes = entry.bytes
        var index = 0
        for range in entry.records {
            defer { index += 1 }
            self.checkPlace(bytes, range, entry.position, index)
            do throws(EngineFault) {
                self.output.removeAll()
                try self.engine.apply(
                    bytes,
                    in: range,
                    recordIndex: index,
                    at: entry.position,
                    logTime: entry.logTime,
                    into: &self.output
                )
            } catch {
                var code = LogFault.Code.record
                if case .olderVersion = error { code = .version }
                self.note(code, .entries, entry.position.rawValue, "record \(index): \(error)")
                return false
            }
            self.effects += self.output.effects
            if case .settingsTooNew(let version)? = self.output.answers.last?.result {
                let sentence = "record \(index): decision rules version \(version), this program has \(Engine.version)"
                self.note(.version, .entries, entry.position.rawValue, sentence)
                return false
            }
        }
        self.applied = entry.position
        return true
    }

    /// A host's registration stands in the partition that the host belongs to.
    private mutating func checkPlace(_ bytes: [UInt8], _ range: Range<Int>, _ position: LogPosition, _ index: Int) {
        guard let glance = try? RecordGlance(bytes, in: range), glance.kind == .register,
            case .host(let place) = glance.subject
        else { return }
        let host = HostID(String(decoding: bytes[place], as: UTF8.self))
        let home = PartitionID(of: host, among: self.partitions)
        guard home != self.partition else { return }
        let sentence = "record \(index): host \(host) belongs to partition \(home)"
        self.note(.partition, .entries, position.rawValue, sentence)
    }

    private mutating func compare(_ entry: OutputEntry) {
        self.outputsCompared += 1
        let effects = self.effects
        self.effects = []
        let place = entry.position.rawValue
        if Int(entry.record.engineVersion) > Engine.version {
            let sentence = "decision rules version \(entry.record.engineVersion), this program has \(Engine.version)"
            return self.note(.version, .outputs, place, sentence)
        }
        if entry.record.runningHash != self.engine.runningHash {
            let sentence =
                "replay through entry \(entry.record.through) comes to state \(Base16.text(of: self.engine.runningHash)), "
                + "the output says \(Base16.text(of: entry.record.runningHash))"
            return self.note(.state, .outputs, place, sentence)
        }
        var writer = ByteWriter(reserving: 128 * effects.count)
        writer.write(each: effects) { $1.encode(into: &$0) }
        if writer.bytes != entry.record.effects {
            let sentence = "a replay gives \(effects.count) other effects than it holds"
            self.note(.effects, .outputs, place, sentence)
        }
    }

    private mutating func note(_ code: LogFault.Code, _ table: LogFault.Table, _ position: UInt64, _ sentence: String) {
        self.faults.append(LogFault(code, partition: self.partition, table: table, position: position, sentence))
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
