package import WidgetModel

extension WhatIfReport {
    /// A JSON Schema of ``jsonText``.
    package static var schema: JSONValue {
        JSONSchema.file(
            JSONSchema.record([
                ("schema", JSONSchema.choice([.int(Self.version)])), ("policy", ReportSchema.text),
                ("app", JSONSchema.value("string", "null")), ("kind", JSONSchema.value("string", "null")),
                ("since", ReportSchema.text), ("until", ReportSchema.text), ("partitions", ReportSchema.count),
                ("answers", ReportSchema.counts(["kept", "estimated"])),
                ("starvedAfterSeconds", ReportSchema.count), ("actual", Self.measures), ("other", Self.measures),
            ]),
            title: "A report of freshet what-if"
        )
    }

    private static let measures = JSONSchema.record([
        ("reloads", Self.reloads), ("stalenessShares", ReportSchema.shares), ("starved", ReportSchema.count),
        ("pushes", ReportSchema.outcomes),
        (
            "kinds",
            JSONSchema.list(
                of: JSONSchema.record([
                    ("app", ReportSchema.text), ("kind", ReportSchema.text), ("reloads", Self.reloads),
                ])
            )
        ),
        (
            "senders",
            JSONSchema.list(
                of: JSONSchema.record(
                    [("team", ReportSchema.text)]
                        + [
                            "pushes", "repeats", "matched", "unchanged", "endedAtOnce", "reloadsCharged",
                            "reloadsExempt", "collateral", "collateralOver",
                        ].map { ($0, ReportSchema.count) }
                )
            )
        ), ("reloadsByHour", JSONSchema.list(of: ReportSchema.count)), ("lostDecisions", ReportSchema.count),
    ])

    private static let reloads = JSONSchema.record(
        ["issued", "charged", "exempt", "collateral", "collateralOver", "pushesServed"].map { ($0, ReportSchema.count) }
            + [("staleness", JSONSchema.record(ReportSchema.waits))]
    )
}
