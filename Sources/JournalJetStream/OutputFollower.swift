#if JetStream
import JournalStreams
package import Journaling
package import WidgetModel

/// Reads one partition's outputs as they come, whichever node writes them. Outputs that are not taken yet wait on the
/// brokers.
final class OutputFollower: Sendable {
    struct Work: Sendable {
        /// Nil for the newest ones.
        let first: OutputPosition?
        let take: @Sendable (OutputNews) -> Bool
    }

    /// How many of the newest outputs are read where none is named: hosts that come from another node resume among them.
    private static let recentCount: UInt64 = 256

    let box = WorkBox<Work>()
    private let core: OpenLog
    private let reader: Reader

    init(_ core: OpenLog, _ reader: Reader) {
        self.core = core
        self.reader = reader
    }

    private var stream: String { self.core.names.output(self.reader.partition) }

    /// The thread's body.
    func run() {
        while let group = self.box.next() { for work in group { self.follow(work) } }
    }

    private func follow(_ work: Work) {
        var next = work.first
        while !self.core.isClosed {
            do throws(JournalError) {
                guard try self.read(&next, work.take) else { return }
            } catch {
                Patience(milliseconds: 0).pause()
                guard work.take(.quiet) else { return }
            }
        }
    }

    /// Reads until no more is wanted, or the consumer is lost.
    ///
    /// - Returns: Whether more is wanted.
    private func read(_ next: inout OutputPosition?, _ take: (OutputNews) -> Bool) throws(JournalError) -> Bool {
        guard let ends = try self.core.broker.ends(of: self.stream) else {
            throw JournalError(.unavailable, "the stream \(self.stream) is gone")
        }
        let recent = ends.last > Self.recentCount ? ends.last - Self.recentCount + 1 : 1
        let first = OutputPosition(max(next?.rawValue ?? recent, ends.first))
        next = first
        guard take(.begins(at: first)) else { return false }
        let subject = self.core.names.outputs(self.reader.partition)
        return try self.core.follow(self.stream, subject, from: first.rawValue) { (message) throws(JournalError) in
            guard let message else { return take(.quiet) }
            next = OutputPosition(message.sequence).next
            return take(self.news(of: message))
        }
    }

    /// A damaged output is as good as gone.
    private func news(of message: StoredMessage) -> OutputNews {
        do throws(JournalError) {
            return .output(try self.reader.output(of: message))
        } catch {
            return .begins(at: OutputPosition(message.sequence).next)
        }
    }
}

extension JetStreamJournal: OutputFollowing {
    package func followOutputs(
        _ partition: PartitionID,
        from position: OutputPosition?,
        _ take: @escaping @Sendable (OutputNews) -> Bool
    ) {
        _ = self.outputFollowers[Int(partition.rawValue)].box.add(OutputFollower.Work(first: position, take: take))
    }
}
#endif
