package import WidgetModel

/// The creation or deletion of an app's channel.
///
/// It goes to one partition only, the app's home. The order of that partition's records is the order of creations and
/// deletions.
package enum ChannelCommand: Hashable, Sendable {
    /// With the most channels that the app may have, as it was configured when the command was accepted.
    case create(Channel, app: BundleID, channelsMax: Int)
    case delete(ChannelID, app: BundleID)

    private enum Tag: UInt8 {
        case create = 0
        case delete = 1
    }

    package func encode(into writer: inout ByteWriter) {
        switch self {
        case .create(let channel, let app, let channelsMax):
            writer.write(byte: Tag.create.rawValue)
            writer.write(app.rawValue)
            writer.write(count: channelsMax)
            channel.encode(into: &writer)
        case .delete(let channel, let app):
            writer.write(byte: Tag.delete.rawValue)
            writer.write(app.rawValue)
            writer.write(channel.rawValue)
        }
    }

    package init(from reader: inout ByteReader) throws(ByteFault) {
        let start = reader.offset
        guard let tag = Tag(rawValue: try reader.readByte()) else { throw .invalid(offset: start) }
        let app = BundleID(try reader.readString())
        switch tag {
        case .create:
            let offset = reader.offset
            let channelsMax = try reader.readVarint()
            guard channelsMax <= 1 << 31 else { throw .invalid(offset: offset) }
            self = .create(try Channel(from: &reader), app: app, channelsMax: Int(channelsMax))
        case .delete: self = .delete(ChannelID(try reader.readString()), app: app)
        }
    }
}
