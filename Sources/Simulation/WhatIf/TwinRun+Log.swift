import Engine
package import History
package import Journaling
package import WidgetModel

extension TwinRun {
    /// Runs a partition's log, from as far back as it goes.
    ///
    /// - Parameters:
    ///   - partition: Which partition.
    ///   - history: The log.
    ///   - start: Where it begins; a state in the middle is one under the policies that were in force.
    ///   - rewrite: The difference of the other run.
    ///   - since: The beginning of the measured time.
    ///   - starvedAfter: How long a widget waits until it is starved.
    ///   - step: Called after each entry.
    /// - Throws: ``HistoryError`` if no state is as old as the measured time; the errors of the log and the engine.
    package static func run(
        _ partition: PartitionID,
        of history: any LogHistory,
        from start: HistoryStart,
        _ rewrite: PolicyRewrite,
        since: Instant,
        starvedAfter: Interval,
        step: () -> Void = {}
    ) throws -> TwinRun.Result {
        let engine = try start.engine(of: partition, in: history, .oldest(notAfter: since))
        var walk = EntryWalk(history, partition, behind: engine.position)
        var run = try TwinRun(engine, rewrite, since: since, starvedAfter: starvedAfter)
        while let entry = try walk.next() {
            try run.applyEntry(entry)
            step()
        }
        return try run.finish()
    }
}

extension Engine {
    /// Every outstanding reload, whichever way it goes. O(instances).
    func allOutstanding(_ settings: EngineSettings) -> [ReloadEffect] {
        func all(_ next: (InstanceNumber) -> ReloadsPage) -> [ReloadEffect] {
            var found: [ReloadEffect] = []
            var cursor: InstanceNumber? = InstanceNumber(0)
            while let from = cursor {
                let page = next(from)
                found += page.reloads
                cursor = page.next
            }
            return found
        }
        return all { ReloadsQuestion(.undelivered, from: $0).answer(from: self) }.sorted {
            $0.id.position < $1.id.position
        }
            + settings.apps.flatMap { app in
                all { ReloadsQuestion(.app(app.app), from: $0).answer(from: self) }
            }
    }
}
