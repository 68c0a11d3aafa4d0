import Engine
package import WidgetModel

/// Parts of the schemas of reports.
enum ReportSchema {
    static let text = JSONSchema.value("string")
    static let count = JSONSchema.value("integer")
    static let number = JSONSchema.value("number")
    /// Null where there was nothing to measure.
    static let countOrNull = JSONSchema.value("integer", "null")

    /// A record of counts.
    static func counts(_ names: [String]) -> JSONValue { JSONSchema.record(names.map { ($0, Self.count) }) }

    /// Of how many, and how long in seconds.
    static let waits = [
        ("count", Self.count), ("p50", Self.countOrNull), ("p95", Self.countOrNull), ("max", Self.countOrNull),
        ("mean", JSONSchema.value("number", "null")),
    ]
    /// Pairs of seconds and the share of waits that were at most so long.
    static let shares = JSONSchema.list(of: JSONSchema.list(of: Self.number, least: 2))
    static let outcomes = Self.counts(PushOutcome.allCases.map(\.name))
}

extension SimulationReport {
    /// A JSON Schema of ``json``.
    package static var schema: JSONValue {
        JSONSchema.file(
            JSONSchema.record([
                ("schema", JSONSchema.choice([.int(Self.version)])), ("digest", ReportSchema.text),
                ("scenario", Self.scenario), ("reloads", Self.reloads),
                (
                    "pushes",
                    JSONSchema.record([
                        ("sent", ReportSchema.count), ("toTokens", ReportSchema.count),
                        ("matched", ReportSchema.count), ("outcomes", ReportSchema.outcomes),
                    ])
                ), ("staleness", Self.staleness), ("looks", Self.looks),
                ("starved", ReportSchema.counts(["afterSeconds", "instances"])), ("budget", Self.budget),
                ("provider", Self.provider), ("populations", JSONSchema.list(of: Self.population)),
                ("hours", JSONSchema.list(of: Self.hour([("staleShare", ReportSchema.number)]))),
                ("localHours", JSONSchema.list(of: Self.hour([]))),
            ]),
            title: "A report of freshet simulate"
        )
    }

    private static let scenario = JSONSchema.record([
        ("name", ReportSchema.text), ("about", ReportSchema.text), ("seed", ReportSchema.count),
        ("start", ReportSchema.text), ("days", ReportSchema.count), ("partitions", ReportSchema.count),
        ("hosts", ReportSchema.count), ("instances", ReportSchema.count), ("records", ReportSchema.count),
    ])

    private static let reloads = JSONSchema.record(
        [
            "issued", "charged", "collateral", "collateralOver", "observed", "acknowledged", "refused",
            "unacknowledged", "outstanding", "offline",
        ].map { ($0, ReportSchema.count) } + [
            ("byCause", ReportSchema.counts(ReloadCause.allCases.map(\.name))),
            ("exempt", ReportSchema.counts(Exemption.allCases.map(\.name))),
        ]
    )

    private static let staleness = JSONSchema.record(
        ReportSchema.waits + [("neverShown", ReportSchema.count), ("shares", ReportSchema.shares)]
    )

    private static let looks = JSONSchema.record([
        ("looks", ReportSchema.count),
        ("stale", JSONSchema.record(ReportSchema.waits + [("shares", ReportSchema.shares)])),
    ])

    private static let budget = JSONSchema.record([
        ("windows", ReportSchema.count),
        ("allowance", JSONSchema.record(["p5", "p50", "p95"].map { ($0, ReportSchema.countOrNull) })),
        (
            "usedPercentByHour",
            JSONSchema.list(
                of: JSONSchema.record([
                    ("hour", ReportSchema.count), ("p10", ReportSchema.countOrNull), ("mean", ReportSchema.number),
                    ("p90", ReportSchema.countOrNull),
                ])
            )
        ),
    ])

    private static let provider = JSONSchema.record(
        ["requests", "peakSeconds", "peak", "policyRequests", "aroundFrom", "aroundEvery"]
            .map { ($0, ReportSchema.count) } + ["unsmoothed", "smoothed"].map { ($0, Self.side) }
    )

    private static let side = JSONSchema.record([
        ("peak", ReportSchema.count), ("peakAt", ReportSchema.count),
        ("around", JSONSchema.list(of: ReportSchema.count)),
    ])

    private static let population = JSONSchema.record([
        ("name", ReportSchema.text), ("rhythm", ReportSchema.text), ("delivery", ReportSchema.text),
        ("instances", ReportSchema.count), ("staleness", Self.staleness), ("looks", Self.looks),
        ("starved", ReportSchema.count), ("collateral", ReportSchema.count), ("collateralOver", ReportSchema.count),
    ])

    /// Reloads of an hour by their sources, and the other members of an hour.
    private static func hour(_ others: [(String, JSONValue)]) -> JSONValue {
        JSONSchema.record(
            [("hour", ReportSchema.count)] + ReloadSource.allCases.map { ($0.name, ReportSchema.count) } + others
        )
    }
}
