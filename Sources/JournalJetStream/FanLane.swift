import Journaling
import Synchronization
import WidgetModel

/// Takes what is for all partitions: it is durable when the stream for that has it, and ``FanRelay`` copies it to each.
final class FanLane: Sendable {
    struct Work: Sendable {
        let submission: SubmissionToAll
        let whenDurable: @Sendable (Result<Void, JournalError>) -> Void
        let whenPlaced: @Sendable (AppendReceipt) -> Void
    }

    let box = WorkBox<Work>()
    private let core: OpenLog
    private let publisher: Publisher
    /// Who is to be told of copies, and of how many.
    private let placing = Mutex<[MessageID: (whenPlaced: @Sendable (AppendReceipt) -> Void, left: Int)]>([:])

    init(_ core: OpenLog) {
        self.core = core
        let names = core.names
        self.publisher = Publisher(core, to: names.fan) { names.fan(of: $0) }
    }

    /// The thread's body.
    func run() {
        while let group = self.box.next() {
            for work in group { self.send(work) }
        }
    }

    private func send(_ work: Work) {
        let now = self.core.clock()
        var sent: MessageID?
        self.publisher.send { id in
            sent = id
            // Before it can be seen.
            self.placing.withLock { $0[id] = (work.whenPlaced, self.core.format.partitions) }
            return FanMessage(id: id, writtenAt: now, submission: work.submission)
                .bytes(self.core.journalID, in: self.core.names.fan)
        } settled: { result in
            if case .failure = result, let sent { self.placing.withLock { _ = $0.removeValue(forKey: sent) } }
            self.core.finish(appendBytes: work.submission.byteCount)
            work.whenDurable(result.map { _ in () })
        }
    }

    /// A copy is in a partition's log: who appended it is told, if that was this process.
    func placed(_ id: MessageID, _ partition: PartitionID, at position: LogPosition) {
        guard self.placing.withLock({ $0[id] != nil }) else { return }
        self.publisher.waitUntilSettled(id)
        let whenPlaced = self.placing.withLock { placing -> (@Sendable (AppendReceipt) -> Void)? in
            guard let (whenPlaced, left) = placing[id] else { return nil }
            placing[id] = left > 1 ? (whenPlaced, left - 1) : nil
            return whenPlaced
        }
        whenPlaced?(AppendReceipt(partition: partition, position: position, firstRecordIndex: 0))
    }
}
