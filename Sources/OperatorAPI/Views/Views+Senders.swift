package import Engine
import History
import Serving
import Settings
package import WidgetModel

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
    package static func sender(_ view: SenderView, paused: JSONValue? = nil) -> JSONValue {
        let share = view.matched == 0 ? 0 : Double(view.unchanged) / Double(view.matched)
        return JSONValue.object(of: [
            ("team", .string(view.team.rawValue)),
            ("pushes", .count(view.pushes)),
            ("repeats", .count(view.repeats)),
            ("matched", .count(view.matched)),
            ("unchanged", .count(view.unchanged)),
            ("unchangedShare", .double(share)),
            ("endedAtOnce", .count(view.refused)),
            ("reloadsCharged", .count(view.charged)),
            ("reloadsExempt", .count(view.exempt)),
            ("collateral", .count(view.collateral)),
            ("collateralOver", .count(view.collateralOver)),
            ("paused", paused),
        ])
    }
}
