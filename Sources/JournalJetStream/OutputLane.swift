#if JetStream
import Journaling
import Synchronization
import WidgetModel

/// Commits the outputs of one partition, one after the other: each only behind the one that its owner knows as the newest.
///
/// An owner can do nothing before it knows what became of its output, and the same one again does no harm: it is tried until
/// that is known, however long brokers are away, or until the journal is closed.
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
        // The brokers judge what is expected, and refuse no output for what it says.
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
        let bytes = OutputMessage.bytes(work.record, self.core.journalID, in: stream)
        var isOpen = false
        var why = "no broker answers"
        repeat {
            let outcome = self.core.broker.publish(
                bytes,
                to: self.core.names.outputs(self.partition),
                .lastOfStream(work.expected?.rawValue ?? 0),
                waitMilliseconds: Self.waitMilliseconds
            )
            switch outcome {
            case .stored(let sequence): return .success(OutputPosition(sequence))
            case .otherEnd:
                do throws(JournalError) {
                    let newest = try self.core.broker.newest(in: stream, of: self.core.names.outputs(self.partition))
                    let own = (work.expected?.rawValue ?? 0) + 1
                    // An earlier attempt was stored, and the answer never came.
                    if isOpen, newest?.sequence == own, newest?.bytes == bytes { return .success(OutputPosition(own)) }
                    return .failure(
                        JournalError(
                            .fenced,
                            "output for partition \(self.partition) expected "
                                + "\(work.expected.map(\.description) ?? "none") as the newest one, but it is "
                                + "\(newest.map { String($0.sequence) } ?? "none"): another gateway decides it"
                        )
                    )
                } catch {
                    why = error.message
                }
            case .refused(let error):
                guard isOpen else { return .failure(error) }
                why = error.message
            case .notTaken(let text): why = text
            case .unknown(let text): (isOpen, why) = (true, text)
            }
            Patience(milliseconds: 0).pause()
        } while !self.core.isClosed
        let code: JournalError.Code = isOpen ? .unknownOutcome : .closed
        return .failure(JournalError(code, "output for partition \(self.partition): \(why)"))
    }
}
#endif
