import Engine
import History
import Serving
import WidgetModel

/// Senders, and the orders that hold them back.
extension Views {
    /// A pause in force, in the words in which it was ordered.
    ///
    /// - Parameter source: Its caller; nil where that is not told.
    static func order(_ order: StandingOrder, by source: OperatorSource?) -> JSONValue {
        guard case .object(let members) = OperatorOrder(.pause(until: nil), order.scope).json else { return .null }
        let more = JSONValue.object(of: [
            ("since", .instant(order.since)),
            ("until", order.until.map { .instant($0) }),
            ("by", source.map { .string($0.caller) }),
            ("address", source.map { .string($0.address) }),
            ("request", source.map { .string($0.request) }),
            ("isConfigured", .bool(order.isConfigured)),
        ])
        guard case .object(let rest) = more else { return .null }
        return .object(members + rest)
    }

    /// The costs and outcomes of a sender's pushes.
    static func sender(_ team: TeamID, _ counts: SenderCounts, paused: JSONValue? = nil) -> JSONValue {
        let share = counts.matched == 0 ? 0 : Double(counts.unchanged) / Double(counts.matched)
        return JSONValue.object(of: [
            ("team", .string(team.rawValue)),
            ("pushes", .count(counts.pushes)),
            ("repeats", .count(counts.repeats)),
            ("matched", .count(counts.matched)),
            ("unchanged", .count(counts.unchanged)),
            ("unchangedShare", .double(share)),
            ("endedAtOnce", .count(counts.refused)),
            ("reloadsCharged", .count(counts.charged)),
            ("reloadsExempt", .count(counts.exempt)),
            ("collateral", .count(counts.collateral)),
            ("collateralOver", .count(counts.collateralOver)),
            ("paused", paused),
        ])
    }
}
