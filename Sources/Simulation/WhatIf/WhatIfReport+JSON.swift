import APNSWire
import Engine
import Timelines
import WidgetModel

extension WhatIfReport {
    /// The version of the schema of ``jsonText``.
    static let version: Int64 = 1

    /// The report for programs.
    package var jsonText: [UInt8] { self.json.jsonText }

    private var json: JSONValue {
        .object([
            .member("schema", .int(Self.version)),
            .member("policy", .string(self.rewrite.policy.name)),
            .member("app", self.rewrite.app.map { .string($0.rawValue) } ?? .null),
            .member("kind", self.rewrite.kind.map { .string($0.rawValue) } ?? .null),
            .member("since", .string(Self.time(self.since))), .member("until", .string(Self.time(self.until))),
            .member("partitions", .count(self.partitions)),
            .member(
                "answers",
                .object([
                    .member("kept", .count(self.answersKept)), .member("estimated", .count(self.answersEstimated)),
                ])
            ),
            .member("starvedAfterSeconds", .count(Int(self.starvedAfter.milliseconds / 1000))),
            .member("actual", Self.json(self.actual)), .member("other", Self.json(self.other)),
        ])
    }

    private static func json(_ measures: WhatIfMeasures) -> JSONValue {
        .object([
            .member("reloads", Self.json(measures.all)),
            .member("stalenessShares", .shares(measures.all.staleness)),
            .member("starved", .count(measures.starvedCount)),
            .member("pushes", .object(PushOutcome.allCases.map { .member($0.name, .count(measures.outcomes[$0])) })),
            .member(
                "kinds",
                .array(
                    measures.kinds.map { kind in
                        .object([
                            .member("app", .string(kind.name.app.rawValue)),
                            .member("kind", .string(kind.name.kind.rawValue)),
                            .member("reloads", Self.json(kind.reloads)),
                        ])
                    }
                )
            ),
            .member("senders", .array(measures.senders.map { Self.json($0) })),
            .member("reloadsByHour", .array(measures.hours.map { .count($0) })),
            .member("lostDecisions", .count(measures.lostDecisions)),
        ])
    }

    private static func json(_ reloads: WhatIfMeasures.Reloads) -> JSONValue {
        .object([
            .member("issued", .count(reloads.issued)), .member("charged", .count(reloads.charged)),
            .member("exempt", .count(reloads.exempt)), .member("collateral", .count(reloads.collateral)),
            .member("collateralOver", .count(reloads.collateralOver)),
            .member("pushesServed", .count(reloads.pushesServed)),
            .member(
                "staleness",
                .object([
                    .member("count", .count(reloads.staleness.count)),
                    .member("p50", .count(reloads.staleness.percentile(50))),
                    .member("p95", .count(reloads.staleness.percentile(95))),
                    .member("max", .count(reloads.staleness.count == 0 ? nil : reloads.staleness.max)),
                    .member("mean", .count(reloads.staleness.mean)),
                ])
            ),
        ])
    }

    private static func json(_ sender: SenderView) -> JSONValue {
        .object([
            .member("team", .string(sender.team.rawValue)), .member("pushes", .count(sender.pushes)),
            .member("repeats", .count(sender.repeats)), .member("matched", .count(sender.matched)),
            .member("unchanged", .count(sender.unchanged)), .member("endedAtOnce", .count(sender.refused)),
            .member("reloadsCharged", .count(sender.charged)), .member("reloadsExempt", .count(sender.exempt)),
            .member("collateral", .count(sender.collateral)), .member("collateralOver", .count(sender.collateralOver)),
        ])
    }
}
