package import WidgetModel

/// A host goes, or one of its push tokens does.
package struct HostRemoval: Hashable, Sendable {
    package var host: HostID
    /// Removes only this alias; the host goes with its last one. Nil removes the host.
    package var token: DeviceToken?
    /// Ignored if the host (or the token) was registered after this instant: the timestamp of an upstream 410.
    package var notRegisteredSince: Instant?
    /// Whether its tokens are not even remembered as removed: pushes to them are answered as to tokens that never were.
    package var isErased: Bool

    package init(
        host: HostID,
        token: DeviceToken? = nil,
        notRegisteredSince: Instant? = nil,
        isErased: Bool = false
    ) {
        self.host = host
        self.token = token
        self.notRegisteredSince = notRegisteredSince
        self.isErased = isErased
    }

    package func encode(into writer: inout ByteWriter) {
        writer.write(self.host.rawValue)
        writer.write(self.token) { $0.write($1.bytes) }
        writer.write(self.notRegisteredSince) { $0.write($1) }
        // Last and only if it is set: records without it are as they always were.
        if self.isErased { writer.write(true) }
    }

    package init(from reader: inout ByteReader) throws(ByteFault) {
        self.host = HostID(try reader.readString())
        self.token = try reader.readOptional { (reader) throws(ByteFault) in
            DeviceToken(bytes: try reader.readBytes())
        }
        self.notRegisteredSince = try reader.readOptional { (reader) throws(ByteFault) in try reader.readInstant() }
        self.isErased = reader.isAtEnd ? false : try reader.readBool()
    }
}
