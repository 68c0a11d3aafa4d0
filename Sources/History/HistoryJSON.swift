import Timelines
import WidgetModel

extension JSONValue {
    /// An object of those members that have a value, in the order given.
    static func members(_ members: [(String, JSONValue?)]) -> JSONValue {
        .object(members.compactMap { name, value in value.map { Member(name: name, value: $0) } })
    }

    static func number(_ count: Int) -> JSONValue { .int(Int64(count)) }

    /// RFC 3339 text in UTC; an instant outside of years of four digits becomes the nearest one inside.
    static func at(_ instant: Instant) -> JSONValue { .string(RFC3339.nearestText(to: instant)) }

    static func texts(_ texts: [String]) -> JSONValue { .array(texts.map { .string($0) }) }

    /// Seconds, with a fraction where there is one.
    static func seconds(_ interval: Interval) -> JSONValue {
        interval.milliseconds.isMultiple(of: 1000)
            ? .int(interval.milliseconds / 1000) : .double(Double(interval.milliseconds) / 1000)
    }

    static func of(_ configuration: Configuration) -> JSONValue {
        .object(configuration.parameters.map { Member(name: $0.name, value: .of($0.value)) })
    }

    static func of(_ value: ParameterValue) -> JSONValue {
        switch value {
        case .string(let string): .string(string)
        case .int(let int): .int(int)
        case .double(let double): .double(double)
        case .bool(let bool): .bool(bool)
        case .date(let date): .at(date)
        case .array(let elements): .array(elements.map { .of($0) })
        }
    }

    static func of(_ policy: ReloadPolicy) -> JSONValue {
        switch policy {
        case .atEnd: .string("atEnd")
        case .never: .string("never")
        case .after(let date): .members([("after", .at(date))])
        }
    }

    /// Bytes that a sender chose: text where they are UTF-8, else in base 16.
    static func text(_ bytes: [UInt8]) -> JSONValue {
        .string(String(validating: bytes, as: UTF8.self) ?? Base16.text(of: bytes))
    }
}
