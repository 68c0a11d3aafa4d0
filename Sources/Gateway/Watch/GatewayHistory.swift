package import Engine
import Synchronization
package import WidgetModel

/// The last minutes by the second and the last day by the minute: what charts are made of.
package final class GatewayHistory: Sendable {
    /// How fine samples are.
    package enum Step: String, Hashable, Sendable, CaseIterable {
        case second, minute

        /// How many samples are kept: ten minutes of seconds, a day of minutes.
        package var capacity: Int { self == .second ? 600 : 1440 }
        package var seconds: Int { self == .second ? 1 : 60 }
    }

    /// Over how long ``recentFreshness(now:)`` looks.
    package static let recent = Interval.minutes(5)

    private struct State {
        var seconds: [GatewaySample] = []
        var minutes: [GatewaySample] = []
        var last: GatewayTotals?
        var minuteStart: GatewayTotals?
        /// Freshness at the starts of the last minutes.
        var marks: [(at: Instant, freshness: Freshness)] = []
    }

    private let state = Mutex(State())

    package init() {}

    /// Takes totals in.
    ///
    /// - Returns: What happened since the ones before; nil of the first.
    @discardableResult
    package func add(_ totals: GatewayTotals) -> GatewaySample? {
        self.state.withLock { state in
            defer { state.last = totals }
            guard let last = state.last, let start = state.minuteStart else {
                state.minuteStart = totals
                state.marks = [(totals.at, totals.freshness)]
                return nil
            }
            let sample = GatewaySample(from: last, to: totals)
            Self.keep(sample, in: &state.seconds, .second)
            if totals.at - start.at >= .minutes(1) {
                Self.keep(GatewaySample(from: start, to: totals), in: &state.minutes, .minute)
                state.minuteStart = totals
                state.marks.append((totals.at, totals.freshness))
                if state.marks.count > 1, totals.at - state.marks[1].at >= Self.recent { state.marks.removeFirst() }
            }
            return sample
        }
    }

    private static func keep(_ sample: GatewaySample, in samples: inout [GatewaySample], _ step: Step) {
        // In slices, so that not every sample moves all others.
        if samples.count >= step.capacity + step.capacity / 4 { samples.removeFirst(samples.count - step.capacity) }
        samples.append(sample)
    }

    /// The newest samples after an instant, oldest first.
    package func samples(_ step: Step, after instant: Instant? = nil, limit: Int) -> [GatewaySample] {
        let kept = self.state.withLock { step == .second ? $0.seconds : $0.minutes }.suffix(step.capacity)
        guard let instant else { return kept.suffix(limit) }
        return kept.filter { $0.at > instant }.suffix(limit)
    }

    /// How old news was when users saw it in the last minutes, and over how long that is.
    package func recentFreshness() -> (length: Interval, freshness: Freshness)? {
        self.state.withLock { state in
            guard let last = state.last, let mark = state.marks.first else { return nil }
            return (last.at - mark.at, last.freshness.since(mark.freshness))
        }
    }
}
