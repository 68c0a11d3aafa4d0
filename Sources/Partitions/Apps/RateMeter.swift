package import APNSWire
package import Settings
import Synchronization
package import WidgetModel

/// One ``RateLimit`` that several event loops share: an app's, or a sender's.
///
/// Its state is one word. Requests that two loops admit at the same instant are admitted one after the other.
package final class RateMeter: Sendable {
    package let limit: RateLimit
    private let arrival = Atomic<RateLimit.ArrivalTime>(RateLimit.idle)

    package init(_ limit: RateLimit) {
        self.limit = limit
    }

    /// A meter of a limit, nil for none; the one before goes on, with its count, if its limit is the same.
    package static func of(_ limit: RateLimit?, before: RateMeter?) -> RateMeter? {
        guard let limit else { return nil }
        if let before, before.limit == limit { return before }
        return RateMeter(limit)
    }

    /// nil if one may come now, else how many nanoseconds too early it is.
    ///
    /// - Parameter gateways: How many share the limit.
    package func admit(at now: Instant, of gateways: Int = 1) -> Int64? {
        let limit = self.limit.share(of: gateways)
        var known = self.arrival.load(ordering: .relaxed)
        while true {
            switch limit.judge(known, at: now) {
            case .refused(let wait): return wait
            case .admitted(let next):
                let (exchanged, original) = self.arrival.compareExchange(
                    expected: known,
                    desired: next,
                    ordering: .relaxed
                )
                if exchanged { return nil }
                known = original
            }
        }
    }

    /// Takes back that one came, since something else refused it.
    package func giveBack(of gateways: Int = 1) {
        let limit = self.limit.share(of: gateways)
        var known = self.arrival.load(ordering: .relaxed)
        while true {
            let (exchanged, original) = self.arrival.compareExchange(
                expected: known,
                desired: limit.givingBack(known),
                ordering: .relaxed
            )
            if exchanged { return }
            known = original
        }
    }
}

extension GatewayConfiguration.Rate {
    /// As a meter takes it.
    package var limit: RateLimit { RateLimit(count: self.count, per: self.period, burst: self.burstInForce) }
}
