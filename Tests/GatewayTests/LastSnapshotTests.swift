import Glibc
import Journaling
import Settings
import Testing
import WidgetModel

/// The snapshots that a gateway leaves when it is told to end.
@Suite(.timeLimit(.minutes(60))) struct LastSnapshotTests {
    private static let partitions = (0..<2).map { PartitionID(UInt16($0)) }

    /// Takes a snapshot's frames without end.
    private final class EndlessSnapshots: SnapshotStore {
        private let store = MemorySnapshots()

        func write(_ id: SnapshotID, _ next: () throws -> [UInt8]?) throws {
            while true {
                if try next() == nil { sched_yield() }
            }
        }

        var newestFile: Int { self.store.newestFile }
        func snapshots(_ partition: PartitionID) -> [SnapshotID] { [] }
        func read(_ id: SnapshotID, wanting isWanted: (UInt8) -> Bool, _ body: ([UInt8]) throws -> Void) throws {
            try self.store.read(id, wanting: isWanted, body)
        }
        func remove(_ id: SnapshotID) {}
        func setAside(_ id: SnapshotID) {}
        func removeDamaged() {}
        func endFile() {}
        func firstEntry(_ partition: PartitionID) -> LogPosition { LogPosition.start.next }
        func trim(through positions: [LogPosition], loggedBefore instant: Instant) -> Int { 0 }
        func trimAll(through positions: [LogPosition]) -> Int { 0 }
    }

    @Test func `a gateway ends with a snapshot of every partition`() async throws {
        let store = MemorySnapshots()
        let gateway = try await RunningGateway(snapshots: store) { $0.timeouts.lastSnapshot = .hours(1) }
        #expect(Self.partitions.allSatisfy { store.snapshots($0).isEmpty })
        try await gateway.stop()
        #expect(Self.partitions.allSatisfy { store.snapshots($0).count == 1 })
    }

    @Test func `where its time is over, it ends without`() async throws {
        let gateway = try await RunningGateway(snapshots: EndlessSnapshots()) {
            $0.timeouts.lastSnapshot = .milliseconds(1)
        }
        try await gateway.stop()
    }
}
