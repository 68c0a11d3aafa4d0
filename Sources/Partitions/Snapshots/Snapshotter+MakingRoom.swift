import Journaling
import Logging
import NIOPosix
import Settings
import Synchronization
import WidgetModel

extension Snapshotter {
    /// Room is made again after so long, or after so much more log: it takes a replay of the entries since.
    private static let roomSpacing = Interval.minutes(1)
    /// How much more log: a part of the room, half of the rest when it becomes tight, so that room is made again before
    /// anything is refused; but at least so much that it is not made every second on a disk without room.
    private static let roomPart = 20
    private static let roomBytes = 1_048_576...16_777_216
    /// A history shorter than this is none.
    private static let historyMin = Interval.minutes(1)

    /// Makes room if the disk is nearly full, and it was not made just now.
    func makeRoomIfNeeded() async {
        guard let storage = self.storage else { return }
        let budget = storage.budget
        guard budget.level >= .tight else { return }
        let (now, written) = (self.clock.now(), storage.writtenBytes)
        let part = budget.room(for: .traffic) / Self.roomPart
        let enough = min(max(part, Self.roomBytes.lowerBound), Self.roomBytes.upperBound)
        let isDue = self.state.withLock { state in
            if let last = state.madeRoom, now - last.at < Self.roomSpacing,
                written - last.writtenBytes < enough
            {
                return false
            }
            state.madeRoom = (now, written)
            return true
        }
        if isDue { await self.makeRoom(in: storage) }
    }

    /// Removes history, the oldest first, until the disk has room or only the data for a restart is left.
    ///
    /// Half of the history goes, then half of the rest, and so on; then two new snapshots of each partition take the place of the log. A
    /// failure is reported, and tried again later.
    private func makeRoom(in storage: StorageWatch) async {
        var history = self.settings.history
        do {
            while storage.budget.level >= .tight, history > .zero {
                history = .milliseconds(history.milliseconds / 2)
                if history < Self.historyMin { history = .zero }
                let (now, kept) = (self.clock.now(), history)
                let removed = try await self.thread.runIfActive { try self.tidy(now, history: kept) }
                self.state.withLock { $0.counters.trimmedFiles += removed }
                await storage.look()
            }
            if storage.budget.level >= .tight {
                let forgotten = try await self.forgetHistory()
                self.state.withLock { $0.counters.trimmedFiles += forgotten.files }
                await storage.look()
            }
            self.state.withLock { $0.counters.shortened += 1 }
            self.logger.notice(
                "history was removed early, since the disk is nearly full",
                metadata: ["historySeconds": "\(history.milliseconds / 1000)", "used": "\(storage.budget.used)"]
            )
        } catch {
            self.logger.error(
                "no space could be freed on the disk; the gateway will try again",
                metadata: ["error": "\(error)", "used": "\(storage.budget.used)"]
            )
        }
    }
}
