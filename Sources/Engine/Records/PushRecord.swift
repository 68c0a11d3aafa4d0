package import IntentMatching
package import WidgetModel

/// The target of a push.
package enum PushDestination: Hashable, Sendable {
    /// The host behind a push token; with an instance if the token is a control's own.
    case host(HostKey, InstanceID?)
    /// Every host of an app.
    case app(BundleID)
}

/// One accepted push, with its headers as they were sent; the engine interprets them at the log's time.
package struct PushRecord: ByteCoded, Hashable, Sendable {
    /// `apns-id`.
    package var id: PushID
    /// The sender: the `iss` of its provider token, or its certificate's team.
    package var team: TeamID
    /// The key that signed that token; nil with a certificate. For operators; decisions do not depend on it.
    package var key: KeyID?
    /// A hash of headers and body: the same id with other content is a new push.
    package var contentHash: UInt64
    /// `apns-priority`, nil if the sender sent none.
    package var priority: Priority?
    /// `apns-expiration` in seconds since the epoch, nil if the sender sent none. 0 or past: now or never.
    package var expiration: Int64?
    /// `apns-collapse-id`.
    package var collapseID: CollapseID?
    /// Not reloaded earlier than this.
    package var notBefore: Instant?
    /// Names the state of the content: an instance that shows it already needs no reload.
    package var digest: [UInt8]?
    package var target: PushDestination
    /// Narrows the target to instances of one kind.
    package var kind: WidgetKind?
    /// A pattern that narrows the target to instances whose configuration matches.
    package var pattern: MatchPattern?
    /// The attributes for conditions of instances; empty if the push has none.
    package var attributes: Configuration
    /// How many instances it may match in the partition that applies it, nil for any number: above it the push ends
    /// ``PushFailure/tooMany`` there, decided for none.
    package var matchedMax: Int?

    package init(
        id: PushID,
        team: TeamID,
        key: KeyID? = nil,
        contentHash: UInt64,
        priority: Priority? = nil,
        expiration: Int64? = nil,
        collapseID: CollapseID? = nil,
        notBefore: Instant? = nil,
        digest: [UInt8]? = nil,
        target: PushDestination,
        kind: WidgetKind? = nil,
        pattern: MatchPattern? = nil,
        attributes: Configuration = .empty,
        matchedMax: Int? = nil
    ) {
        self.id = id
        self.team = team
        self.key = key
        self.contentHash = contentHash
        self.priority = priority
        self.expiration = expiration
        self.collapseID = collapseID
        self.notBefore = notBefore
        self.digest = digest
        self.target = target
        self.kind = kind
        self.pattern = pattern
        self.attributes = attributes
        self.matchedMax = matchedMax
    }

    package func encode(into writer: inout ByteWriter) {
        var flags: PushHead.Flags = []
        if self.priority != nil { flags.insert(.priority) }
        if self.expiration != nil { flags.insert(.expiration) }
        if self.collapseID != nil { flags.insert(.collapseID) }
        if self.key != nil { flags.insert(.key) }
        if self.notBefore != nil { flags.insert(.notBefore) }
        if self.digest != nil { flags.insert(.digest) }
        if self.kind != nil { flags.insert(.kind) }
        if self.pattern != nil { flags.insert(.pattern) }
        if !self.attributes.parameters.isEmpty { flags.insert(.attributes) }
        if self.matchedMax != nil { flags.insert(.matchedMax) }
        let target: (PushHead.Target, String, String?) =
            switch self.target {
            case .host(let host, nil): (.host, host.text, nil)
            case .host(let host, let instance?): (.instance, host.text, instance.rawValue)
            case .app(let app): (.app, app.rawValue, nil)
            }
        writer.write(varint: UInt64(flags.rawValue))
        writer.write(byte: target.0.rawValue)
        writer.write(fixed64: self.id.high)
        writer.write(fixed64: self.id.low)
        writer.write(fixed64: self.contentHash)
        writer.write(self.team.rawValue)
        writer.write(target.1)
        if let instance = target.2 { writer.write(instance) }
        if let priority = self.priority { writer.write(byte: priority.rawValue) }
        if let expiration = self.expiration { writer.write(signed: expiration) }
        if let collapseID = self.collapseID { writer.write(collapseID.bytes) }
        if let key = self.key { writer.write(key.rawValue) }
        if let notBefore = self.notBefore { writer.write(notBefore) }
        if let digest = self.digest { writer.write(digest) }
        if let kind = self.kind { writer.write(kind.rawValue) }
        if let matchedMax = self.matchedMax { writer.write(varint: UInt64(clamping: matchedMax)) }
        self.pattern?.encode(into: &writer)
        if !self.attributes.parameters.isEmpty { self.attributes.encode(into: &writer) }
    }

    package init(from reader: inout ByteReader) throws(ByteError) {
        let head = try PushHead(from: &reader)
        self.id = head.id
        self.team = TeamID(try reader.string(in: head.team))
        self.key = head.flags.contains(.key) ? KeyID(try reader.string(in: head.key)) : nil
        self.contentHash = head.contentHash
        self.priority = head.priority
        self.expiration = head.flags.contains(.expiration) ? head.expiration : nil
        self.collapseID =
            head.flags.contains(.collapseID) ? CollapseID(bytes: Array(reader.bytes[head.collapseID])) : nil
        self.notBefore = head.flags.contains(.notBefore) ? head.notBefore : nil
        self.digest = head.flags.contains(.digest) ? Array(reader.bytes[head.digest]) : nil
        let name = try reader.string(in: head.targetName)
        if head.target == .app {
            self.target = .app(BundleID(name))
        } else {
            guard let host = HostKey(text: name) else { throw .invalid(offset: head.targetName.lowerBound) }
            let isControl = head.target == .instance
            self.target = .host(host, isControl ? InstanceID(try reader.string(in: head.instance)) : nil)
        }
        self.kind = head.flags.contains(.kind) ? WidgetKind(try reader.string(in: head.kind)) : nil
        self.pattern = head.flags.contains(.pattern) ? try MatchPattern(from: &reader) : nil
        self.attributes = head.flags.contains(.attributes) ? try Configuration(from: &reader) : .empty
        self.matchedMax = head.matchedMax
    }
}
