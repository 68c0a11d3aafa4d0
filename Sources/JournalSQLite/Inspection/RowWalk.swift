import CSQLite
import Journaling
import WidgetModel

/// Walks over the rows of one log file and notes the faults of each, going on behind it.
struct RowWalk {
    private let database: Database
    private let file: String
    private let partitions: Int
    private(set) var faults: [LogError] = []
    /// The end of each partition behind the rows that were walked over.
    private(set) var ends: [PartitionStart]
    /// Of the partition walked over last.
    private(set) var entries = 0
    private(set) var outputs = 0
    private var lastThrough = Int64.min
    private var lastVersion: UInt32?

    /// How far from a row its true place is looked for.
    private static let neighbours: UInt64 = 64

    init(database: Database, file: String, starts: [PartitionStart], partitions: Int) {
        self.database = database
        self.file = file
        self.ends = starts
        self.partitions = partitions
    }

    mutating func walkEntries(of partition: PartitionID) {
        self.entries = 0
        let index = Int(partition.rawValue)
        do throws(SQLiteError) {
            let query = try self.database.prepare(
                "SELECT position, log_time, records, checksum, bytes FROM entries_\(partition) ORDER BY position"
            )
            while try query.step() {
                let position = UInt64(bitPattern: query.integer(at: 0))
                self.expect(position, after: self.ends[index].tail.position.rawValue, partition, .entries)
                self.check(query, position, partition)
                self.ends[index].tail.position = LogPosition(position)
                self.entries += 1
            }
        } catch {
            self.noteUnreadable(error, from: self.ends[index].tail.position.rawValue + 1, partition, .entries)
        }
    }

    private mutating func check(_ query: Statement, _ position: UInt64, _ partition: PartitionID) {
        let index = Int(partition.rawValue)
        guard let packed = try? PackedRecords(validating: query.bytes(at: 4)),
            Int64(packed.count) == query.integer(at: 2)
        else {
            return self.noteFault(.framing, partition, .entries, position, "its records cannot be separated")
        }
        let time = Instant(milliseconds: query.integer(at: 1))
        let entry = LogEntry(position: LogPosition(position), logTime: time, packed: packed)
        let stored = query.integer(at: 3)
        guard Int64(entry.checksum(in: partition)) == stored else {
            let (code, sentence) = self.explain(stored, position, partition) { position, partition in
                LogEntry(position: LogPosition(position), logTime: time, packed: packed).checksum(in: partition)
            }
            return self.noteFault(code, partition, .entries, position, sentence)
        }
        if time < self.ends[index].tail.logTime {
            let back = (self.ends[index].tail.logTime - time).milliseconds
            let sentence = "its time is \(back) ms before that of the entry ahead of it"
            self.noteFault(.time, partition, .entries, position, sentence)
        }
        self.ends[index].tail.logTime = max(self.ends[index].tail.logTime, time)
    }

    mutating func walkOutputs(of partition: PartitionID) {
        self.outputs = 0
        (self.lastThrough, self.lastVersion) = (.min, nil)
        let index = Int(partition.rawValue)
        do throws(SQLiteError) {
            let query = try self.database.prepare(
                """
                SELECT position, through, epoch, engine_version, running_hash, checksum, effects
                FROM outputs_\(partition) ORDER BY position
                """
            )
            while try query.step() {
                let position = UInt64(bitPattern: query.integer(at: 0))
                let before = self.ends[index].newestOutput?.rawValue ?? 0
                self.expect(position, after: before, partition, .outputs)
                self.check(output: query, position, partition)
                self.ends[index].newestOutput = OutputPosition(position)
                self.outputs += 1
            }
        } catch {
            let next = (self.ends[index].newestOutput?.rawValue ?? 0) + 1
            self.noteUnreadable(error, from: next, partition, .outputs)
        }
    }

    private mutating func check(output query: Statement, _ position: UInt64, _ partition: PartitionID) {
        guard let version = UInt32(exactly: query.integer(at: 3)) else {
            return self.noteFault(.version, partition, .outputs, position, "its engine version is no version")
        }
        let record = OutputRecord(
            through: LogPosition(UInt64(bitPattern: query.integer(at: 1))),
            ahead: UInt64(bitPattern: query.integer(at: 2)),
            engineVersion: version,
            runningHash: UInt64(bitPattern: query.integer(at: 4)),
            effects: query.bytes(at: 6)
        )
        let stored = query.integer(at: 5)
        let output = OutputEntry(position: OutputPosition(position), record: record)
        guard Int64(output.checksum(in: partition)) == stored else {
            let (code, sentence) = self.explain(stored, position, partition) { position, partition in
                OutputEntry(position: OutputPosition(position), record: record).checksum(in: partition)
            }
            return self.noteFault(code, partition, .outputs, position, sentence)
        }
        let through = query.integer(at: 1)
        // A piece stays where the output ahead of it came to.
        let isPiece = record.ahead > 0 && (through == self.lastThrough || self.lastThrough == .min)
        // So does a gate, which names other decision rules.
        let isGate = through == self.lastThrough && version != self.lastVersion
        if through <= self.lastThrough, !isPiece, !isGate {
            let sentence = "it goes through entry \(through), the output ahead of it through \(self.lastThrough)"
            self.noteFault(.output, partition, .outputs, position, sentence)
        }
        self.lastThrough = max(self.lastThrough, through)
        self.lastVersion = version
    }

    /// Notes the rows that are missing before a row, or that its position belongs to an earlier row.
    private mutating func expect(
        _ position: UInt64,
        after last: UInt64,
        _ partition: PartitionID,
        _ table: LogError.Table
    ) {
        if position > last + 1 {
            let range = position - last == 2 ? "it is missing" : "\(last + 1) to \(position - 1) are missing"
            self.noteFault(.missing, partition, table, last + 1, range)
        } else if position <= last {
            self.noteFault(.place, partition, table, position, "the position is already in the file before")
        }
    }

    /// Whether a row whose checksum does not fit is whole, and stands in the wrong place.
    private func explain(
        _ stored: Int64,
        _ position: UInt64,
        _ partition: PartitionID,
        checksum: (UInt64, PartitionID) -> UInt32
    ) -> (LogError.Code, String) {
        for other in 0..<self.partitions where Int64(checksum(position, PartitionID(UInt16(other)))) == stored {
            return (.place, "it belongs to partition \(other)")
        }
        let near = position - min(position - 1, Self.neighbours)...position + Self.neighbours
        for other in near where Int64(checksum(other, partition)) == stored {
            return (.place, "the row has position \(other)")
        }
        return (.checksum, "its checksum is \(checksum(position, partition)), the stored one \(stored)")
    }

    private mutating func noteFault(
        _ code: LogError.Code,
        _ partition: PartitionID,
        _ table: LogError.Table,
        _ position: UInt64,
        _ sentence: String
    ) {
        self.faults.append(
            LogError(code, file: self.file, partition: partition, table: table, position: position, sentence)
        )
    }

    private mutating func noteUnreadable(
        _ failure: SQLiteError,
        from position: UInt64,
        _ partition: PartitionID,
        _ table: LogError.Table
    ) {
        let sentence = "nothing can be read from here on: \(failure.sentence)"
        self.noteFault(.page, partition, table, position, sentence)
    }
}
