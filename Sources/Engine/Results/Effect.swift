package import WidgetModel

/// An engine's request to the outside: it goes to the output log first, then to a deliverer. First byte: the tag.
package enum Effect: Hashable, Sendable {
    /// For a host that gets each instance separately.
    case reload(ReloadEffect)
    /// For a host that is reached through a push token.
    case push(TokenPush)
    /// For hosts, and for a kind's timeline provider: data other than timelines is out of date.
    case invalidation(Invalidation)

    /// The reloads that it tells of.
    package var reloads: [ReloadEffect] {
        switch self {
        case .reload(let reload): [reload]
        case .push(let push): push.members.map(\.reload)
        case .invalidation: []
        }
    }

    package func encode(into writer: inout ByteWriter) {
        switch self {
        case .reload(let reload): writer.write(tag: 0, reload)
        case .push(let push): writer.write(tag: 1, push)
        case .invalidation(let invalidation): writer.write(tag: 2, invalidation)
        }
    }

    package init(from reader: inout ByteReader) throws(ByteError) {
        let start = reader.offset
        switch try reader.readByte() {
        case 0: self = .reload(try ReloadEffect(from: &reader))
        case 1: self = .push(try TokenPush(from: &reader))
        case 2: self = .invalidation(try Invalidation(from: &reader))
        default: throw .invalid(offset: start)
        }
    }
}

/// One instance is to reload its timeline.
package struct ReloadEffect: Hashable, Sendable {
    package let id: ReloadID
    package let address: InstanceAddress
    package let kind: WidgetKind
    package let family: WidgetFamily
    package let delivery: HostDelivery
    package let causes: ReloadCauses
    /// Why the reload is not charged, nil if it is.
    package let exemption: Exemption?
    package let issuedAt: Instant
    /// Unacknowledged until then, the reload is given up.
    package let expiresAt: Instant
    /// How many pushes this reload serves.
    package let pushCount: Int
    /// The push that made the reload happen, or the oldest one it serves; nil if it serves none.
    package let push: PushID?

    package var app: BundleID { self.address.app }
    package var host: HostKey { self.address.host }
    package var instance: InstanceID { self.address.instance }
    package var isCharged: Bool { self.exemption == nil }
}

extension ReloadEffect: ByteCoded {
    package func encode(into writer: inout ByteWriter) {
        self.id.encode(into: &writer)
        self.address.encode(into: &writer)
        writer.write(self.kind.rawValue)
        writer.write(byte: self.family.rawValue)
        writer.write(byte: self.delivery.rawValue)
        writer.write(varint: UInt64(self.causes.rawValue))
        self.exemption.encode(into: &writer)
        writer.write(self.issuedAt)
        writer.write(self.expiresAt)
        writer.write(count: self.pushCount)
        self.push.encode(into: &writer)
    }

    package init(from reader: inout ByteReader) throws(ByteError) {
        self.id = try ReloadID(from: &reader)
        self.address = try InstanceAddress(from: &reader)
        self.kind = WidgetKind(try reader.readString())
        self.family = try WidgetFamily(from: &reader)
        self.delivery = try HostDelivery(from: &reader)
        self.causes = try ReloadCauses(from: &reader)
        self.exemption = try Exemption?(from: &reader)
        self.issuedAt = try reader.readInstant()
        self.expiresAt = try reader.readInstant()
        self.pushCount = Int(truncatingIfNeeded: try reader.readVarint())
        self.push = try PushID?(from: &reader)
    }
}
