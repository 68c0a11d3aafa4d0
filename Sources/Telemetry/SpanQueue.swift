import Synchronization

/// The spans that have ended and wait to be exported: a bounded number.
package final class SpanQueue: Sendable {
    package struct Counters: Hashable, Sendable {
        /// Spans that ended.
        package var recorded = 0
        /// Of them, those for which there was no room.
        package var dropped = 0

        package init(recorded: Int = 0, dropped: Int = 0) {
            self.recorded = recorded
            self.dropped = dropped
        }
    }

    /// The most spans that wait.
    package let max: Int
    private let state = Mutex<(spans: [RecordedSpan], counters: Counters)>(([], Counters()))

    package init(max: Int) {
        self.max = max
    }

    package var counters: Counters { self.state.withLock { $0.counters } }
    package var count: Int { self.state.withLock { $0.spans.count } }

    /// Takes a span, or counts it as dropped where ``max`` wait.
    package func add(_ span: RecordedSpan) {
        self.state.withLock { state in
            state.counters.recorded += 1
            if state.spans.count < self.max { state.spans.append(span) } else { state.counters.dropped += 1 }
        }
    }

    /// The spans that have waited longest, `max` at most; they wait no more.
    package func take(max: Int) -> [RecordedSpan] {
        self.state.withLock { state in
            let taken = Array(state.spans.prefix(max))
            state.spans.removeFirst(taken.count)
            return taken
        }
    }
}
