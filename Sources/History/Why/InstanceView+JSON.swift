package import Engine
package import WidgetModel

/// The common parts of two routes' answers about one instance: the one that tells its state, and the one that tells
/// why.
extension PendingView {
    /// A cause that waits.
    package var json: JSONValue {
        .object(of: [
            ("cause", .string(self.cause.name)),
            ("push", self.push.map { .string($0.description) }),
            ("priority", self.priority.map { .count(Int($0.rawValue)) }),
            ("since", self.since.map { .instant($0) }),
            ("notBefore", self.notBefore.map { .instant($0) }),
            ("expiresAt", self.expiresAt.map { .instant($0) }),
            ("until", self.until.map { .instant($0) }),
            ("reason", .string(self.reason.name)),
            ("words", .string(TraceWords.reason(self.reason))),
        ])
    }
}

extension DayLedger {
    /// The reloads of the last 24 hours.
    package var json: JSONValue {
        .object(of: [
            ("from", .instant(self.from)),
            ("until", .instant(self.until)),
            ("isWhole", .bool(self.isWhole)),
            ("entries", .array(self.entries.map(\.json))),
        ])
    }
}

extension DayLedger.Entry {
    fileprivate var json: JSONValue {
        let reason = self.decision.reason
        let isCollateral = reason == .collateral || reason == .collateralOver
        return .object(of: [
            ("at", .instant(self.decision.at)),
            ("position", .unsigned(self.decision.position.rawValue)),
            ("cause", .string(self.decision.cause.name)),
            ("charged", .bool(self.isCharged)),
            ("reason", .string(reason.name)),
            ("exemption", self.decision.exemption.map { .string($0.name) }),
            ("push", self.decision.push.map { .string($0.description) }),
            ("collateral", isCollateral ? .string(reason.name) : nil),
            ("left", self.left.map { .count($0) }),
        ])
    }
}
