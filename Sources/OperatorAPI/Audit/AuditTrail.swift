import APNSWire
package import Engine
import History
package import Journaling
package import WidgetModel

/// The newest requests of operators that the log has, in its order: a value, with the changes that are to be written
/// down.
///
/// A record counts once however often it is read, and records may be read in any order: so the front of the log may be read
/// while its end grows.
package struct AuditTrail: Sendable {
    /// How many requests are kept.
    package static let entriesMax = 1000
    /// The number of the archived record that says how far the log was read.
    private static let positionsRecord: UInt64 = 1
    /// The version of archived bytes.
    private static let version: UInt8 = 2

    /// One request that changed something.
    package struct Entry: Hashable, Sendable {
        package let at: Instant
        package let source: OperatorSource
        package let method: String
        package let path: String
        /// The request's body, as far as it is kept.
        package let body: String
        /// The status of the answer; nil while it is not known. For an order, the status of one that is carried out, whatever became of its
        /// answer.
        package fileprivate(set) var status: Int?
    }

    /// Where the record is that says so.
    fileprivate struct Place: Hashable, Comparable {
        let at: Instant
        let partition: PartitionID
        let position: LogPosition
        let index: Int

        static func < (left: Place, right: Place) -> Bool {
            (left.at.milliseconds, left.partition.rawValue, left.position.rawValue, left.index)
                < (right.at.milliseconds, right.partition.rawValue, right.position.rawValue, right.index)
        }
    }

    fileprivate struct Row {
        let place: Place
        /// The number by which an answer names the request; nil for an order.
        let number: UInt64?
        var entry: Entry
        /// Its number in the archive.
        let record: UInt64
    }

    /// By place.
    private var rows: [Row] = []
    private var nextRecord = Self.positionsRecord + 1
    private var positions: [LogPosition] = []
    private var changed: Set<UInt64> = []
    private var removed: [UInt64] = []

    package init() {}

    /// The newest first.
    package var entries: [Entry] { self.rows.reversed().map(\.entry) }

    /// How far a partition's log was read: everything up to there that is to be known is.
    package func position(_ partition: PartitionID) -> LogPosition {
        let index = Int(partition.rawValue)
        return index < self.positions.count ? self.positions[index] : .start
    }

    /// Says how far a partition's log was read.
    package mutating func reach(_ partition: PartitionID, _ position: LogPosition) {
        guard position != self.position(partition) else { return }
        let missing = Int(partition.rawValue) + 1 - self.positions.count
        if missing > 0 { self.positions += Array(repeating: .start, count: missing) }
        self.positions[Int(partition.rawValue)] = position
        self.changed.insert(Self.positionsRecord)
    }

    /// Takes in a record.
    ///
    /// - Returns: The request, if all of it is known now and was not before.
    package mutating func add(
        _ record: AuditedRecord,
        _ partition: PartitionID,
        _ position: LogPosition,
        at: Instant
    ) -> Entry? {
        let place = Place(at: at, partition: partition, position: position, index: record.recordIndex)
        switch record.content {
        case .order(let order, let source):
            // One record in each partition is one order.
            guard partition.rawValue == 0 || !order.isForAllPartitions else { return nil }
            // An order in the log is carried out, at the next start at the latest, even if a partition had stopped and the operator was
            // answered 503.
            let body = String(decoding: order.json.jsonText, as: UTF8.self)
            let entry = Entry(at: at, source: source, method: "POST", path: "/v1/orders", body: body, status: 200)
            return self.insert(entry, place, number: nil) ? entry : nil
        case .note(.request(let request)):
            let entry = Entry(
                at: at,
                source: request.source,
                method: request.method,
                path: request.path,
                body: request.body
            )
            _ = self.insert(entry, place, number: request.number)
            return nil
        case .note(.answer(let number, let status)):
            guard let index = self.rows.lastIndex(where: { $0.number == number }), self.rows[index].entry.status == nil
            else { return nil }
            self.rows[index].entry.status = status
            self.changed.insert(self.rows[index].record)
            return self.rows[index].entry
        }
    }

    private mutating func insert(_ entry: Entry, _ place: Place, number: UInt64?) -> Bool {
        guard self.insert(Row(place: place, number: number, entry: entry, record: self.nextRecord)) else {
            return false
        }
        self.changed.insert(self.nextRecord)
        self.nextRecord += 1
        if self.rows.count > Self.entriesMax { self.remove(self.rows.removeFirst()) }
        return true
    }

    /// - Returns: Whether it is new, and among the newest.
    private mutating func insert(_ row: Row) -> Bool {
        // Mostly it is the newest.
        let index = (self.rows.lastIndex { $0.place <= row.place }).map { $0 + 1 } ?? 0
        let isKnown = index > 0 && self.rows[index - 1].place == row.place
        guard !isKnown, index > 0 || self.rows.count < Self.entriesMax else { return false }
        self.rows.insert(row, at: index)
        return true
    }

    private mutating func remove(_ row: Row) {
        self.changed.remove(row.record)
        self.removed.append(row.record)
    }

    /// Forgets the requests of a partition from a position on that the log does not have: it is another log than
    /// before.
    package mutating func forget(_ partition: PartitionID, from position: LogPosition) {
        for row in self.rows where row.place.partition == partition && row.place.position >= position {
            self.remove(row)
        }
        self.rows.removeAll { $0.place.partition == partition && $0.place.position >= position }
    }
}

// MARK: - The archive

extension AuditTrail {
    /// The changes to write so that the archive equals the trail.
    package struct Changes: Sendable {
        package var records: [ArchivedRecord] = []
        package var removed: [UInt64] = []

        package var isEmpty: Bool { self.records.isEmpty && self.removed.isEmpty }
    }

    /// The changes since the last call.
    package mutating func takeChanges() -> Changes {
        var changes = Changes(removed: self.removed)
        for row in self.rows where self.changed.contains(row.record) {
            changes.records.append(ArchivedRecord(number: row.record, bytes: row.bytes))
        }
        if self.changed.contains(Self.positionsRecord) {
            var writer = ByteWriter(reserving: 64)
            writer.write(byte: Self.version)
            writer.write(each: self.positions) { $0.write(varint: $1.rawValue) }
            changes.records.append(ArchivedRecord(number: Self.positionsRecord, bytes: writer.bytes))
        }
        self.changed = []
        self.removed = []
        return changes
    }

    /// Has changes that could not be written be written next time.
    package mutating func putBack(_ changes: Changes) {
        self.changed.formUnion(changes.records.map(\.number))
        self.removed += changes.removed
    }

    /// Takes a record that an earlier process has written.
    package mutating func restore(_ record: ArchivedRecord) {
        self.nextRecord = max(self.nextRecord, record.number + 1)
        var reader = ByteReader(record.bytes)
        do throws(ByteError) {
            guard try reader.readByte() == Self.version else { throw .invalid(offset: 0) }
            if record.number == Self.positionsRecord {
                self.positions = try reader.readEach { (reader) throws(ByteError) in
                    // A position behind it exists, whatever was read.
                    LogPosition(min(try reader.readVarint(), UInt64(Int64.max)))
                }
            } else if !self.insert(try Row(from: &reader, record: record.number)) {
                self.removed.append(record.number)
            }
        } catch {
            // Nothing is lost: the log has it, and is read again.
            self.positions = []
            self.removed.append(record.number)
        }
    }
}

extension AuditTrail.Row {
    fileprivate var bytes: [UInt8] {
        var writer = ByteWriter(reserving: 256)
        writer.write(byte: AuditTrail.version)
        writer.write(self.place.at)
        writer.write(varint: UInt64(self.place.partition.rawValue))
        writer.write(varint: self.place.position.rawValue)
        writer.write(count: self.place.index)
        writer.write(self.number) { $0.write(fixed64: $1) }
        let source = self.entry.source
        for text in [source.caller, source.address, source.request] { writer.write(text) }
        for text in [self.entry.method, self.entry.path, self.entry.body] { writer.write(text) }
        writer.write(self.entry.status) { $0.write(count: $1) }
        return writer.bytes
    }

    fileprivate init(from reader: inout ByteReader, record: UInt64) throws(ByteError) {
        let at = try reader.readInstant()
        let partition = PartitionID(UInt16(truncatingIfNeeded: try reader.readVarint()))
        let position = LogPosition(try reader.readVarint())
        let index = Int(clamping: try reader.readVarint())
        self.place = AuditTrail.Place(at: at, partition: partition, position: position, index: index)
        self.number = try reader.readOptional { (reader) throws(ByteError) in try reader.readFixed64() }
        let caller = try reader.readString()
        let address = try reader.readString()
        let source = OperatorSource(caller: caller, address: address, request: try reader.readString())
        let method = try reader.readString()
        let path = try reader.readString()
        let body = try reader.readString()
        let status = try reader.readOptional { (reader) throws(ByteError) in Int(clamping: try reader.readVarint()) }
        self.entry = AuditTrail.Entry(
            at: at,
            source: source,
            method: method,
            path: path,
            body: body,
            status: status
        )
        self.record = record
    }
}
