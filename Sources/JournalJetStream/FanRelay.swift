#if JetStream
import Journaling
import WidgetModel

/// Copies what is for all partitions into each, in its order.
///
/// A copy is stored only behind the copy before it, so that however many do this, each partition has each exactly once.
final class FanRelay: Sendable {
    private static let waitMilliseconds = 500

    /// How far a partition is.
    private struct Progress {
        /// The sequence of the newest original that it has.
        var fan: UInt64
        /// That of the copy, in the partition's stream.
        var copy: UInt64
    }

    private let core: OpenLog
    private let lane: FanLane

    init(_ core: OpenLog, _ lane: FanLane) {
        self.core = core
        self.lane = lane
    }

    /// The thread's body: until the journal is closed.
    func run() {
        while !self.core.isClosed {
            do throws(JournalError) {
                try self.relay()
            } catch {
                // Damage is found by those who read, and says so there.
                Patience(milliseconds: 0).pause()
            }
            self.lane.tellOverdue()
        }
    }

    private func relay() throws(JournalError) {
        var all: [Progress] = []
        for partition in self.core.partitions { all.append(try self.progress(of: partition)) }
        let stream = self.core.names.fan
        var next = (all.map(\.fan).min() ?? 0) + 1
        let following = try self.core.broker.follow(stream, self.core.names.allFan, from: next)
        while !self.core.isClosed {
            self.lane.tellOverdue()
            switch following.next(waitMilliseconds: Self.waitMilliseconds) {
            case .nothing:
                guard let ends = try self.core.broker.ends(of: stream), ends.last >= next else { continue }
                // The consumer is gone, or slow: begin anew.
                return
            case .lost: return
            case .message(let message):
                let fan: FanMessage
                do throws(MessageFault) {
                    fan = try FanMessage(message.bytes, self.core.journalID, in: stream)
                } catch {
                    throw JournalError(.corrupt, "message \(message.sequence) of \(stream): \(error.sentence)")
                }
                // What some have not and is gone was let go of when all had it.
                guard message.sequence >= next else { continue }
                for partition in self.core.partitions {
                    let index = Int(partition.rawValue)
                    while all[index].fan < message.sequence {
                        self.lane.tellOverdue()
                        guard !self.core.isClosed else { return }
                        all[index] = try self.copy(fan, message.sequence, to: partition, behind: all[index])
                    }
                }
                next = message.sequence + 1
            }
        }
    }

    /// Copies one original to a partition, or finds that others did.
    private func copy(_ fan: FanMessage, _ sequence: UInt64, to partition: PartitionID, behind progress: Progress)
        throws(JournalError) -> Progress
    {
        let copy = InputMessage(
            id: fan.id,
            writtenAt: fan.writtenAt,
            fan: sequence,
            records: fan.submission.records(for: partition)
        )
        let outcome = self.core.broker.publish(
            copy.bytes(self.core.journalID, in: self.core.names.input(partition)),
            to: self.core.names.copies(partition),
            .lastOfSubject(progress.copy),
            waitMilliseconds: 2000
        )
        if case .stored(let place) = outcome { return Progress(fan: sequence, copy: place) }
        // It is accepted, and has to get there whatever comes between.
        Patience(milliseconds: 0).pause()
        return try self.progress(of: partition)
    }

    private func progress(of partition: PartitionID) throws(JournalError) -> Progress {
        let stream = self.core.names.input(partition)
        guard let newest = try self.core.broker.newest(in: stream, of: self.core.names.copies(partition)) else {
            return Progress(fan: try Trimmed.read(of: partition, self.core)?.fan ?? 0, copy: 0)
        }
        do throws(MessageFault) {
            let copy = try InputMessage(newest.bytes, self.core.journalID, in: stream)
            return Progress(fan: copy.fan ?? 0, copy: newest.sequence)
        } catch {
            throw JournalError(.corrupt, "message \(newest.sequence) of \(stream): \(error.sentence)")
        }
    }
}
#endif
