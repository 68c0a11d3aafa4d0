extension JSONValue {
    /// An object of those members that have a value, in the order given.
    package static func object(of members: [(String, JSONValue?)]) -> JSONValue {
        .object(members.compactMap { name, value in value.map { Member(name: name, value: $0) } })
    }

    package static func count(_ count: Int) -> JSONValue { .int(Int64(count)) }

    /// An instant as RFC 3339 text in UTC; one outside of years of four digits becomes the nearest one inside.
    package static func instant(_ instant: Instant) -> JSONValue { .string(RFC3339.nearestText(to: instant)) }

    package static func strings(_ strings: [String]) -> JSONValue { .array(strings.map { .string($0) }) }

    /// The parameters of a configuration as an object; dates as RFC 3339 text.
    package static func configuration(_ configuration: Configuration) -> JSONValue {
        .object(configuration.parameters.map { Member(name: $0.name, value: .parameter($0.value)) })
    }

    /// A value of a parameter; a date as RFC 3339 text.
    package static func parameter(_ value: ParameterValue) -> JSONValue {
        switch value {
        case .string(let string): .string(string)
        case .int(let int): .int(int)
        case .double(let double): .double(double)
        case .bool(let bool): .bool(bool)
        case .date(let date): .instant(date)
        case .array(let elements): .array(elements.map { .parameter($0) })
        }
    }
}
