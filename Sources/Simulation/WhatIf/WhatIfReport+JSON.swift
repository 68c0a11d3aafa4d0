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
            .member("partitions", .of(self.partitions)),
            .member(
                "answers",
                .object([
                    .member("kept", .of(self.answersKept)), .member("estimated", .of(self.answersEstimated)),
                ])
            ),
            .member("starvedAfterSeconds", .of(Int(self.starvedAfter.milliseconds / 1000))),
            .member("actual", Self.json(self.actual)), .member("other", Self.json(self.other)),
        ])
    }

    private static func json(_ measures: WhatIfMeasures) -> JSONValue {
        .object([
            .member("reloads", Self.json(measures.all)),
            .member("stalenessShares", .shares(measures.all.staleness)),
            .member("starved", .of(measures.starvedCount)),
            .member("pushes", .object(PushOutcome.allCases.map { .member($0.name, .of(measures.outcomes[$0])) })),
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
            .member("reloadsByHour", .array(measures.hours.map { .of($0) })),
            .member("lostDecisions", .of(measures.lostDecisions)),
        ])
    }

    private static func json(_ reloads: WhatIfMeasures.Reloads) -> JSONValue {
        .object([
            .member("issued", .of(reloads.issued)), .member("charged", .of(reloads.charged)),
            .member("exempt", .of(reloads.exempt)), .member("collateral", .of(reloads.collateral)),
            .member("collateralOver", .of(reloads.collateralOver)),
            .member("pushesServed", .of(reloads.pushesServed)),
            .member(
                "staleness",
                .object([
                    .member("count", .of(reloads.staleness.count)),
                    .member("p50", .of(reloads.staleness.percentile(50))),
                    .member("p95", .of(reloads.staleness.percentile(95))),
                    .member("max", .of(reloads.staleness.count == 0 ? nil : reloads.staleness.max)),
                    .member("mean", .of(reloads.staleness.mean)),
                ])
            ),
        ])
    }

    private static func json(_ sender: SenderView) -> JSONValue {
        .object([
            .member("team", .string(sender.team.rawValue)), .member("pushes", .of(sender.pushes)),
            .member("repeats", .of(sender.repeats)), .member("matched", .of(sender.matched)),
            .member("unchanged", .of(sender.unchanged)), .member("endedAtOnce", .of(sender.refused)),
            .member("reloadsCharged", .of(sender.charged)), .member("reloadsExempt", .of(sender.exempt)),
            .member("collateral", .of(sender.collateral)), .member("collateralOver", .of(sender.collateralOver)),
        ])
    }
}
