package import Engine
package import Journaling
package import Logging
import NIOPosix
import Synchronization
package import TimelineProviding
import Timelines
package import WidgetModel

/// The content of timelines, in memory and on disk: beside the engine, which has the same timelines without it.
///
/// Content is written to disk before its timeline is logged, so that a process that dies in between leaves no instance
/// without content. A power cut may take the last seconds' content: such an instance shows its earlier content until
/// its next reload.
package final class ContentStore: Sendable {
    private struct State: ~Copyable {
        var table: ContentTable
        var nextRecord: UInt64 = 1
        /// Records that are to be removed with the next write.
        var released: [UInt64] = []
    }

    private let state: Mutex<State>
    private let archive: any RecordArchive
    private let logger: Logger

    /// - Parameter bytesMax: The most memory that all content may take.
    package init(archive: any RecordArchive, bytesMax: Int, logger: Logger) {
        self.archive = archive
        self.logger = logger
        self.state = Mutex(State(table: ContentTable(bytesMax: bytesMax)))
    }

    /// Keeps so much in memory from now on; the timelines that were stored longest ago make room.
    package func setLimit(bytesMax: Int) {
        self.state.withLock { $0.released += $0.table.setLimit(bytesMax: bytesMax) }
    }

    /// Timelines, their bytes, and how many had to make room.
    package var counts: (timelines: Int, bytes: Int, evicted: Int) {
        self.state.withLock { ($0.table.count, $0.table.bytes, $0.table.evicted) }
    }

    package var nextDue: Instant? { self.state.withLock { $0.table.nextDue } }

    /// Reads the content that an earlier process has left. Blocks.
    package func load(at now: Instant) throws(JournalError) {
        var damaged = 0
        try self.archive.readAll { record in
            var reader = ByteReader(record.bytes, in: record.bytes.indices)
            self.state.withLock { state in
                state.nextRecord = max(state.nextRecord, record.number + 1)
                do throws(ByteError) {
                    let timeline = try StoredTimeline(from: &reader)
                    guard reader.isAtEnd else { throw ByteError.invalid(offset: reader.offset) }
                    state.released += state.table.store(timeline, record: record.number, at: now).released
                } catch {
                    damaged += 1
                    state.released.append(record.number)
                }
            }
        }
        if damaged > 0 {
            self.logger.warning(
                "timelines that another version stored are ignored",
                metadata: ["timelines": "\(damaged)"]
            )
        }
    }

    /// Writes timelines to disk, before they are logged; gives the numbers of their records.
    package func write(_ timelines: [StoredTimeline]) async throws -> [UInt64] {
        let (first, released) = self.state.withLock { state in
            defer {
                state.nextRecord += UInt64(timelines.count)
                state.released = []
            }
            return (state.nextRecord, state.released)
        }
        let records = timelines.enumerated().map { index, timeline in
            var writer = ByteWriter(reserving: timeline.bytes)
            timeline.encode(into: &writer)
            return ArchivedRecord(number: first + UInt64(index), bytes: writer.bytes)
        }
        let archive = self.archive
        do {
            try await NIOThreadPool.singleton.runIfActive { try archive.write(records, removing: released) }
        } catch {
            self.state.withLock { $0.released += released }
            throw error
        }
        return records.map(\.number)
    }

    /// Shows timelines that the engine has taken, in the place of those before; gives the entries to show now.
    package func showTimelines(_ timelines: [(timeline: StoredTimeline, record: UInt64)], at now: Instant)
        -> [ContentTable
        .Due]
    {
        self.state.withLock { state in
            var shows: [ContentTable.Due] = []
            for item in timelines {
                let change = state.table.store(item.timeline, record: item.record, at: now)
                state.released += change.released
                if let due = change.shows { shows.append(due) }
            }
            return shows
        }
    }

    /// Forgets the content of an instance from before it was added anew: it shows a placeholder now, so that the same content is
    /// news to it again.
    ///
    /// - Parameters:
    ///   - address: The instance.
    ///   - reload: The one for which it was added.
    /// - Returns: False if its timeline has come already, and nothing is forgotten.
    package func begin(_ address: InstanceAddress, _ reload: ReloadID) -> Bool {
        self.state.withLock { state in
            guard let before = state.table[address] else { return true }
            guard before.reload.position < reload.position else { return false }
            if let record = state.table.remove(address) { state.released.append(record) }
            return true
        }
    }

    /// Forgets records of timelines that the engine did not take.
    package func release(_ records: [UInt64]) {
        self.state.withLock { $0.released += records }
    }

    /// Forgets instances that are gone.
    package func remove(_ addresses: [InstanceAddress]) {
        self.state.withLock { state in
            for address in addresses {
                if let record = state.table.remove(address) { state.released.append(record) }
            }
        }
    }

    package func timelines(of addresses: [InstanceAddress]) -> [StoredTimeline] {
        self.state.withLock { state in addresses.compactMap { state.table[$0] } }
    }

    /// Whether the content of a timeline is here.
    package func has(_ shown: ShownTimeline) -> Bool {
        let kept = self.state.withLock { $0.table[shown.subject.address] }
        guard let kept, kept.digest == shown.timeline.digest else { return false }
        // The same content may be for other times.
        return kept.entries.map(\.date) == shown.timeline.entries.map(\.date).sorted()
    }

    package var addresses: [InstanceAddress] { self.state.withLock { $0.table.addresses } }

    /// The entries whose dates have come.
    package func due(upTo now: Instant) -> [ContentTable.Due] {
        self.state.withLock { $0.table.due(upTo: now) }
    }

    package func close() { self.archive.close() }
}
