package import WidgetModel

/// The creation or deletion of an app's channel.
///
/// It goes to one partition only, the app's home. The order of that partition's records is the order of creations and
/// deletions.
package enum ChannelCommand: ByteCoded, Hashable, Sendable {
    /// With the most channels that the app may have, as it was configured when the command was accepted.
    case create(Channel, app: BundleID, channelsMax: Int)
    case delete(ChannelID, app: BundleID)

    package func encode(into writer: inout ByteWriter) {
        switch self {
        case .create(let channel, let app, let channelsMax):
            writer.write(tag: 0, app)
            writer.write(count: channelsMax)
            channel.encode(into: &writer)
        case .delete(let channel, let app):
            writer.write(tag: 1, app)
            channel.encode(into: &writer)
        }
    }

    package init(from reader: inout ByteReader) throws(ByteError) {
        let start = reader.offset
        let tag = try reader.readByte()
        guard tag <= 1 else { throw .invalid(offset: start) }
        let app = try BundleID(from: &reader)
        guard tag == 0 else {
            self = .delete(try ChannelID(from: &reader), app: app)
            return
        }
        let offset = reader.offset
        let channelsMax = try reader.readVarint()
        guard channelsMax <= 1 << 31 else { throw .invalid(offset: offset) }
        self = .create(try Channel(from: &reader), app: app, channelsMax: Int(channelsMax))
    }
}
