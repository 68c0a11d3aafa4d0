/// All operations of a scenario in the order in which they are due, made while they are asked for.
package struct LoadSchedule: Sendable {
    package struct Operation: Hashable, Sendable {
        /// Nanoseconds after the beginning of the run.
        package var due: Int64
        /// The index of its load.
        package var load: Int
        /// From 0, over all loads.
        package var number: Int64
    }

    private struct Source: Sendable {
        let load: Int
        let start: Int64
        var arrivals: Arrivals
        var due: Int64?
    }

    private var sources: [Source]
    private var count: Int64 = 0

    /// - Parameters:
    ///   - loads: When each begins, and its process; nil for one that is not driven by time.
    ///   - seed: The run's.
    package init(_ loads: [(start: Int64, process: ArrivalProcess)?], seed: UInt64) {
        self.sources = []
        for (index, load) in loads.enumerated() {
            guard let load else { continue }
            var arrivals = Arrivals(load.process, seed: seed, number: index)
            let first = arrivals.next()
            self.sources.append(
                Source(load: index, start: load.start, arrivals: arrivals, due: first.map { $0 + load.start })
            )
        }
    }

    /// The source of the next due operation; of several at one instant, the first one in the list.
    private var first: Int? {
        var found: Int?
        var earliest = Int64.max
        for index in self.sources.indices {
            if let due = self.sources[index].due, due < earliest {
                earliest = due
                found = index
            }
        }
        return found
    }

    /// When the next operation is due; nil when none is left.
    package var nextDue: Int64? { self.first.flatMap { self.sources[$0].due } }

    /// Takes the next operation if it is due by an instant.
    package mutating func next(by instant: Int64) -> Operation? {
        guard let index = self.first, let due = self.sources[index].due, due <= instant else { return nil }
        let operation = Operation(due: due, load: self.sources[index].load, number: self.count)
        self.count += 1
        let start = self.sources[index].start
        self.sources[index].due = self.sources[index].arrivals.next().map { $0 + start }
        return operation
    }

    /// Operations that have been taken.
    package var taken: Int64 { self.count }
}
