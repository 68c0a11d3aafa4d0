#if JetStream
import JournalStreams
import Journaling
import Synchronization
import WidgetModel

/// Commits the outputs of one partition, one after the other: each only behind the one that its owner knows as the newest.
/// It is tried until its result is known, however long brokers are away, or until the journal is closed: see
/// ``OutputWriter``.
final class OutputLane: Sendable {
    private static let waitMilliseconds = 2000

    struct Work: Sendable {
        let expected: OutputPosition?
        let record: OutputRecord
        let whenDurable: @Sendable (Result<OutputPosition, JournalError>) -> Void
    }

    let box = WorkBox<Work>()
    private let core: OpenLog
    private let partition: PartitionID
    /// The newest entry that is known to be durable.
    private let tail = Mutex(LogPosition.start)

    init(_ core: OpenLog, _ partition: PartitionID) {
        self.core = core
        self.partition = partition
    }

    func noteTail(_ position: LogPosition) { self.tail.withLock { $0 = max($0, position) } }

    /// The thread's body.
    func run() {
        while let group = self.box.next() {
            for work in group {
                let result = self.commit(work)
                self.core.finish(outputBytes: work.record.effects.count)
                work.whenDurable(result)
            }
        }
    }

    private func commit(_ work: Work) -> Result<OutputPosition, JournalError> {
        if work.record.through > self.tail.withLock({ $0 }) {
            do throws(JournalError) {
                self.noteTail(LogPosition(try self.core.ends(of: self.core.names.input(self.partition)).last))
            } catch {
                return .failure(error)
            }
        }
        let tail = self.tail.withLock { $0 }
        // The brokers judge the expected position, and refuse no output for its content.
        if let refusal = OutputRule.refusal(
            of: work.record,
            to: self.partition,
            expected: work.expected,
            newest: work.expected,
            tail: tail
        ) {
            return .failure(refusal)
        }
        return self.store(work)
    }

    private func store(_ work: Work) -> Result<OutputPosition, JournalError> {
        let stream = self.core.names.output(self.partition)
        let subject = self.core.names.outputs(self.partition)
        let bytes = OutputMessage.bytes(work.record, self.core.journalID, in: stream)
        var writer = OutputWriter(of: self.partition, behind: work.expected, bytes)
        var step = writer.goOn()
        while true {
            switch step {
            case .settled(let result): return result
            case .publish(let expectation):
                let wait = Self.waitMilliseconds
                step = writer.published(
                    self.core.broker.publish(bytes, to: subject, expectation, waitMilliseconds: wait)
                )
            case .look:
                do throws(JournalError) {
                    step = writer.found(newest: try self.core.broker.newest(in: stream, of: subject))
                } catch {
                    step = writer.failed(error)
                }
            case .pause:
                Patience(milliseconds: 0).pause()
                step = self.core.isClosed ? writer.giveUp() : writer.goOn()
            }
        }
    }
}
#endif
