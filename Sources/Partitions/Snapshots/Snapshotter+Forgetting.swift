import Engine
import Journaling
import NIOPosix
import Ownership
package import WidgetModel

/// Why the history is still there.
package enum ForgettingError: Error, Hashable, Sendable, CustomStringConvertible {
    /// A partition's state could not be written: the gateway's log says why.
    case noSnapshot(partition: PartitionID)
    /// No new file of the log could be begun.
    case noFile
    /// Something in the old files is still needed.
    case stillNeeded

    package var description: String {
        switch self {
        case .noSnapshot(let partition): "no snapshot of partition \(partition) could be made"
        case .noFile: "no new log file could be made; check whether the disk is full"
        case .stillNeeded: "some of the log is still needed; try again"
        }
    }
}

extension Snapshotter {
    /// How often it is looked whether owners have come as far as the log.
    private static let lookSpacing = Duration.milliseconds(5)
    /// How many commits may pass until a new file is there.
    private static let commitsMax = 100

    /// Removes everything that was logged before in the partitions of this node, and every state but the present one. Data that was erased
    /// from their state is then nowhere in their log and snapshots. Questions about the time before have no answer any more.
    ///
    /// Two new snapshots of each partition take the place of all others, so that a damaged one has another behind it; they
    /// are written in a new file's time, and all files before it go. Takes as long as the snapshots do; pushes go on. The disk
    /// needs room for one snapshot more: each takes the place of an older one at once.
    ///
    /// - Throws: ``ForgettingError`` or ``JournalError``; the log and the states are good then, and some may be gone.
    package func forgetHistory() async throws -> ForgottenHistory {
        let owners = self.owners.filter { !$0.isAway }
        guard !owners.isEmpty else { return ForgottenHistory(partitions: [], files: 0) }
        try await self.beginFile(owners)
        var oldest = Array(repeating: LogPosition.start, count: self.owners.count)
        for round in 0..<SnapshotRetention.newestKept {
            try await self.tick(owners)
            for owner in owners {
                guard let id = await self.makeSnapshot(of: owner) else {
                    throw ForgettingError.noSnapshot(partition: owner.partition)
                }
                if round == 0 { oldest[Int(owner.partition.rawValue)] = id.position }
                try await self.removeSnapshots(of: owner.partition, keeping: SnapshotRetention.newestKept)
            }
        }
        let (store, through) = (self.store, oldest)
        let removed = try await self.thread.runIfActive {
            try store.removeDamaged()
            return try store.trimAll(through: through)
        }
        guard removed > 0 else { throw ForgettingError.stillNeeded }
        return ForgottenHistory(partitions: owners.map(\.partition), files: removed)
    }

    private func removeSnapshots(of partition: PartitionID, keeping count: Int) async throws {
        let store = self.store
        try await self.thread.runIfActive {
            for id in try store.snapshots(partition).dropFirst(count) { try store.remove(id) }
        }
    }

    private func beginFile(_ owners: [PartitionOwner]) async throws {
        let newest = self.store.newestFile
        for _ in 0..<Self.commitsMax {
            self.store.endFile()
            try await self.tick(owners)
            if self.store.newestFile > newest { return }
        }
        throw ForgettingError.noFile
    }

    /// Logs a tick for each partition, and waits until its owner has applied it.
    private func tick(_ owners: [PartitionOwner]) async throws {
        var receipts: [AppendReceipt] = []
        for owner in owners {
            let submission = Submission(partition: owner.partition, records: .tick)
            receipts.append(
                try await withCheckedThrowingContinuation { continuation in
                    self.journal.append(submission) { continuation.resume(with: $0) }
                }
            )
        }
        for receipt in receipts {
            let owner = self.owners[Int(receipt.partition.rawValue)]
            while true {
                let progress = try await owner.progress()
                if progress.hasFailed { throw OwnerError.stopped(partition: owner.partition) }
                if progress.applied >= receipt.position { break }
                try await Task.sleep(for: Self.lookSpacing)
            }
        }
    }
}
