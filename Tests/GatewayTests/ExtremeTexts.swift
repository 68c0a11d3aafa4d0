import APNSWire
import Engine
import TestSupport
import WidgetModel

/// How numbers are spelled where requests have some, with the extremes of their types.
enum ExtremeTexts {
    /// As JSON spells them.
    static let numbers: [String] = {
        let all =
            Extremes.integers.map { "\($0)" } + Extremes.unsigned.map { "\($0)" } + Extremes.doubles.map { "\($0)" }
            + ["18446744073709551616", "-9223372036854775809", "-0", "1e999", "-1e999", "1e-999", "0.1e1"]
            + [String(repeating: "9", count: 400)]
        return all.uniqued
    }()

    static let dates = [
        "0000-01-01T00:00:00Z", "0000-01-01T00:00:00+23:59", "0001-01-01T00:00:00Z", "1969-12-31T23:59:59.999Z",
        "1970-01-01T00:00:00Z", "2026-11-02T17:00:00-23:59", "2038-01-19T03:14:08Z", "2099-12-31T23:59:59.999Z",
        "2100-01-01T00:00:00Z", "2106-02-07T06:28:16Z", "2262-04-12T00:00:00Z", "2611-01-01T00:00:00Z",
        "9999-12-31T23:59:59.999Z", "9999-12-31T23:59:59-23:59", "99999-01-01T00:00:00Z", "-0001-01-01T00:00:00Z",
        "2026-99-99T99:99:99Z", "2026-11-02T17:00:00.99999999999999999999Z", "2026-11-02T17:00:00+99:99",
    ]

    private static let counts =
        Extremes.unsigned.map { "\($0)" } + ["4611686018427387903", "18446744073709551616", "-1"]

    static let reloadIDs =
        Self.counts.map { "0-\($0)-1-00000000" } + Self.counts.map { "0-1-\($0)-ffffffff" }
        + Self.counts.map { "\($0)-1-1-00000000" }

    /// Where a page begins, and what an event stream has carried.
    private static let cursors =
        Self.counts.flatMap { first in Self.counts.map { "\(first).\($0)" } } + Self.counts
        + Self.counts.flatMap { ["0-\($0)", "\($0)-0"] } + ["ffffffff-18446744073709551615", "100000000-1"]

    /// Places in the event streams of a log.
    static func places(log: UInt32) -> [String] {
        let log = String(log, radix: 16)
        return Self.counts.flatMap { count in
            ["\(count).0.0", "0.\(count).0", "0.0.\(count)", "\(count).0-0.\(count)"].map { "\(log)-\($0)" }
        }
    }

    private static let spans = ["s", "m", "h", "d", "y"].flatMap { unit in Self.counts.map { "\($0)\(unit)" } }

    /// Everything that a query, a header or a part of a path may take for a number.
    static let all = Self.numbers + Self.dates + Self.reloadIDs + Self.cursors + Self.spans

    /// The numbers next to a schema's bounds.
    static func bounds(of schema: JSONValue) -> [String] {
        [schema["minimum"], schema["maximum"]].flatMap { bound -> [String] in
            guard case .int(let bound) = bound else { return [] }
            return [bound - 1, bound, bound + 1].map { "\($0)" }
        }
    }

    /// As it stands in a query or a path.
    static func escaped(_ text: String) -> String {
        text.replacing("%", with: "%25").replacing("+", with: "%2B")
    }
}

extension ExtremeTexts {
    /// A body with one of its numbers, dates or ids of reloads replaced.
    struct Body: Sendable {
        /// The place of the replaced value, as in `entries[].date`.
        let place: String
        let text: String
    }

    /// For each leaf of a body that is a number, or a string that holds some, the body with each extreme in its place.
    static func bodies(of sample: JSONValue) -> [Body] {
        self.leaves(of: sample, at: "").flatMap { leaf in
            leaf.texts.map { text in
                // A number that no value holds, such as 1e999, is no value to put there.
                let marked = self.replaced(sample, at: leaf.path, with: .string("@"))
                let whole = String(decoding: marked.jsonText, as: UTF8.self)
                return Body(place: leaf.place, text: whole.replacing("\"@\"", with: text))
            }
        }
    }

    private struct Leaf {
        /// Each step is the number of a member or an element.
        let path: [Int]
        let place: String
        let texts: [String]
    }

    private static func leaves(of value: JSONValue, at place: String, _ path: [Int] = []) -> [Leaf] {
        switch value {
        case .object(let members):
            return members.enumerated().flatMap { index, member in
                let inner = place.isEmpty ? member.name : "\(place).\(member.name)"
                return self.leaves(of: member.value, at: inner, path + [index])
            }
        case .array(let elements):
            return elements.enumerated().flatMap { self.leaves(of: $1, at: "\(place)[]", path + [$0]) }
        case .int, .unsigned, .double: return [Leaf(path: path, place: place, texts: self.numbers)]
        case .string(let text) where (try? RFC3339.parse(text)) != nil:
            return [Leaf(path: path, place: place, texts: self.dates.map { "\"\($0)\"" })]
        case .string(let text) where ReloadID(text) != nil:
            return [Leaf(path: path, place: place, texts: self.reloadIDs.map { "\"\($0)\"" })]
        case .string, .bool, .null: return []
        }
    }

    private static func replaced(_ value: JSONValue, at path: [Int], with new: JSONValue) -> JSONValue {
        guard let step = path.first else { return new }
        let rest = Array(path.dropFirst())
        switch value {
        case .object(var members):
            let inner = self.replaced(members[step].value, at: rest, with: new)
            members[step] = JSONValue.Member(name: members[step].name, value: inner)
            return .object(members)
        case .array(var elements):
            elements[step] = self.replaced(elements[step], at: rest, with: new)
            return .array(elements)
        default: return new
        }
    }
}

extension Array where Element: Hashable {
    /// Each element once, where it comes first.
    var uniqued: [Element] {
        var seen: Set<Element> = []
        return self.filter { seen.insert($0).inserted }
    }
}
