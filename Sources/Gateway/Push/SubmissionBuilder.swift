package import Engine
package import Journaling
package import WidgetModel

/// The records that one event loop has accepted in this turn, packed for the journal by partition.
///
/// A record for all partitions (a targeted push) is packed into each. Callers remember the ticket of their record
/// and find its place in the receipts by it.
package struct SubmissionBuilder {
    /// Where a record of this submission is: the how-manieth of its partition's.
    package struct Ticket: Hashable, Sendable {
        package let partition: PartitionID
        package let index: Int
    }

    private let partitions: Int
    /// By partition.
    private var records: [PackedRecords]
    package private(set) var recordCount = 0

    package init(partitions: Int) {
        self.partitions = partitions
        self.records = Array(repeating: PackedRecords(), count: partitions)
    }

    package var isEmpty: Bool { self.recordCount == 0 }

    /// Whether the largest batch is so large that it should go to the journal at once: half of what one may be.
    package private(set) var isFull = false

    /// The bytes of one partition's records at which a submission is closed. Default half of the journal's limit, since
    /// the record that passes it may still be as long as a body.
    private static let batchBytesMax = JournalLimits().batchBytesMax / 2

    /// Adds a record for the partition that owns a host.
    package mutating func append(_ record: Record, for host: HostKey) -> Ticket {
        self.append(record, to: PartitionID(of: host, among: self.partitions))
    }

    package mutating func append(_ record: Record, to partition: PartitionID) -> Ticket {
        self.append(to: partition) { record.encode(into: &$0) }
    }

    /// Adds a plain push's record, written from where its parts are.
    mutating func append(
        _ push: PlainPush,
        from team: borrowing TeamID,
        of app: borrowing BundleID,
        to place: borrowing HostPlace,
        collapseID: Range<Int>,
        in bytes: Span<UInt8>
    ) {
        let ids = place.text.span
        _ = self.append(to: place.partition) { writer in
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

    /// Adds the record that `body` writes.
    @inline(__always)
    private mutating func append(to partition: PartitionID, _ body: (inout ByteWriter) -> Void) -> Ticket {
        self.recordCount += 1
        let index = self.records[Int(partition.rawValue)].count
        self.records[Int(partition.rawValue)].append(body)
        if self.records[Int(partition.rawValue)].bytes.count >= Self.batchBytesMax { self.isFull = true }
        return Ticket(partition: partition, index: index)
    }

    /// Adds a record for every partition: all of them get it in one transaction.
    package mutating func appendToAll(_ record: Record) -> [Ticket] {
        (0..<self.partitions).map { self.append(record, to: PartitionID(UInt16($0))) }
    }

    /// Adds a push for every partition, which all get it in one transaction.
    ///
    /// - Parameter limits: How many instances it may match, by partition; nil for any number.
    mutating func appendToAll(_ push: PushRecord, limits: [Int]?) {
        for partition in 0..<self.partitions {
            var push = push
            push.matchedMax = limits?[partition]
            _ = self.append(.push(push), to: PartitionID(UInt16(partition)))
        }
    }

    /// What was added since the last call, for the journal; empties the builder.
    package mutating func take() -> Submission {
        var batches: [Submission.Batch] = []
        for index in self.records.indices where self.records[index].count > 0 {
            batches.append(Submission.Batch(partition: PartitionID(UInt16(index)), records: self.records[index].take()))
        }
        self.recordCount = 0
        self.isFull = false
        return Submission(batches)
    }
}
