package import WidgetModel

/// The field of a condition: a parameter of the configuration, or another part of the registration.
package enum MatchField: ByteCoded, Hashable, Sendable, CustomStringConvertible {
    /// A parameter by its dotted name.
    case parameter(UTF8Text)
    /// The name of the instance's family.
    case family
    case host
    /// The instance's tags, an array of strings.
    case tags

    /// The name in a pattern.
    package var description: String {
        switch self {
        case .parameter(let name): name.description
        case .family: "$family"
        case .host: "$host"
        case .tags: "$tags"
        }
    }

    package func encode(into writer: inout ByteWriter) {
        switch self {
        case .parameter(let name): writer.write(tag: 0, name)
        case .family: writer.write(byte: 1)
        case .host: writer.write(byte: 2)
        case .tags: writer.write(byte: 3)
        }
    }

    package init(from reader: inout ByteReader) throws(ByteError) {
        let start = reader.offset
        switch try reader.readByte() {
        case 0: self = .parameter(try UTF8Text(from: &reader))
        case 1: self = .family
        case 2: self = .host
        case 3: self = .tags
        default: throw .invalid(offset: start)
        }
    }
}
