package import Engine
package import Journaling
package import WidgetModel

/// The records that one event loop has accepted in this turn, packed for the journal by partition, and those for all of them.
///
/// Callers remember the ticket of their record and find its place in the receipt of its partition by it.
package struct SubmissionBuilder {
    /// Where a record of this submission is: the how-manieth of its partition's.
    package struct Ticket: Hashable, Sendable {
        package let partition: PartitionID
        package let index: Int
    }

    private let partitions: Int
    /// By partition.
    private var records: [PackedRecords]
    /// The records for all partitions; one element for each partition, once they do not all get the same.
    private var recordsToAll = [PackedRecords()]

    package init(partitions: Int) {
        self.partitions = partitions
        self.records = Array(repeating: PackedRecords(), count: partitions)
    }

    package var isEmpty: Bool {
        self.recordsToAll[0].count == 0 && self.records.allSatisfy { $0.count == 0 }
    }

    /// Whether the largest submission is so large that it should go to the journal at once: half of the largest size.
    package private(set) var isFull = false

    /// The bytes of records for one partition, or for all, at which a submission is closed. Default half of the journal's limit, since
    /// the record that passes it may still be as long as a body.
    private static let batchBytesMax = JournalLimits().batchBytesMax / 2

    /// Adds a record for the partition that owns a host.
    package mutating func append(_ record: Record, for host: HostKey) -> Ticket {
        self.append(record, to: PartitionID(of: host, among: self.partitions))
    }

    package mutating func append(_ record: Record, to partition: PartitionID) -> Ticket {
        self.append(to: partition) { $0.append { record.encode(into: &$0) } }
    }

    /// Adds one packed record.
    package mutating func append(_ record: PackedRecords, to partition: PartitionID) -> Ticket {
        assert(record.count == 1, "a ticket is for one record")
        return self.append(to: partition) { $0.append(contentsOf: record) }
    }

    /// Adds a plain push's record, written from where its parts are.
    package mutating func append(
        _ push: PlainPush,
        from team: borrowing TeamID,
        of app: borrowing BundleID,
        to place: borrowing HostPlace,
        collapseID: Range<Int>,
        in bytes: Span<UInt8>
    ) {
        let ids = place.text.span
        _ = self.append(to: place.partition) { records in
            records.append { writer in
                push.encode(
                    team: team,
                    app: app,
                    host: place.host,
                    instance: place.instance,
                    of: ids,
                    collapseID: collapseID,
                    in: bytes,
                    into: &writer
                )
            }
        }
    }

    /// Adds the one record that `body` appends.
    @inline(__always)
    private mutating func append(to partition: PartitionID, _ body: (inout PackedRecords) -> Void) -> Ticket {
        let index = self.records[Int(partition.rawValue)].count
        body(&self.records[Int(partition.rawValue)])
        if self.records[Int(partition.rawValue)].bytes.count >= Self.batchBytesMax { self.isFull = true }
        return Ticket(partition: partition, index: index)
    }

    /// Adds a record for every partition.
    ///
    /// - Returns: The how-manieth it is of those for all.
    @discardableResult
    package mutating func appendToAll(_ record: Record) -> Int {
        let index = self.recordsToAll[0].count
        for part in self.recordsToAll.indices { self.recordsToAll[part].append { record.encode(into: &$0) } }
        self.noteToAll()
        return index
    }

    /// Adds a push for every partition.
    ///
    /// - Parameter limits: How many instances it may match, by partition; nil for any number.
    package mutating func appendToAll(_ push: PushRecord, limits: [Int]?) {
        guard let limits else {
            self.appendToAll(.push(push))
            return
        }
        if self.recordsToAll.count < self.partitions {
            self.recordsToAll = Array(repeating: self.recordsToAll[0], count: self.partitions)
        }
        for partition in 0..<self.partitions {
            var push = push
            push.matchedMax = limits[partition]
            self.recordsToAll[partition].append { Record.push(push).encode(into: &$0) }
        }
        self.noteToAll()
    }

    private mutating func noteToAll() {
        let bytes = self.recordsToAll.reduce(0) { $0 + $1.bytes.count }
        if bytes >= Self.batchBytesMax { self.isFull = true }
    }

    /// The records that were added for single partitions since the last call, for the journal, in the order of the
    /// partitions.
    package mutating func takeSubmissions() -> [Submission] {
        var submissions: [Submission] = []
        for index in self.records.indices where self.records[index].count > 0 {
            submissions.append(
                Submission(partition: PartitionID(UInt16(index)), records: self.records[index].takeAll())
            )
        }
        self.isFull = false
        return submissions
    }

    /// The records that were added for all partitions since the last call; nil if there are none.
    package mutating func takeToAll() -> SubmissionToAll? {
        guard self.recordsToAll[0].count > 0 else { return nil }
        defer { self.recordsToAll = [PackedRecords()] }
        self.isFull = false
        return self.recordsToAll.count == 1
            ? SubmissionToAll(self.recordsToAll[0]) : SubmissionToAll(each: self.recordsToAll)
    }
}
