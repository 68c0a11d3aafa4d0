import Synchronization
package import WidgetModel

/// Snapshots in memory, which tests and simulations may damage. It only remembers the part of the log that it would
/// remove.
package final class MemorySnapshots: SnapshotStore {
    package struct Trim: Hashable {
        package let through: [LogPosition]
        package let loggedBefore: Instant
    }

    private struct State {
        var frames: [SnapshotID: [[UInt8]]] = [:]
        var aside: [SnapshotID] = []
        var trims: [Trim] = []
        var firstEntry = LogPosition.start.next
        var newestFile = 1
        var writeFault: JournalError?
        var whenTrimmed: (@Sendable () -> Void)?
        /// The most snapshots that a partition had behind a write.
        var mostAtOnce = 0
    }

    private let state = Mutex(State())

    package init() {}

    package var aside: [SnapshotID] { self.state.withLock { $0.aside } }
    package var trims: [Trim] { self.state.withLock { $0.trims } }

    /// From now on the log begins after the removed part.
    package func setFirstEntry(_ position: LogPosition) { self.state.withLock { $0.firstEntry = position } }

    package var mostAtOnce: Int { self.state.withLock { $0.mostAtOnce } }

    /// Called whenever a part of the log is removed.
    package func whenTrimmed(_ body: @escaping @Sendable () -> Void) { self.state.withLock { $0.whenTrimmed = body } }

    /// Counts from here on.
    package func forgetTrims() {
        self.state.withLock { state in
            state.trims = []
            state.mostAtOnce = 0
        }
    }

    package func failWrites(with fault: JournalError?) { self.state.withLock { $0.writeFault = fault } }

    /// Changes the contents of a snapshot.
    package func damage(_ id: SnapshotID, _ body: (inout [[UInt8]]) -> Void) {
        self.state.withLock { state in
            if var frames = state.frames[id] {
                body(&frames)
                state.frames[id] = frames
            }
        }
    }

    package func snapshots(_ partition: PartitionID) -> [SnapshotID] {
        self.state.withLock { $0.frames.keys.filter { $0.partition == partition }.sorted { $0.position > $1.position } }
    }

    package func read(_ id: SnapshotID, wanting isWanted: (UInt8) -> Bool, _ body: ([UInt8]) throws -> Void) throws {
        guard let frames = self.state.withLock({ $0.frames[id] }) else {
            throw JournalError(.corrupt, "there is no \(id)")
        }
        for frame in frames {
            // A store detects a frame that differs from the written one.
            guard let first = frame.first else { throw JournalError(.corrupt, "\(id) is damaged in a frame") }
            if isWanted(first) { try body(frame) }
        }
    }

    package func write(_ id: SnapshotID, _ next: () throws -> [UInt8]?) throws {
        if let fault = self.state.withLock({ $0.writeFault }) { throw fault }
        var frames: [[UInt8]] = []
        while let frame = try next() { frames.append(frame) }
        self.state.withLock { state in
            state.frames[id] = frames
            state.mostAtOnce = max(state.mostAtOnce, state.frames.keys.count { $0.partition == id.partition })
        }
    }

    package func remove(_ id: SnapshotID) { self.state.withLock { _ = $0.frames.removeValue(forKey: id) } }

    package func setAside(_ id: SnapshotID) {
        self.state.withLock { state in
            state.frames[id] = nil
            state.aside.append(id)
        }
    }

    package func firstEntry(_ partition: PartitionID) -> LogPosition { self.state.withLock { $0.firstEntry } }

    package var newestFile: Int { self.state.withLock { $0.newestFile } }

    package func endFile() { self.state.withLock { $0.newestFile += 1 } }

    package func trimAll(through positions: [LogPosition]) -> Int {
        self.noteTrim(Trim(through: positions, loggedBefore: Instant(milliseconds: .max)))
        return 1
    }

    package func removeDamaged() { self.state.withLock { $0.aside = [] } }

    package func trim(through positions: [LogPosition], loggedBefore instant: Instant) -> Int {
        self.noteTrim(Trim(through: positions, loggedBefore: instant))
        return 0
    }

    private func noteTrim(_ trim: Trim) {
        let whenTrimmed = self.state.withLock { state in
            state.trims.append(trim)
            return state.whenTrimmed
        }
        whenTrimmed?()
    }
}
