#if JetStream
import JournalStreams
import Journaling
import WidgetModel

/// Appends to one partition: whatever waits when the message before is stored goes into the next one, up to its limit.
final class InputLane: Sendable {
    struct Work: LaneWork {
        let records: PackedRecords
        let patience: Patience
        let whenDurable: @Sendable (Result<AppendReceipt, JournalError>) -> Void

        var byteCount: Int { self.records.bytes.count }
        func fail(_ error: JournalError) { self.whenDurable(.failure(error)) }
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
            for works in group.runs(upTo: limit, \.byteCount) {
                self.core.sendInTurn(works, to: self.core.names.input(self.partition)) { self.send($0, $1) }
            }
        }
    }

    /// Sends some in one message; see ``OpenLog/sendInTurn(_:to:_:)``.
    private func send(_ works: [Work], _ patience: Patience) -> [Work] {
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
            self.core.finish(appendBytes: work.byteCount)
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
