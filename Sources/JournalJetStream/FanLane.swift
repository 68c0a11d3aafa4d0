#if JetStream
import Dispatch
import JournalStreams
import Journaling
import Synchronization
import WidgetModel

/// Takes submissions to all partitions. One is durable when the stream for them has it, and ``FanRelay`` copies it to each partition.
///
/// The appender is told when the first partition has its copy, so that an owner that is asked next knows of it. Slow partitions delay that
/// for no longer than the wait for brokers.
final class FanLane: Sendable {
    struct Work: Sendable {
        let submission: SubmissionToAll
        let whenDurable: @Sendable (Result<Void, JournalError>) -> Void
        let whenPlaced: @Sendable (AppendReceipt) -> Void
    }

    /// A submission that is stored, and of which this process does not know a copy in every partition yet.
    private struct Placing {
        let work: Work
        /// Until when a first copy is waited for; nil once it is told.
        var toldBy: DispatchTime?
        var left: Int
    }

    let box = WorkBox<Work>()
    private let core: OpenLog
    private let publisher: Publisher
    private let placing = Mutex<[MessageID: Placing]>([:])

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
        let toldBy = DispatchTime.now() + .milliseconds(self.core.configuration.patienceMilliseconds)
        var sent: MessageID?
        self.publisher.send { id in
            sent = id
            // Before a copy can be seen.
            let placing = Placing(work: work, toldBy: toldBy, left: self.core.format.partitions)
            self.placing.withLock { $0[id] = placing }
            return FanMessage(id: id, writtenAt: now, submission: work.submission)
                .bytes(self.core.journalID, in: self.core.names.fan)
        } settled: { result in
            guard case .failure(let error) = result else { return }
            if let sent { self.placing.withLock { _ = $0.removeValue(forKey: sent) } }
            self.core.finish(appendBytes: work.submission.byteCount)
            work.whenDurable(.failure(error))
        }
    }

    /// A copy is in a partition's log: tells the appender, if that was in this process.
    func placed(_ id: MessageID, _ partition: PartitionID, at position: LogPosition) {
        guard self.placing.withLock({ $0[id] != nil }) else { return }
        self.publisher.waitUntilSettled(id)
        let work = self.placing.withLock { placing -> Work? in
            guard var known = placing[id] else { return nil }
            known.left -= 1
            // Before another copy can be told of.
            self.tell(&known)
            placing[id] = known.left > 0 ? known : nil
            return known.work
        }
        work?.whenPlaced(AppendReceipt(partition: partition, position: position, firstRecordIndex: 0))
    }

    /// Tells the appenders of stored submissions that have waited too long for a slow partition.
    ///
    /// - Parameter isOver: Whether nothing is waited for any more.
    func tellOverdue(isOver: Bool = false) {
        let now = DispatchTime.now()
        self.placing.withLock { placing in
            for (id, known) in placing {
                guard let toldBy = known.toldBy, isOver || toldBy <= now, !self.publisher.isUnderWay(id) else {
                    continue
                }
                var known = known
                self.tell(&known)
                placing[id] = known
            }
        }
    }

    private func tell(_ known: inout Placing) {
        guard known.toldBy != nil else { return }
        known.toldBy = nil
        self.core.finish(appendBytes: known.work.submission.byteCount)
        known.work.whenDurable(.success(()))
    }
}
#endif
