#if JetStream
import JournalStreams
import Journaling
import WidgetModel

/// Copies submissions to all partitions into each, in their order: see ``FanCopier``.
final class FanRelay: Sendable {
    private static let waitMilliseconds = 500
    private static let now = JetStreamCluster.uptime

    private let core: OpenLog
    private let lane: FanLane

    init(_ core: OpenLog, _ lane: FanLane) {
        self.core = core
        self.lane = lane
    }

    /// The thread's body: until the journal is closed.
    func run() {
        var copier = FanCopier(partitions: self.core.format.partitions)
        var following: Broker.Following?
        while !self.core.isClosed {
            do throws(JournalError) {
                try self.carryOut(copier.step(at: Self.now()), &copier, &following)
            } catch {
                copier.failed()
            }
            self.lane.tellOverdue()
        }
    }

    private func carryOut(_ step: FanCopier.Step, _ copier: inout FanCopier, _ following: inout Broker.Following?)
        throws(JournalError)
    {
        switch step {
        case .pause: Patience(milliseconds: 0).pause()
        case .findProgress(let partition):
            // Damage is found by those who read, and says so there.
            guard let progress = try? self.core.fanProgress(of: partition) else {
                return copier.missed(partition, at: Self.now())
            }
            copier.found(progress, of: partition)
        case .follow(let first):
            following = try self.core.broker.follow(self.core.names.fan, self.core.names.allFan, from: first)
            copier.followed()
        case .read: try self.read(following, &copier)
        case .copy(let message, let fan, let partition, let expectation):
            let copy = InputMessage(
                id: message.id,
                writtenAt: message.writtenAt,
                fan: fan,
                records: message.submission.records(for: partition)
            )
            let outcome = self.core.broker.publish(
                copy.bytes(self.core.journalID, in: self.core.names.input(partition)),
                to: self.core.names.copies(partition),
                expectation,
                waitMilliseconds: 2000
            )
            copier.copied(outcome, to: partition, at: Self.now())
        }
    }

    private func read(_ following: Broker.Following?, _ copier: inout FanCopier) throws(JournalError) {
        let stream = self.core.names.fan
        switch following?.next(waitMilliseconds: Self.waitMilliseconds) {
        case .nothing:
            guard let ends = try self.core.broker.ends(of: stream) else { return }
            copier.nothingCame(last: ends.last)
        case .lost, nil: copier.startOver()
        case .message(let message):
            do throws(MessageError) {
                let fan = try FanMessage(message.bytes, self.core.journalID, in: stream)
                copier.received(fan, at: message.sequence)
            } catch {
                throw JournalError(.corrupt, "message \(message.sequence) of \(stream): \(error.sentence)")
            }
        }
    }
}

extension OpenLog {
    /// How far a partition is with the submissions to all partitions.
    func fanProgress(of partition: PartitionID) throws(JournalError) -> FanCopier.Progress {
        let stream = self.names.input(partition)
        // In this order: a message that comes between changes the end.
        let end = try self.ends(of: stream).last
        guard let newest = try self.broker.newest(in: stream, of: self.names.copies(partition)) else {
            let trimmed = try Trimmed.read(of: partition, self)?.fan ?? 0
            return FanCopier.Progress(end: end, newest: nil, trimmed: trimmed)
        }
        let fan = try self.copy(newest, in: stream).fan ?? 0
        return FanCopier.Progress(end: end, newest: (newest.sequence, fan), trimmed: 0)
    }

    /// A copy of a submission to all partitions.
    func copy(_ message: StoredMessage, in stream: String) throws(JournalError) -> InputMessage {
        do throws(MessageError) {
            return try InputMessage(message.bytes, self.journalID, in: stream)
        } catch {
            throw JournalError(.corrupt, "message \(message.sequence) of \(stream): \(error.sentence)")
        }
    }
}
#endif
