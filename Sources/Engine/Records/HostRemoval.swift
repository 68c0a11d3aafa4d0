package import WidgetModel

/// A host goes, or one of its push tokens does.
package struct HostRemoval: Hashable, Sendable {
    package var host: HostID
    /// Removes only this alias; the host goes with its last one. Nil removes the host.
    package var token: DeviceToken?
    /// Ignored if the host (or the token) was registered after this instant: the timestamp of an upstream 410.
    package var notRegisteredSince: Instant?

    package init(host: HostID, token: DeviceToken? = nil, notRegisteredSince: Instant? = nil) {
        self.host = host
        self.token = token
        self.notRegisteredSince = notRegisteredSince
    }

    package func encode(into writer: inout ByteWriter) {
        writer.write(self.host.rawValue)
        writer.write(self.token) { $0.write($1.bytes) }
        writer.write(self.notRegisteredSince) { $0.write($1) }
    }

    package init(from reader: inout ByteReader) throws(ByteFault) {
        self.host = HostID(try reader.readString())
        self.token = try reader.readOptional { (reader) throws(ByteFault) in
            DeviceToken(bytes: try reader.readBytes())
        }
        self.notRegisteredSince = try reader.readOptional { (reader) throws(ByteFault) in try reader.readInstant() }
    }
}
