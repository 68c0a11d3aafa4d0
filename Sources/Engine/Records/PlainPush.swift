package import WidgetModel

/// A push to one push token whose body says nothing beyond Apple's: nearly every push there is.
///
/// Writes the same record as ``PushRecord`` does, from places in the request and in the gateway's tables: no array, no
/// string and no copy of one is made for it.
package struct PlainPush: Sendable {
    private let id: PushID
    private let contentHash: UInt64
    private let priority: Priority?
    private let expiration: Int64?

    /// The members are ``PushRecord``'s.
    package init(id: PushID, contentHash: UInt64, priority: Priority?, expiration: Int64?) {
        self.id = id
        self.contentHash = contentHash
        self.priority = priority
        self.expiration = expiration
    }

    /// Appends the record, its tag first.
    ///
    /// - Parameters:
    ///   - team: The sender's.
    ///   - host: Whose token it is.
    ///   - instance: The control whose own token it is, nil for a widget token.
    ///   - collapseID: Where in `bytes` it is, at most ``CollapseID/bytesMax`` of them; empty if there is none.
    package func encode(
        team: borrowing TeamID,
        host: borrowing HostID,
        instance: borrowing InstanceID?,
        collapseID: Range<Int>,
        in bytes: Span<UInt8>,
        into writer: inout ByteWriter
    ) {
        var flags = PushHead.Flags()
        if self.priority != nil { flags.insert(.priority) }
        if self.expiration != nil { flags.insert(.expiration) }
        if !collapseID.isEmpty { flags.insert(.collapseID) }
        let target = (instance == nil ? PushHead.Target.host : .instance).rawValue
        let team = team.rawValue.utf8.span
        let host = host.rawValue.utf8.span
        if team.count < 0x80, host.count < 0x80 {
            // All at once: the lengths are a byte each.
            writer.bytes.append(addingCapacity: 29 + team.count + host.count) { output in
                output.append(Record.Tag.push.rawValue)
                output.append(flags.rawValue)
                output.append(target)
                Self.append(self.id.high, to: &output)
                Self.append(self.id.low, to: &output)
                Self.append(self.contentHash, to: &output)
                output.append(UInt8(truncatingIfNeeded: team.count))
                for index in team.indices { output.append(team[index]) }
                output.append(UInt8(truncatingIfNeeded: host.count))
                for index in host.indices { output.append(host[index]) }
            }
        } else {
            writer.write(byte: Record.Tag.push.rawValue)
            writer.write(byte: flags.rawValue)
            writer.write(byte: target)
            writer.write(fixed64: self.id.high)
            writer.write(fixed64: self.id.low)
            writer.write(fixed64: self.contentHash)
            writer.write(team)
            writer.write(host)
        }
        if let instance = copy instance { writer.write(instance.rawValue) }
        if let priority = self.priority { writer.write(byte: priority.rawValue) }
        if let expiration = self.expiration { writer.write(signed: expiration) }
        if !collapseID.isEmpty { writer.write(bytes.extracting(collapseID)) }
    }

    @inline(__always)
    private static func append(_ word: UInt64, to bytes: inout OutputSpan<UInt8>) {
        for shift in 0..<UInt64(8) { bytes.append(UInt8(truncatingIfNeeded: word >> (shift * 8))) }
    }
}
