import Synchronization

/// Says at its beginning whether a trace is recorded here.
///
/// A sender that has decided is followed, in both directions; of the other traces a part is recorded. Both together begin so
/// many in a second and no more, so that no sender can make the gateway spend its time on traces.
package final class SpanSampler: Sendable {
    /// How many traces of a million are recorded whose sender has not decided.
    package let perMillion: Int
    /// The most that begin in a second.
    package let perSecondMax: Int
    private let state = Mutex<(second: UInt64, begun: Int, limited: Int)>((0, 0, 0))

    package init(perMillion: Int, perSecondMax: Int) {
        self.perMillion = perMillion
        self.perSecondMax = perSecondMax
    }

    /// Traces that were not recorded since too many began in that second.
    package var limited: Int { self.state.withLock { $0.limited } }

    /// - Parameters:
    ///   - isSampled: The sender's decision; nil if there is none.
    ///   - traceID: A part of the trace's id that is random.
    ///   - nanoseconds: Now, since 1970.
    package func takes(isSampled: Bool?, traceID: UInt64, at nanoseconds: UInt64) -> Bool {
        // By the id and not by dice, so that gateways in a row decide the same.
        let isChosen = isSampled ?? (traceID % 1_000_000 < UInt64(self.perMillion))
        guard isChosen else { return false }
        return self.state.withLock { state in
            let second = nanoseconds / 1_000_000_000
            if second != state.second { state = (second, 0, state.limited) }
            guard state.begun < self.perSecondMax else {
                state.limited += 1
                return false
            }
            state.begun += 1
            return true
        }
    }
}
