import Engine
import Logging
import NIOCore
import NIOPosix
import Ownership
import ServiceLifecycle
import Synchronization
import WidgetModel

extension Gateway {
    /// Starts the partitions side by side, each on its own event loop.
    ///
    /// - Throws: ``OwnerError/shutDown(partition:)`` if the gateway is told to end before they have started.
    func startOwners(_ loops: MultiThreadedEventLoopGroup) async throws -> [PartitionOwner] {
        let logger = self.logs.logger(.partitions)
        let started = NIODeadline.now()
        let owners = (0..<self.configuration.partitions).map { number in
            let partition = PartitionID(UInt16(number))
            return PartitionOwner(
                engine: Engine(partition: partition, partitions: self.configuration.partitions),
                partition: partition,
                loop: loops.next(),
                journal: self.journal,
                snapshots: self.snapshots,
                clock: self.clock,
                logger: logger,
                tracing: self.tracing,
                work: self.work.partitions[number],
                sinks: self.sinks,
                outputBytesPerCommit: self.configuration.limits.outputCommitBytesMax
            )
        }
        // A log that takes long is no reason to outlast a signal.
        let replayed = try await withTaskCancellationOrGracefulShutdownHandler {
            try await withThrowingTaskGroup(of: Int.self) { group in
                for owner in owners {
                    let progress = ReplayProgress(owner.partition, of: owners.count, self.readiness, logger)
                    group.addTask { try await owner.start { progress.note($0, through: $1) } }
                }
                return try await group.reduce(0, +)
            }
        } onCancelOrGracefulShutdown: {
            for owner in owners { owner.stop() }
        }
        // Some may have had nothing left to apply.
        for owner in owners { try owner.checkStop() }
        if replayed > 0 {
            let milliseconds = (NIODeadline.now() - started).nanoseconds / 1_000_000
            logger.notice("replayed", metadata: ["entries": "\(replayed)", "milliseconds": "\(milliseconds)"])
        }
        return owners
    }

    private var sinks: PartitionOwner.Sinks {
        let directory = self.directory
        let partitions = self.configuration.partitions
        let streams = self.streams
        let (followers, receiptWakes) = (self.followers, self.receiptWakes)
        let feed = self.feed
        let audit = self.audit
        let readiness = self.readiness
        let registry = self.registry
        return PartitionOwner.Sinks(
            effects: { [self] effects in
                streams.publish(self.providers.withLock { $0 }?.take(effects) ?? effects)
                // What comes before there is one is found when it starts.
                self.deliverer.withLock { $0 }?.publish(effects)
                feed.publish(effects)
            },
            hosts: { partition, engine in
                // Tokens are spread over the partitions evenly.
                directory.reserve(engine.tokenCount * partitions)
                directory.take(engine, partition)
            },
            directory: { partition, changes in
                // First, so that a stream that is about to be opened finds what its token stands for now.
                directory.apply(changes, partition)
                streams.apply(changes)
            },
            audit: { audit.take($0, $1, $2, at: $3) },
            usage: { registry.publish($1, of: $0) },
            applied: {
                followers.wake(.applied)
                receiptWakes.wake(.applied)
            },
            failed: { partition, _ in
                readiness.set(.partitions, met: false)
                let note = JSONValue.object(of: [
                    ("partition", .count(Int(partition.rawValue))), ("failed", .bool(true)),
                ])
                feed.publish(.note(.partition, note))
            }
        )
    }
}
