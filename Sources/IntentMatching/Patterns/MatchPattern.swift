package import WidgetModel

/// A condition on widget instances: which of them a push, a reload request or a listing means.
///
/// In JSON an object in the style of EventBridge and SNS filter policies. Every member must hold; a list holds if any of
/// its elements does, and so does a parameter with an array as its value.
///
/// ```json
/// {"team": ["seahawks", {"prefix": "sea"}], "health": {"numeric": [">=", 25, "<", 60]},
///  "$or": [{"premium": true}, {"$tags": "beta"}]}
/// ```
///
/// An absent parameter satisfies only `{"exists": false}`; the rest of the meaning is with the cases of ``MatchAtom``.
/// `matches(_:)` is the definition that ``IntentIndex`` is tested against.
package indirect enum MatchPattern: ByteCoded, Hashable, Sendable {
    /// Every part holds; without parts, always.
    case all([MatchPattern])
    /// Some part holds.
    case any([MatchPattern])
    /// The field's value, or an element of it, satisfies one of the conditions.
    case field(MatchField, [MatchAtom])

    /// Whether the instance matches.
    package func matches(_ subject: MatchSubject) -> Bool {
        switch self {
        case .all(let parts): return parts.allSatisfy { $0.matches(subject) }
        case .any(let parts): return parts.contains { $0.matches(subject) }
        case .field(let field, let atoms):
            switch subject.value(of: field) {
            case .undeclared: return false
            case .absent: return atoms.contains(.exists(false))
            case .present(let value): return atoms.contains { $0.matches(value) }
            }
        }
    }
}

// MARK: - Bytes

extension MatchPattern {
    /// How deep ``init(from:)`` follows nested parts. Twice the depth that ``parse(_:limits:)`` makes of the deepest
    /// JSON text.
    static let depthCeiling = 64

    package func encode(into writer: inout ByteWriter) {
        switch self {
        case .all(let parts): writer.write(tag: 0, parts)
        case .any(let parts): writer.write(tag: 1, parts)
        case .field(let field, let atoms):
            writer.write(tag: 2, field)
            atoms.encode(into: &writer)
        }
    }

    package init(from reader: inout ByteReader) throws(ByteError) {
        try self.init(from: &reader, depth: 0)
    }

    private init(from reader: inout ByteReader, depth: Int) throws(ByteError) {
        let start = reader.offset
        guard depth < Self.depthCeiling else { throw .invalid(offset: start) }
        switch try reader.readByte() {
        case 0: self = .all(try Self.parts(from: &reader, depth: depth + 1))
        case 1: self = .any(try Self.parts(from: &reader, depth: depth + 1))
        case 2: self = .field(try MatchField(from: &reader), try Array(from: &reader))
        default: throw .invalid(offset: start)
        }
    }

    private static func parts(from reader: inout ByteReader, depth: Int) throws(ByteError) -> [MatchPattern] {
        try reader.readEach { (reader) throws(ByteError) in try MatchPattern(from: &reader, depth: depth) }
    }
}
