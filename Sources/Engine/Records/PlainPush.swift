package import WidgetModel

/// A push to one push token whose body has only Apple's members: nearly every push.
///
/// It writes the same record as ``PushRecord``, from places in the request and in the gateway's tables, without an
/// array, a string or a copy of one.
package struct PlainPush: Sendable {
    private let id: PushID
    private let key: KeyID?
    private let contentHash: UInt64
    private let priority: Priority?
    private let expiration: Int64?

    /// The members are ``PushRecord``'s.
    package init(
        id: PushID,
        key: KeyID? = nil,
        contentHash: UInt64,
        priority: Priority?,
        expiration: Int64?
    ) {
        self.id = id
        self.key = key
        self.contentHash = contentHash
        self.priority = priority
        self.expiration = expiration
    }

    /// Appends the record, its tag first.
    ///
    /// - Parameters:
    ///   - team: The sender's.
    ///   - app: The token's app.
    ///   - host: The place of the host's id in `place`, in UTF-8.
    ///   - instance: The place of the control's id in `place` for a control's own token; nil for a widget token.
    ///   - place: The row of the token.
    ///   - collapseID: Its place in `bytes`, at most ``CollapseID/bytesMax`` of them; empty if there is none.
    package func encode(
        team: borrowing TeamID,
        app: borrowing BundleID,
        host: Range<Int>,
        instance: Range<Int>?,
        of place: Span<UInt8>,
        collapseID: Range<Int>,
        in bytes: Span<UInt8>,
        into writer: inout ByteWriter
    ) {
        var flags = PushHead.Flags()
        if self.priority != nil { flags.insert(.priority) }
        if self.expiration != nil { flags.insert(.expiration) }
        if !collapseID.isEmpty { flags.insert(.collapseID) }
        if self.key != nil { flags.insert(.key) }
        let target = (instance == nil ? PushHead.Target.host : .instance).rawValue
        let (team, app) = (team.rawValue.utf8.span, app.rawValue.utf8.span)
        // All at once: eleven calls that each make room cost more than everything else here.
        writer.bytes.append(addingCapacity: 48 + team.count + app.count + host.count + (instance?.count ?? 0)) {
            output in
            output.append(Record.Tag.push.rawValue)
            // All of them are in the first byte.
            output.append(UInt8(truncatingIfNeeded: flags.rawValue))
            output.append(target)
            output.append(fixed64: self.id.high)
            output.append(fixed64: self.id.low)
            output.append(fixed64: self.contentHash)
            output.append(counted: team)
            output.append(varint: UInt64(app.count + 1 + host.count))
            output.append(copying: app)
            output.append(0)
            output.append(copying: place.extracting(host))
            if let instance { output.append(counted: place.extracting(instance)) }
        }
        if let priority = self.priority { writer.write(byte: priority.rawValue) }
        if let expiration = self.expiration { writer.write(signed: expiration) }
        if !collapseID.isEmpty { writer.write(bytes.extracting(collapseID)) }
        if let key = self.key { writer.write(key.rawValue) }
    }
}
