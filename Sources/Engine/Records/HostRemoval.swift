package import WidgetModel

/// A host goes, or one of its push tokens does.
package struct HostRemoval: Hashable, Sendable {
    package var host: HostKey
    /// Removes only this alias, or a control's token; the host goes with its last alias. Nil removes the host.
    package var token: DeviceToken?
    /// Ignored if the host (or the token) was registered after this instant: the timestamp of an upstream 410.
    package var notRegisteredSince: Instant?
    /// Whether its tokens are not even remembered as removed: pushes to them are answered as to tokens that never were.
    package var isErased: Bool

    package init(
        host: HostKey,
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
        self.host.encode(into: &writer)
        writer.write(self.token) { $0.write($1.bytes) }
        writer.write(self.notRegisteredSince) { $0.write($1) }
        writer.write(self.isErased)
    }

    package init(from reader: inout ByteReader) throws(ByteFault) {
        self.host = try HostKey(from: &reader)
        self.token = try reader.readOptional { (reader) throws(ByteFault) in
            DeviceToken(bytes: try reader.readBytes())
        }
        self.notRegisteredSince = try reader.readOptional { (reader) throws(ByteFault) in try reader.readInstant() }
        self.isErased = try reader.readBool()
    }
}
