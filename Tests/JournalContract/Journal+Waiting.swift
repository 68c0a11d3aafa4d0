package import Journaling
import Testing
package import WidgetModel

package typealias AppendResult = Result<AppendReceipt, JournalError>
package typealias OutputResult = Result<OutputPosition, JournalError>

extension Journal {
    package func append(_ submission: Submission) -> AppendResult {
        let inbox = Inbox<AppendResult>()
        self.append(submission) { inbox.add($0) }
        return inbox.wait(for: 1)[0]
    }

    package func append(_ text: String, to partition: PartitionID = PartitionID(0)) -> AppendResult {
        self.append(Submission(partition: partition, records: records(text)))
    }

    /// Appends to all partitions, and waits until all have it; the receipts are in the partitions' order.
    package func appendToAll(_ submission: SubmissionToAll) -> Result<[AppendReceipt], JournalError> {
        let inbox = Inbox<Result<AppendReceipt?, JournalError>>()
        self.appendToAll(
            submission,
            whenDurable: { inbox.add($0.map { nil }) },
            whenPlaced: { inbox.add(.success($0)) }
        )
        if case .failure(let error) = inbox.wait(for: 1)[0] { return .failure(error) }
        let receipts = inbox.wait(for: self.format.partitions).compactMap { try? $0.get() }
        return .success(receipts.sorted { $0.partition < $1.partition })
    }

    package func commit(
        _ output: OutputRecord,
        expected: OutputPosition?,
        to partition: PartitionID = PartitionID(0)
    )
        -> OutputResult
    {
        let inbox = Inbox<OutputResult>()
        self.commitOutput(partition, expected: expected, output) { inbox.add($0) }
        return inbox.wait(for: 1)[0]
    }

    /// Reads until it has so many entries or is at the end of the log: one read may give fewer than there are.
    package func readNow(
        _ partition: PartitionID,
        from position: LogPosition,
        entriesMax: Int
    ) throws(JournalError) -> [LogEntry] {
        var entries: [LogEntry] = []
        while true {
            let inbox = Inbox<Result<[LogEntry], JournalError>>()
            let next = entries.last?.position.next ?? position
            self.read(partition, from: next, entriesMax: entriesMax - entries.count) { inbox.add($0) }
            let read = try inbox.wait(for: 1)[0].get()
            entries += read
            if read.isEmpty || entries.count >= entriesMax { return entries }
        }
    }

    package func newestOutput(_ partition: PartitionID) throws(JournalError) -> OutputEntry? {
        let inbox = Inbox<Result<OutputEntry?, JournalError>>()
        self.readNewestOutput(partition) { inbox.add($0) }
        return try inbox.wait(for: 1)[0].get()
    }

    /// The records of a partition's entries as texts, entry by entry.
    package func texts(_ partition: PartitionID = PartitionID(0), from position: LogPosition = .start) throws
        -> [[String]]
    {
        var texts: [[String]] = []
        var next = max(position, LogPosition.start.next)
        while true {
            let entries = try self.readNow(partition, from: next, entriesMax: 7)
            if entries.isEmpty { return texts }
            for entry in entries {
                #expect(entry.position == next)
                texts.append(entry.records.map { String(decoding: entry.bytes[$0], as: UTF8.self) })
                next = next.next
            }
        }
    }
}

/// One record for each word.
package func records(_ text: String) -> PackedRecords {
    var packed = PackedRecords()
    for word in text.split(separator: " ") { packed.append(Array(word.utf8)) }
    return packed
}

/// One record whose frame has exactly `bytes` bytes; at least 130, so that its length takes two of them.
package func record(bytes: Int) -> PackedRecords {
    var packed = PackedRecords()
    let length = bytes - (bytes - 3 >= 16_384 ? 3 : 2)
    packed.append([UInt8](repeating: 0x41, count: length))
    precondition(packed.bytes.count == bytes)
    return packed
}

package func output(through: UInt64, effects: [UInt8] = [1, 2, 3]) -> OutputRecord {
    OutputRecord(
        through: LogPosition(through),
        ahead: 7,
        engineVersion: 1,
        runningHash: .max - through,
        effects: effects
    )
}

package func receipt(_ partition: UInt16, _ position: UInt64, _ index: Int) -> AppendReceipt {
    AppendReceipt(
        partition: PartitionID(partition),
        position: LogPosition(position),
        firstRecordIndex: index
    )
}

extension Result where Failure == JournalError {
    /// The error's code, nil for success.
    package var code: JournalError.Code? {
        if case .failure(let error) = self { return error.code }
        return nil
    }
}
