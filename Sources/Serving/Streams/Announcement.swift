import Engine
package import Partitions
package import WidgetModel

/// What a node tells all others at once, beside the log. Nothing stores it: a node that does not hear it now never does.
package enum Announcement: Hashable, Sendable {
    /// Content that a host is to draw: a placeholder or an entry.
    case drawing(HostEvent)
    /// Pushes were accepted for kinds of these apps.
    case pushed([PushedApp])
    /// Providers are to be asked anew.
    case outdated(OutdatedAnswers)

    /// An app, and kinds of it that were pushed to.
    package struct PushedApp: Hashable, Sendable {
        package let app: BundleID
        package let kinds: PushedKinds.Kinds

        package init(app: BundleID, kinds: PushedKinds.Kinds) {
            self.app = app
            self.kinds = kinds
        }
    }

    private enum Tag: UInt8 {
        case drawing = 1
        case pushed = 2
        case outdated = 3
    }

    /// - Returns: Nil for an event that other nodes learn from the log.
    package var bytes: [UInt8]? {
        var writer = ByteWriter()
        switch self {
        case .drawing(let event):
            guard let drawing = event.drawingBytes else { return nil }
            writer.write(byte: Tag.drawing.rawValue)
            writer.write(drawing)
        case .pushed(let apps):
            writer.write(byte: Tag.pushed.rawValue)
            writer.write(each: apps) { writer, pushed in
                writer.write(pushed.app.rawValue)
                pushed.kinds.encode(into: &writer)
            }
        case .outdated(let answers):
            writer.write(byte: Tag.outdated.rawValue)
            writer.write(answers.question.rawValue)
            writer.write(answers.app.rawValue)
            writer.write(answers.kind) { $0.write($1.rawValue) }
        }
        return writer.bytes
    }

    /// - Throws: If it is none of this program's.
    package init(_ bytes: [UInt8]) throws(ByteError) {
        var reader = ByteReader(bytes)
        switch Tag(rawValue: try reader.readByte()) {
        case .drawing: self = .drawing(try HostEvent(drawing: try reader.readBytes()))
        case .pushed:
            let apps = try reader.readEach { (reader) throws(ByteError) in
                PushedApp(app: BundleID(try reader.readString()), kinds: try PushedKinds.Kinds(from: &reader))
            }
            self = .pushed(apps)
        case .outdated:
            guard let question = ProviderRequest(rawValue: try reader.readString()) else { throw .invalid(offset: 0) }
            let app = BundleID(try reader.readString())
            let kind = try reader.readOptional { (reader) throws(ByteError) in WidgetKind(try reader.readString()) }
            self = .outdated(OutdatedAnswers(question, app: app, kind: kind))
        case nil: throw .invalid(offset: 0)
        }
    }
}
