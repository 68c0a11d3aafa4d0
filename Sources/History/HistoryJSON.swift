import Timelines
import WidgetModel

extension JSONValue {
    /// Seconds, with a fraction where there is one.
    static func seconds(_ interval: Interval) -> JSONValue {
        interval.milliseconds.isMultiple(of: 1000)
            ? .int(interval.milliseconds / 1000) : .double(Double(interval.milliseconds) / 1000)
    }

    static func of(_ policy: ReloadPolicy) -> JSONValue {
        switch policy {
        case .atEnd: .string("atEnd")
        case .never: .string("never")
        case .after(let date): .object(of: [("after", .instant(date))])
        }
    }

    /// Bytes that a sender chose: text where they are UTF-8, else in base 16.
    static func text(_ bytes: [UInt8]) -> JSONValue {
        .string(String(utf8: bytes.span) ?? Base16.text(of: bytes))
    }
}
