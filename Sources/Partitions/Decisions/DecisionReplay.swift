import Engine
import History
import Journaling
import Ownership
import WidgetModel

/// Makes decisions again that a store does not have: the log decides the same whenever it is replayed.
struct DecisionReplay: Sendable {
    let partition: PartitionID
    let store: DecisionStore
    /// Decisions with lesser numbers are made again.
    let until: UInt64
    /// The log's end, to tell how far the replay is.
    let through: LogPosition
    /// The log's time, by which the store judges which decisions are too old.
    let now: Instant

    /// Replays the partition from its oldest kept state to the log's end. Blocks.
    ///
    /// - Parameters:
    ///   - history: The log.
    ///   - start: Where the replay begins.
    ///   - isCancelled: Asked now and then whether to end.
    ///   - note: Told how many entries were applied, and of how many.
    func run(
        _ history: any LogHistory,
        _ start: HistoryStart,
        _ isCancelled: () -> Bool,
        _ note: (UInt64, UInt64) -> Void
    ) throws {
        let place = self.store.place(in: self.partition)
        var engine = try start.engine(of: self.partition, in: history, .oldest(notAfter: nil))
        var walk = EntryWalk(history, self.partition, behind: engine.position)
        let first = engine.position.rawValue
        let end = max(first, self.through.rawValue)
        var next = engine.oldestDecision
        note(0, end - first)
        while next < self.until, !isCancelled(), let entry = try walk.next() {
            var run = EntryRun(entry)
            while try run.applyNext(&engine) != nil {
                try self.write(engine, &next, atLeast: DecisionFiler.blockRows, place)
            }
            note(engine.position.rawValue - first, max(end, engine.position.rawValue) - first)
        }
        try self.write(engine, &next, atLeast: 1, place)
    }

    private func write(
        _ engine: borrowing Engine,
        _ next: inout UInt64,
        atLeast least: Int,
        _ place: DecisionStore.Place
    ) throws {
        while true {
            let page = engine.decisions(from: next, atLeast: least, limit: DecisionFiler.blockRows)
            guard !page.rows.isEmpty else { return }
            next = page.first + UInt64(page.rows.count)
            guard page.first < self.until else { return }
            for range in self.store.missing(self.partition, in: page.first..<min(next, self.until)) {
                let rows = page.rows[Int(range.lowerBound - page.first)..<Int(range.upperBound - page.first)]
                let block = DecisionBlock(
                    self.partition,
                    first: range.lowerBound,
                    Array(rows),
                    about: page.instances
                )
                try self.store.write(block, at: place, isMadeAgain: true, now: self.now)
            }
        }
    }
}
