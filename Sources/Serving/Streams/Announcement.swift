package import Engine
package import Partitions
package import WidgetModel

/// What a node tells all others at once, beside the log. Nothing stores it: a node that does not hear it now never does.
package enum Announcement: Hashable, Sendable {
    /// Content that a host is to draw: a placeholder or an entry.
    case drawing(HostEvent)
    /// Pushes were accepted for kinds of these apps.
    case pushed([PushedApp])
    /// Providers are to be asked anew.
    case invalidated(InvalidationRequest)

    /// An app, and kinds of it that were pushed to.
    package struct PushedApp: FieldCoded, Hashable, Sendable {
        package static let coding = Fields({ Self(app: $0, kinds: $1) }, \.app, \.kinds)

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
        case invalidated = 3
    }

    /// - Returns: Nil for an event that other nodes learn from the log.
    package var bytes: [UInt8]? {
        var writer = ByteWriter()
        switch self {
        case .drawing(let event):
            guard let drawing = event.drawingBytes else { return nil }
            writer.write(byte: Tag.drawing.rawValue)
            writer.write(drawing)
        case .pushed(let apps): writer.write(tag: Tag.pushed.rawValue, apps)
        case .invalidated(let request): writer.write(tag: Tag.invalidated.rawValue, request)
        }
        return writer.bytes
    }

    /// - Throws: If it is none of this program's.
    package init(_ bytes: [UInt8]) throws(ByteError) {
        var reader = ByteReader(bytes)
        switch Tag(rawValue: try reader.readByte()) {
        case .drawing: self = .drawing(try HostEvent(drawing: try reader.readBytes()))
        case .pushed: self = .pushed(try [PushedApp](from: &reader))
        case .invalidated: self = .invalidated(try InvalidationRequest(from: &reader))
        case nil: throw .invalid(offset: 0)
        }
    }
}
