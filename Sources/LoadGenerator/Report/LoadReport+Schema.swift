package import WidgetModel

extension LoadReport {
    /// A JSON Schema of ``json``.
    package static var schema: JSONValue {
        JSONSchema.file(
            JSONSchema.record([
                ("schema", JSONSchema.choice([.int(Self.version)])), ("scenario", Self.scenario),
                ("target", Self.text), ("began", Self.integer), ("seconds", Self.number),
                ("intervalSeconds", Self.number), ("answeredPerSecond", Self.number),
                ("latencyMicroseconds", Self.stages(Self.latencies)), ("generator", Self.generator),
                ("server", JSONSchema.either(Self.server, Self.null)),
                ("hosts", Self.integers(["reloads", "redelivered", "acknowledged", "refusedAcknowledgements"])),
                ("loads", JSONSchema.list(of: Self.load)),
                (
                    "objectives",
                    JSONSchema.list(
                        of: JSONSchema.record([
                            ("objective", Self.text), ("isMet", JSONSchema.flag), ("value", Self.figure),
                        ])
                    )
                ), ("isMet", JSONSchema.flag), ("failure", JSONSchema.value("string", "null")),
                ("remarks", JSONSchema.list(of: Self.text)),
            ]),
            title: "A report of freshet bench"
        )
    }

    private static let text = JSONSchema.value("string")
    private static let integer = JSONSchema.value("integer")
    private static let number = JSONSchema.value("number")
    private static let null = JSONSchema.value("null")
    private static let numberOrNull = JSONSchema.value("number", "null")
    /// Null where there was nothing to measure, `"never"` for a stage that so many operations never came to.
    private static let figure = JSONSchema.either(
        JSONSchema.value("number", "null"),
        JSONSchema.choice([.string("never")])
    )

    private static func integers(_ names: [String]) -> JSONValue { JSONSchema.record(names.map { ($0, self.integer) }) }

    private static let scenario = JSONSchema.record([
        ("name", Self.text), ("about", Self.text), ("seed", JSONSchema.value("integer")),
        ("lengthSeconds", Self.number), ("connections", Self.integer), ("streams", Self.integer),
        ("hosts", Self.integer), ("widgets", Self.integer),
    ])

    private static let percentileMembers =
        Self.percentiles.map { ($0.name, Self.figure) } + [("mean", Self.numberOrNull)]

    private static let generator = JSONSchema.record([
        ("cpuSeconds", Self.number), ("answeredPerCPUSecond", Self.numberOrNull), ("behind", Self.number),
        ("wasBottleneck", JSONSchema.flag), ("isClosedLoop", JSONSchema.flag), ("heldBack", Self.integer),
        ("lostConnections", Self.integer),
        ("latenessMicroseconds", JSONSchema.record([("count", Self.integer)] + Self.percentileMembers)),
        (
            "outages",
            JSONSchema.list(
                of: JSONSchema.record([
                    ("listener", Self.text), ("beganSeconds", Self.numberOrNull), ("endedSeconds", Self.numberOrNull),
                    ("recoveredSeconds", Self.numberOrNull),
                ])
            )
        ),
    ])

    private static let server = JSONSchema.record([
        ("cpuSeconds", Self.number), ("answeredPerCPUSecond", Self.numberOrNull), ("residentBytes", Self.integer),
    ])

    private static let latencyMembers = [("count", Self.integer), ("unreached", Self.integer)] + Self.percentileMembers
    private static let latencies = JSONSchema.record(Self.latencyMembers)

    /// A section of the stages that a run has reached.
    private static func stages(_ schema: JSONValue) -> JSONValue {
        JSONSchema.section(LatencyStage.allCases.map { JSONValue.Member(name: $0.rawValue, value: schema) })
    }

    private static let interval = JSONSchema.record([
        ("unreached", Self.integer), ("buckets", JSONSchema.list(of: JSONSchema.list(of: Self.integer, least: 2))),
    ])

    private static let load = JSONSchema.record([
        ("name", Self.text), ("send", JSONSchema.choice(Load.Kind.allCases.map { .string($0.rawValue) })),
        ("due", Self.integer), ("sent", Self.integer), ("answered", Self.integer), ("failed", Self.integer),
        (
            "failures",
            JSONSchema.list(
                of: JSONSchema.record([("status", Self.integer), ("reason", Self.text), ("count", Self.integer)])
            )
        ),
        (
            "decided",
            JSONSchema.either(Self.integers(["pushes", "matched"] + PushOutcome.allCases.map(\.name)), Self.null)
        ), ("dueByInterval", JSONSchema.list(of: Self.integer)),
        ("answeredByInterval", JSONSchema.list(of: Self.integer)),
        (
            "latencyMicroseconds",
            Self.stages(
                JSONSchema.record(
                    Self.latencyMembers + [
                        ("intervals", JSONSchema.list(of: JSONSchema.either(Self.interval, Self.null)))
                    ]
                )
            )
        ),
    ])
}
