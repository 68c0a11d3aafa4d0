package import WidgetModel

/// How the value of one key is written, and which values are allowed.
///
/// The configuration file, the environment and the command line all write values as text and share this reading of it.
package struct SettingType<Value: Sendable>: Sendable {
    /// The expected value; continues "has to be".
    let phrase: String
    /// Whether quotes around the value change nothing. Integers and booleans are written without.
    let isText: Bool
    /// The value that a text writes, or nil.
    let value: @Sendable (String) -> Value?
    /// The value as it is printed: an integer, a boolean or a string.
    let json: @Sendable (Value) -> JSONValue
    /// The value's schema for editors; it allows at least the texts that `value` reads.
    let schema: JSONValue
    /// The value that a wrong text probably meant.
    var suggestion: @Sendable (String) -> String? = { _ in nil }

    /// Why a text is no value, with the remedy.
    func sentence(refusing text: String) -> String {
        let hint = self.suggestion(text).map { "; did you mean \($0)?" } ?? ""
        return "must be \(self.phrase), not \(text.quotedForMessage)\(hint)"
    }
}

extension SettingType<Bool> {
    static let flag = SettingType(
        phrase: "true or false",
        isText: false,
        value: { $0 == "true" ? true : $0 == "false" ? false : nil },
        json: { .bool($0) },
        schema: JSONSchema.flag,
        suggestion: { text in
            switch text.lowercased() {
            case "yes", "on", "true", "y": "true"
            case "no", "off", "false", "n": "false"
            default: nil
            }
        }
    )
}

extension SettingType<Int> {
    /// A count; digits may be grouped with underscores.
    static func integer(_ range: ClosedRange<Int>) -> SettingType {
        SettingType(
            phrase: "an integer from \(range.lowerBound.grouped) to \(range.upperBound.grouped)",
            isText: false,
            value: { text in Self.integer(text).flatMap { range.contains($0) ? $0 : nil } },
            json: { .int(Int64($0)) },
            schema: JSONSchema.integer(range)
        )
    }

    /// A number of bytes, also as `64KiB`, `16MiB`, `1GiB` or `1TiB`.
    static func bytes(_ range: ClosedRange<Int>) -> SettingType {
        SettingType(
            phrase: "a number of bytes (4096, 64KiB, 16MiB) from \(range.lowerBound.grouped) to "
                + range.upperBound.grouped,
            isText: true,
            value: { text in
                let units = [("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30), ("TiB", 1 << 40)]
                let unit = units.first { text.hasSuffix($0.0) }
                let digits = unit.map { String(text.dropLast($0.0.count)) } ?? text
                guard let count = Self.integer(digits) else { return nil }
                let (bytes, overflow) = count.multipliedReportingOverflow(by: unit?.1 ?? 1)
                return !overflow && range.contains(bytes) ? bytes : nil
            },
            json: { .int(Int64($0)) },
            schema: JSONSchema.text("^[0-9_]+(KiB|MiB|GiB|TiB)?$", orIntegersIn: range)
        )
    }

    /// A whole number of hundredths, as `5%`.
    static func percent(_ range: ClosedRange<Int>) -> SettingType {
        SettingType(
            phrase: "a share from \(range.lowerBound)% to \(range.upperBound)%",
            isText: true,
            value: { text in
                guard text.hasSuffix("%"), let percent = Self.integer(String(text.dropLast())) else { return nil }
                return range.contains(percent) ? percent : nil
            },
            json: { .string("\($0)%") },
            schema: JSONSchema.text("^[0-9_]+%$"),
            suggestion: { text in Self.integer(text).map { "\($0)%" } }
        )
    }

    /// How many hosts or instances there may be.
    static let registryCount = SettingType.integer(1...1_000_000_000)

    fileprivate static func integer(_ text: String) -> Int? {
        guard text.utf8.first != UInt8(ascii: "_"), text.utf8.last != UInt8(ascii: "_") else { return nil }
        return Int(text.filter { $0 != "_" })
    }
}

extension SettingType<MemoryBound> {
    /// A number of bytes, or a share of the memory that there is.
    static let memory = {
        let (bytes, percent) = (
            SettingType<Int>.bytes(16_777_216...1_125_899_906_842_624), SettingType<Int>.percent(1...100)
        )
        return SettingType(
            phrase: "\(bytes.phrase), or \(percent.phrase)",
            isText: true,
            value: { text in bytes.value(text).map { .bytes($0) } ?? percent.value(text).map { .percent($0) } },
            json: { bound in
                switch bound {
                case .bytes(let count): bytes.json(count)
                case .percent(let share): percent.json(share)
                }
            },
            schema: JSONSchema.either(bytes.schema, percent.schema)
        )
    }()
}

extension SettingType<Interval> {
    /// The units a length of time may be written in, longest first.
    private static var units: [(name: String, milliseconds: Int64)] {
        [("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1000), ("ms", 1)]
    }

    /// A length of time with its unit: `250ms`, `15s`, `5m`, `4h`, `30d`.
    static func duration(_ range: ClosedRange<Interval>) -> SettingType {
        SettingType(
            phrase: "a length of time with its unit (15s, 5m, 4h, 2d) from \(Self.text(range.lowerBound)) to "
                + Self.text(range.upperBound),
            isText: true,
            value: { text in Self.duration(text).flatMap { range.contains($0) ? $0 : nil } },
            json: { .string(Self.text($0)) },
            // Nothing takes no unit.
            schema: JSONSchema.text(
                "^([0-9]+(ms|s|m|h|d)|0)$",
                orIntegersIn: range.lowerBound <= .zero ? 0...0 : nil
            ),
            suggestion: { text in Int64(text).map { "\($0)s" } }
        )
    }

    static func duration(_ text: String) -> Interval? {
        if text == "0" { return .zero }
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        guard let unit = Self.units.first(where: { text.dropFirst(digits.count) == $0.name }),
            let count = Int64(digits)
        else { return nil }
        let (milliseconds, overflow) = count.multipliedReportingOverflow(by: unit.milliseconds)
        return overflow ? nil : .milliseconds(milliseconds)
    }

    /// In the longest unit that gives a whole number, but a single day in hours, as people say it.
    package static func text(_ interval: Interval) -> String {
        let count = interval.milliseconds
        if count == 0 { return "0s" }
        let units = count == 86_400_000 ? Self.units.dropFirst() : Self.units[...]
        guard let unit = units.first(where: { count.isMultiple(of: $0.milliseconds) }) else { return "\(count)ms" }
        return "\(count / unit.milliseconds)\(unit.name)"
    }
}

extension SettingType<String> {
    /// A text that a rule accepts; `phrase` says which.
    static func text(_ phrase: String, _ rule: @escaping @Sendable (String) -> Bool) -> SettingType {
        SettingType(
            phrase: phrase,
            isText: true,
            value: { rule($0) ? $0 : nil },
            json: { .string($0) },
            schema: JSONSchema.anyText
        )
    }
}

extension SettingType {
    /// One of a few names.
    static func name(of choices: [(name: String, value: Value)]) -> SettingType where Value: Equatable {
        let names = choices.map(\.name)
        return SettingType(
            phrase: names.phrase(joinedBy: "or"),
            isText: true,
            value: { text in choices.first { $0.name == text }?.value },
            json: { value in .string(choices.first { $0.value == value }?.name ?? "") },
            schema: JSONSchema.choice(names.map { .string($0) }),
            suggestion: { names.closest(to: $0) }
        )
    }

    /// One of an enumeration's cases by its raw value.
    static func choice() -> SettingType
    where Value: RawRepresentable & CaseIterable & Equatable, Value.RawValue == String {
        .name(of: Value.allCases.map { ($0.rawValue, $0) })
    }

    /// The same text read as another type, which `unwrap` takes apart for printing.
    func map<Other: Sendable>(
        _ wrap: @escaping @Sendable (Value) -> Other,
        _ unwrap: @escaping @Sendable (Other) -> Value
    ) -> SettingType<Other> {
        SettingType<Other>(
            phrase: self.phrase,
            isText: self.isText,
            value: { text in self.value(text).map(wrap) },
            json: { self.json(unwrap($0)) },
            schema: self.schema,
            suggestion: self.suggestion
        )
    }
}
