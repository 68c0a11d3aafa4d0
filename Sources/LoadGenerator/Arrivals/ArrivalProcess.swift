/// When operations are meant to happen: an open loop, in which no operation waits for the answer to an earlier one.
package enum ArrivalProcess: Hashable, Sendable {
    /// At even distances.
    case uniform(RateCurve)
    /// At random: distances are independent and exponential, as of many senders that know nothing of each other.
    case poisson(RateCurve)
    /// So many at even distances within nanoseconds, the first at once.
    case burst(count: Int64, within: Int64)
    /// At recorded instants.
    case trace(ArrivalTrace)

    /// How many operations there are on average.
    package var expectedCount: Double {
        switch self {
        case .uniform(let curve), .poisson(let curve): curve.total
        case .burst(let count, _): Double(count)
        case .trace(let trace): Double(trace.instants.count)
        }
    }

    /// Nanoseconds after which nothing comes any more.
    package var length: Int64 {
        switch self {
        case .uniform(let curve), .poisson(let curve): curve.length
        case .burst(_, let within): within
        case .trace(let trace): (trace.instants.last ?? -1) + 1
        }
    }
}
