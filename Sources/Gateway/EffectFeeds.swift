package import Journaling
package import Ownership
import Synchronization
package import WidgetModel

/// The committed effects of all partitions, each partition's in their order and once: those of owners here as they tell them, and
/// those of other nodes' as the log has them.
package final class EffectFeeds: Sendable {
    /// Told on an owner's loop or on a thread that reads, one after the other for each partition.
    package struct Sinks: Sendable {
        /// The next output of a partition is at a position; if there were others before, some are missing.
        package let begin: @Sendable (PartitionID, OutputPosition) -> Void
        package let publish: @Sendable (PartitionID, CommittedEffects) -> Void
        /// An output of another node's was read, perhaps once more.
        package let read: @Sendable (PartitionID, OutputEntry) -> Void

        package init(
            begin: @escaping @Sendable (PartitionID, OutputPosition) -> Void,
            publish: @escaping @Sendable (PartitionID, CommittedEffects) -> Void,
            read: @escaping @Sendable (PartitionID, OutputEntry) -> Void = { _, _ in }
        ) {
            (self.begin, self.publish, self.read) = (begin, publish, read)
        }
    }

    private final class Feed: Sendable {
        let merge = Mutex(OutputMerge())
    }

    private let feeds: [Feed]
    /// Nil where all partitions are here.
    private let log: (any OutputFollowing)?
    private let sinks: Sinks

    /// - Parameter log: Where the outputs of other nodes are read; nil where there are none.
    package init(partitions: Int, _ log: (any OutputFollowing)?, _ sinks: Sinks) {
        self.feeds = (0..<partitions).map { _ in Feed() }
        self.log = log
        self.sinks = sinks
    }

    /// Takes news of the owner here.
    package func takeNews(_ news: OwnerNews, of partition: PartitionID) { self.update(partition) { $0.takeNews(news) } }

    /// Reads from the log the effects of partitions without an owner here.
    package func follow() {
        guard self.log != nil else { return }
        for number in self.feeds.indices { self.update(PartitionID(UInt16(number))) { $0.follow() } }
    }

    /// Waits until it is known where each partition's outputs are.
    package func settle() async throws {
        while !self.feeds.allSatisfy({ feed in feed.merge.withLock { $0.next != nil } }) {
            try await Task.sleep(for: .milliseconds(10))
        }
    }

    private func update(_ partition: PartitionID, _ body: (inout OutputMerge) -> Void) {
        // The actions are performed under the lock, so that the sinks are told everything in its order.
        self.feeds[Int(partition.rawValue)].merge.withLock { merge in
            body(&merge)
            for action in merge.takeActions() { self.perform(action, partition) }
        }
    }

    private func perform(_ action: OutputMergeAction, _ partition: PartitionID) {
        switch action {
        case .begin(let position): self.sinks.begin(partition, position)
        case .publish(let output): self.sinks.publish(partition, output)
        case .read(let position, let session):
            self.log?.followOutputs(partition, from: position) { [weak self] news in
                self?.read(news, of: partition, in: session) ?? false
            }
        }
    }

    /// - Returns: Whether there is to be more.
    private func read(_ news: OutputNews, of partition: PartitionID, in session: Int) -> Bool {
        switch news {
        case .quiet: break
        case .begins(let position): self.update(partition) { $0.readingBegins(at: position, in: session) }
        case .output(let entry):
            self.sinks.read(partition, entry)
            do throws(ByteError) {
                let output = try CommittedEffects(entry)
                self.update(partition) { $0.outputRead(output, in: session) }
            } catch {
                // A newer program wrote it: it is as good as gone.
                self.update(partition) { $0.readingBegins(at: entry.position.next, in: session) }
            }
        }
        return self.feeds[Int(partition.rawValue)].merge.withLock { $0.isReading(in: session) }
    }
}
