import APNSWire
package import WidgetModel

extension LoadComparison {
    /// The version of ``json``; ``schema`` describes it.
    static let version: Int64 = 1

    /// A table for a terminal.
    package var text: String {
        let header = ["", "before", "after", "ratio", "difference", "95 % interval", ""]
        let cells = self.rows.map { row in
            [
                row.name, Self.value(row.before, row.unit), Self.value(row.after, row.unit),
                row.ratio.map { "\(Self.hundredths($0)) x" } ?? "–", Self.signed(row.difference, row.unit),
                row.interval.map {
                    "\(Self.signed($0.lowerBound, row.unit)) to \(Self.signed($0.upperBound, row.unit))"
                }
                    ?? "–",
                Self.words(row.verdict),
            ]
        }
        return LoadReport.table([header] + cells).joined(separator: "\n") + "\n"
    }

    private static func words(_ verdict: Verdict) -> String {
        switch verdict {
        case .better: "better"
        case .worse: "worse"
        case .noDifferenceShown: "no difference shown"
        case .untested: "too little to say"
        }
    }

    private static func signed(_ value: Double, _ unit: Unit) -> String {
        (value > 0 ? "+" : value < 0 ? "-" : "") + self.value(abs(value), unit)
    }

    private static func value(_ value: Double, _ unit: Unit) -> String {
        unit == .microseconds ? LoadReport.latency(value) : value.isFinite ? self.hundredths(value) : "never"
    }

    private static func hundredths(_ value: Double) -> String {
        let hundredths = Int((min(value, Self.figureMax) * 100).rounded())
        let rest = hundredths % 100
        return "\(hundredths / 100).\(rest / 10)\(rest % 10)"
    }

    /// The comparison as JSON text, with a line break at its end.
    package var jsonText: [UInt8] { self.json.jsonText + [0x0A] }

    private var json: JSONValue {
        .object([
            Self.member("schema", .int(Self.version)), Self.member("confidence", .double(Bootstrap.confidence)),
            Self.member("resamples", .int(Int64(Bootstrap.resamples))),
            Self.member(
                "figures",
                .array(
                    self.rows.map { row in
                        .object([
                            Self.member("figure", .string(row.name)), Self.member("unit", .string(row.unit.rawValue)),
                            Self.member("before", Self.figure(row.before)),
                            Self.member("after", Self.figure(row.after)),
                            Self.member("difference", Self.figure(row.difference)),
                            Self.member(
                                "interval",
                                row.interval.map { .array([Self.figure($0.lowerBound), Self.figure($0.upperBound)]) }
                                    ?? .null
                            ), Self.member("verdict", .string(row.verdict.rawValue)),
                        ])
                    }
                )
            ),
        ])
    }

    private static func member(_ name: String, _ value: JSONValue) -> JSONValue.Member {
        JSONValue.Member(name: name, value: value)
    }

    /// A figure; JSON has no number for infinity.
    private static func figure(_ value: Double) -> JSONValue {
        value.isFinite ? .double(value) : .string(value > 0 ? "never" : "-never")
    }

    /// A JSON Schema of ``jsonText``.
    package static var schema: JSONValue {
        func choice(_ names: [String]) -> JSONValue { JSONSchema.choice(names.map { .string($0) }) }
        let positive = JSONSchema.either(JSONSchema.value("number"), choice(["never"]))
        let any = JSONSchema.either(
            .object([JSONValue.Member(name: "type", value: .string("number"))]),
            choice(["never", "-never"])
        )
        return JSONSchema.file(
            JSONSchema.record([
                ("schema", JSONSchema.choice([.int(Self.version)])), ("confidence", JSONSchema.value("number")),
                ("resamples", JSONSchema.value("integer")),
                (
                    "figures",
                    JSONSchema.list(
                        of: JSONSchema.record([
                            ("figure", JSONSchema.value("string")), ("unit", choice(Unit.allCases.map(\.rawValue))),
                            ("before", positive), ("after", positive), ("difference", any),
                            (
                                "interval",
                                JSONSchema.either(JSONSchema.list(of: any, least: 2), JSONSchema.value("null"))
                            ),
                            ("verdict", choice(Verdict.allCases.map(\.rawValue))),
                        ])
                    )
                ),
            ]),
            title: "A comparison of freshet bench compare"
        )
    }
}
