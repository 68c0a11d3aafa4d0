#if JetStream
import Dispatch
import JournalStreams
import Journaling
import Synchronization
import WidgetModel

/// Takes submissions to all partitions: whatever waits when the message before is stored goes into the next one. One is durable when the stream for them has it, and ``FanRelay`` copies it to each partition.
///
/// The appender is told when the first partition has its copy, so that an owner that is asked next knows of it. Slow partitions delay that
/// for no longer than the wait for brokers.
final class FanLane: Sendable {
    struct Work: LaneWork {
        let submission: SubmissionToAll
        let patience: Patience
        let whenDurable: @Sendable (Result<Void, JournalError>) -> Void
        let whenPlaced: @Sendable (AppendReceipt) -> Void

        var byteCount: Int { self.submission.byteCount }
        func fail(_ error: JournalError) { self.whenDurable(.failure(error)) }
    }

    /// A message that is sent, and of which this process does not know a copy in every partition yet.
    private struct Placing {
        let works: [Work]
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
            let limit = self.core.configuration.limits.entryBytesMax
            for works in group.runs(upTo: limit, Self.runBytes) {
                self.core.sendInTurn(works, to: self.core.names.fan) { self.send($0, $1) }
            }
        }
    }

    /// Records that are others for each partition go alone: they have no common place.
    private static func runBytes(_ work: Work) -> Int { work.submission.isSame ? work.byteCount : .max }

    private static func join(_ works: [Work]) -> SubmissionToAll {
        if works.count == 1, let work = works.first { return work.submission }
        var records = PackedRecords()
        for work in works { for part in work.submission.distinctRecords { records.append(contentsOf: part) } }
        return SubmissionToAll(records)
    }

    /// Sends some in one message; see ``OpenLog/sendInTurn(_:to:_:)``.
    private func send(_ works: [Work], _ patience: Patience) -> [Work] {
        var left: [Work] = []
        let submission = Self.join(works)
        let now = self.core.clock()
        var sent: MessageID?
        let message = { (id: MessageID) in
            sent = id
            // Before a copy can be seen.
            let placing = Placing(works: works, toldBy: patience.end, left: self.core.format.partitions)
            self.placing.withLock { $0[id] = placing }
            return FanMessage(id: id, writtenAt: now, submission: submission)
                .bytes(self.core.journalID, in: self.core.names.fan)
        }
        self.publisher.send(message, patience) { result in
            guard case .failure(let error) = result else { return }
            if let sent { self.placing.withLock { _ = $0.removeValue(forKey: sent) } }
            let answered = self.core.answered(of: works.map(\.patience), by: result)
            left = Array(works[answered...])
            for work in works[..<answered] { self.core.fail(work, error) }
        }
        return left
    }

    /// A copy is in a partition's log: tells the appenders, if they were in this process.
    func placed(_ id: MessageID, _ partition: PartitionID, at position: LogPosition) {
        guard self.placing.withLock({ $0[id] != nil }) else { return }
        self.publisher.waitUntilSettled(id)
        let works = self.placing.withLock { placing -> [Work] in
            guard var known = placing[id] else { return [] }
            known.left -= 1
            // Before another copy can be told of.
            self.tell(&known)
            placing[id] = known.left > 0 ? known : nil
            return known.works
        }
        var first = 0
        for work in works {
            work.whenPlaced(AppendReceipt(partition: partition, position: position, firstRecordIndex: first))
            first += work.submission.records(for: partition).count
        }
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
        for work in known.works {
            self.core.finish(appendBytes: work.byteCount)
            work.whenDurable(.success(()))
        }
    }
}
#endif
