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
    ///   - collapseID: At most ``CollapseID/bytesMax`` bytes; empty if there is none.
    package func encode(
        team: borrowing TeamID,
        host: borrowing HostID,
        instance: borrowing InstanceID?,
        collapseID: Span<UInt8>,
        into writer: inout ByteWriter
    ) {
        var flags: PushHead.Flags = []
        if self.priority != nil { flags.insert(.priority) }
        if self.expiration != nil { flags.insert(.expiration) }
        if !collapseID.isEmpty { flags.insert(.collapseID) }
        writer.write(byte: Record.Tag.push.rawValue)
        writer.write(byte: flags.rawValue)
        writer.write(byte: (instance == nil ? PushHead.Target.host : .instance).rawValue)
        writer.write(fixed64: (self.id.high, self.id.low, self.contentHash))
        writer.write(team.rawValue)
        writer.write(host.rawValue)
        if let instance = copy instance { writer.write(instance.rawValue) }
        if let priority = self.priority { writer.write(byte: priority.rawValue) }
        if let expiration = self.expiration { writer.write(signed: expiration) }
        if !collapseID.isEmpty { writer.write(collapseID) }
    }
}
