import APNSWire
import WidgetModel

extension JSONValue {
    /// A string, nil for anything else.
    var text: String? {
        if case .string(let text) = self { text } else { nil }
    }

    /// A count, nil for anything else: none is negative, and one that does not fit is as much as fits.
    var whole: Int? {
        switch self {
        case .int(let value): max(0, Int(clamping: value))
        case .unsigned(let value): Int(clamping: value)
        default: nil
        }
    }

    /// A list's elements; none of anything else.
    var elements: [JSONValue] {
        if case .array(let elements) = self { elements } else { [] }
    }

    /// An object's members; none of anything else.
    var members: [JSONValue.Member] {
        if case .object(let members) = self { members } else { [] }
    }

    /// Whether it is true.
    var isTrue: Bool { self == .bool(true) }

    /// The value at a path of names, as in `health.state`; nil if it is not there, or null.
    func at(_ path: String) -> JSONValue? {
        var value = self
        for name in path.split(separator: ".") {
            guard let next = value[String(name)] else { return nil }
            value = next
        }
        return value == .null ? nil : value
    }

    /// In words: strings as they are, anything else as JSON.
    var words: String { self.text ?? String(decoding: self.jsonText, as: UTF8.self) }
}
