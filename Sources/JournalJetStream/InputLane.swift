#if JetStream
import JournalStreams
import Journaling
import WidgetModel

/// Appends to one partition: whatever waits when the message before is stored goes into the next one, up to its limit.
final class InputLane: Sendable {
    struct Work: Sendable {
        let records: PackedRecords
        /// How long its caller waits.
        let patience: Patience
        let whenDurable: @Sendable (Result<AppendReceipt, JournalError>) -> Void
    }

    let box = WorkBox<Work>()
    let publisher: Publisher
    private let core: OpenLog
    private let partition: PartitionID

    init(_ core: OpenLog, _ partition: PartitionID) {
        self.core = core
        self.partition = partition
        let names = core.names
        self.publisher = Publisher(core, to: names.input(partition)) { names.input(partition, of: $0) }
    }

    /// The thread's body.
    func run() {
        while let group = self.box.next() {
            let limit = self.core.configuration.limits.entryBytesMax
            for works in group.runs(upTo: limit, { $0.records.bytes.count }) {
                var left = Array(works)
                repeat {
                    left.removeAll { self.giveUpIfLate($0) }
                    left = self.send(left)
                } while !left.isEmpty
            }
        }
    }

    /// Tells a caller that has waited for too long, while others' messages were sent, that its own was not.
    private func giveUpIfLate(_ work: Work) -> Bool {
        guard work.patience.isOver else { return false }
        self.core.finish(appendBytes: work.records.bytes.count)
        work.whenDurable(.failure(.notSent(to: self.core.names.input(self.partition))))
        return true
    }

    /// Sends some in one message, which is tried for as long as the first one's caller waits.
    ///
    /// - Returns: Those to send again: the message is not stored, and their callers came later and wait.
    private func send(_ works: [Work]) -> [Work] {
        guard let patience = works.first?.patience else { return [] }
        var records = PackedRecords()
        for work in works { records.append(contentsOf: work.records) }
        let stream = self.core.names.input(self.partition)
        let now = self.core.clock()
        var left: [Work] = []
        self.publisher.send(
            { id in InputMessage(id: id, writtenAt: now, records: records).bytes(self.core.journalID, in: stream) },
            patience
        ) { result in
            let answered = self.core.answered(of: works.map(\.patience), by: result)
            left = Array(works[answered...])
            self.answer(works[..<answered], result)
        }
        return left
    }

    /// Tells some whether they are stored.
    private func answer(_ works: ArraySlice<Work>, _ result: Result<UInt64, JournalError>) {
        var index = 0
        for work in works {
            let first = index
            self.core.finish(appendBytes: work.records.bytes.count)
            work.whenDurable(
                result.map { sequence in
                    AppendReceipt(
                        partition: self.partition,
                        position: LogPosition(sequence),
                        firstRecordIndex: first
                    )
                }
            )
            index += work.records.count
        }
    }
}
#endif
