import Engine
import Serving
import WidgetModel

/// Lines of operators' lists.
extension Views {
    ///
    /// - Parameter cause: Why it is behind; nil if it is not.
    static func summary(_ row: InstanceSummary, behind cause: BehindCause?) -> JSONValue {
        JSONValue.object(of: [
            ("id", .string(row.address.description)),
            ("app", .string(row.app.rawValue)),
            ("kind", .string(row.kind.rawValue)),
            ("family", .string(row.family.name)),
            ("pushEnabled", .bool(row.pushEnabled)),
            ("isOrphaned", .bool(row.isOrphaned)),
            ("isVisible", row.isVisible.map { .bool($0) }),
            ("allowance", row.allowance.map { .count($0) }),
            ("charged", .count(row.charged)),
            ("left", row.allowance.map { .count(max(0, $0 - row.charged)) }),
            ("waiting", .count(row.waiting)),
            ("outstanding", .count(row.outstanding)),
            ("decidesAt", row.decidesAt.map { .instant($0) }),
            ("lastReload", row.lastReload.map { .instant($0) }),
            ("behind", cause.map { .string($0.rawValue) }),
            ("behindSince", row.behindSince.map { .instant($0) }),
        ])
    }

    /// - Parameters:
    ///   - streams: How many of its own are open.
    ///   - isReached: Whether one of its own or of its app is.
    static func summary(_ row: HostSummary, streams: Int, isReached: Bool) -> JSONValue {
        JSONValue.object(of: [
            ("host", .string(row.host.id.rawValue)),
            ("app", .string(row.app.rawValue)),
            ("delivery", .string(row.delivery.name)),
            ("connected", .bool(streams > 0)),
            ("streams", .count(streams)),
            ("reached", row.delivery == .stream ? .bool(isReached) : nil),
            ("instances", .count(row.instances)),
            ("outstanding", .count(row.outstanding)),
            ("registeredAt", .instant(row.registeredAt)),
            ("leaseEnds", row.leaseEnds.map { .instant($0) }),
            ("exemptions", .strings(row.exemptions.map(\.name))),
            ("isInStandBy", .bool(row.isInStandBy)),
            ("isInLowPower", .bool(row.isInLowPower)),
        ])
    }

    static func decision(_ row: PushDecision) -> JSONValue {
        guard case .object(let members) = Views.decision(row.decision) else { return .null }
        guard let instance = row.instance else { return .object(members) }
        return .object([JSONValue.Member(name: "instance", value: .string(instance.description))] + members)
    }

    /// The counts of a second or minute.
    static func sample(_ sample: GatewaySample) -> JSONValue {
        let outcomes = PushOutcome.allCases.map { ($0.name, JSONValue.count(sample.outcomes[$0])) }
        return JSONValue.object(
            of: [
                ("at", .instant(sample.at)),
                ("accepted", .count(sample.accepted)),
                ("rejected", .count(sample.rejected)),
                ("unavailable", .count(sample.unavailable)),
                ("rateLimited", .count(sample.rateLimited)),
                ("backlogFull", .count(sample.backlogFull)),
                ("matched", .count(sample.matched)),
            ] + outcomes + [
                ("reloadsIssued", .count(sample.reloadsIssued)),
                ("policyReloads", .count(sample.policyReloads)),
                ("reloadsNotShown", .count(sample.reloadsNotShown)),
                ("shown", .count(sample.freshness.count)),
                ("p50Milliseconds", sample.freshness.quantile(50).map { .int($0.milliseconds) }),
                ("p95Milliseconds", sample.freshness.quantile(95).map { .int($0.milliseconds) }),
                ("inFlight", .count(sample.inFlight)),
                ("lag", .count(sample.lag)),
            ]
        )
    }

    /// An event that charts mark.
    static func mark(_ mark: GatewayMark) -> JSONValue {
        JSONValue.object(of: [
            ("at", .instant(mark.at)),
            ("kind", .string(mark.kind.name)),
            ("text", .string(mark.text)),
            ("awaySince", mark.awaySince.map { .instant($0) }),
        ])
    }

    static func mark(_ entry: AuditTrail.Entry, namesCaller: Bool) -> JSONValue {
        let refusal = entry.status.flatMap { $0 >= 300 ? ", answered \($0)" : nil } ?? ""
        return JSONValue.object(of: [
            ("at", .instant(entry.at)),
            ("kind", .string("order")),
            ("text", .string(entry.words + refusal)),
            ("by", namesCaller ? .string(entry.source.caller) : nil),
        ])
    }
}
