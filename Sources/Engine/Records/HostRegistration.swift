package import WidgetModel

/// How the reloads of a host reach it. Raw values are part of the on-disk format.
package enum HostDelivery: UInt8, ByteCoded, NamedCase {
    /// The host holds an event stream open.
    case stream = 0
    /// A push to the host's token, by the app's upstream.
    case apns = 1
    /// A signed POST to the app's URL.
    case webhook = 2

    package static let names = CaseNames<HostDelivery>()
}

/// The author of a host's registration. It decides how tokens are treated that belong to another host already. Raw
/// values are part of the on-disk format.
package enum Registrant: UInt8, ByteCoded, Hashable, Sendable, CaseIterable {
    /// The app's back end. The host is its to give: tokens that the registration does not name go.
    case backEnd = 0
    /// The app's back end, which gives the host a further token.
    case backEndAddingToken = 1
    /// The host itself, by a credential that is for its token only: no more than its own host.
    case host = 2
    /// The host itself, by a credential that names it: as if its back end had registered it.
    case namedHost = 3

    /// Whether tokens of the host that a registration does not name go.
    var takesOver: Bool { self == .backEnd || self == .namedHost }
    /// Whether it is the host's own word.
    package var isHost: Bool { self == .host || self == .namedHost }
}

/// All instances of a host for one app; replaces the earlier ones in one step: `PUT /v1/hosts/<token>/widgets`.
package struct HostRegistration: ByteCoded, Hashable, Sendable {
    /// The most bytes of a host's key. Routes take far fewer.
    static let keyBytesMax = Int(UInt16.max)

    package var host: HostKey
    package var token: DeviceToken
    /// The token that ``token`` takes the place of; it is removed.
    package var replacedToken: DeviceToken?
    package var registrant: Registrant
    /// The number of a host's registration; an older one than the last applied is answered `staleRevision`. A back end
    /// counts independently of the host.
    package var revision: UInt64
    package var delivery: HostDelivery
    package var context: HostContext
    /// How long the registration holds without being renewed; nil: until it is removed.
    package var lease: Interval?
    /// Each instance id once.
    package var instances: [InstanceRegistration]

    package init(
        host: HostKey,
        token: DeviceToken,
        replacedToken: DeviceToken? = nil,
        registrant: Registrant = .backEnd,
        revision: UInt64,
        delivery: HostDelivery = .stream,
        context: HostContext = HostContext(),
        lease: Interval? = nil,
        instances: [InstanceRegistration]
    ) {
        self.host = host
        self.token = token
        self.replacedToken = replacedToken
        self.registrant = registrant
        self.revision = revision
        self.delivery = delivery
        self.context = context
        self.lease = lease
        self.instances = instances
    }

    /// The app whose widgets the host shows.
    package var app: BundleID { self.host.app }

    package func encode(into writer: inout ByteWriter) {
        self.host.encode(into: &writer)
        self.token.encode(into: &writer)
        writer.write(self.replacedToken) { $1.encode(into: &$0) }
        writer.write(byte: self.registrant.rawValue)
        writer.write(varint: self.revision)
        writer.write(byte: self.delivery.rawValue)
        self.context.encode(into: &writer)
        writer.write(self.lease) { $0.write($1) }
        writer.write(each: self.instances) { $1.encode(into: &$0) }
    }

    package init(from reader: inout ByteReader) throws(ByteError) {
        let start = reader.offset
        self.host = try HostKey(from: &reader)
        guard self.host.text.utf8.count <= Self.keyBytesMax else { throw .invalid(offset: start) }
        self.token = try DeviceToken(from: &reader)
        self.replacedToken = try reader.readOptional { (reader) throws(ByteError) in try DeviceToken(from: &reader) }
        self.registrant = try reader.readCase()
        self.revision = try reader.readVarint()
        self.delivery = try reader.readCase()
        self.context = try HostContext(from: &reader)
        self.lease = try reader.readOptional { (reader) throws(ByteError) in try reader.readInterval() }
        self.instances = try reader.readEach { (reader) throws(ByteError) in try InstanceRegistration(from: &reader) }
    }
}

/// The context that a host reports, WidgetKit's `TimelineProviderContext`: kept, shown and passed to timeline
/// providers. Decisions do not depend on it.
package struct HostContext: FieldCoded, Hashable, Sendable {
    package static let coding = Fields(Self.init, \.width, \.height, \.environmentVariants, \.locale, \.timeZone)

    package struct Variant: FieldCoded, Hashable, Sendable {
        package static let coding = Fields(Self.init, \.name, \.values)

        package var name: String
        package var values: [String]

        package init(name: String, values: [String]) {
            self.name = name
            self.values = values
        }
    }

    /// Width and height in points.
    package var width: Double?
    package var height: Double?
    /// Environment variants in the host's order, such as `colorScheme: [light, dark]`.
    package var environmentVariants: [Variant]
    /// A BCP 47 tag, as in `en-US`.
    package var locale: String?
    /// A name of the time-zone database, as in `America/Los_Angeles`.
    package var timeZone: String?

    package init(
        width: Double? = nil,
        height: Double? = nil,
        environmentVariants: [Variant] = [],
        locale: String? = nil,
        timeZone: String? = nil
    ) {
        self.width = width
        self.height = height
        self.environmentVariants = environmentVariants
        self.locale = locale
        self.timeZone = timeZone
    }

    /// The context of most hosts says nothing: five fields that are not there, a byte each.
    private static let blank = (context: HostContext(), byteCount: 5)

    package func encode(into writer: inout ByteWriter) {
        guard self == Self.blank.context else { return Self.coding.encode(self, into: &writer) }
        for _ in 0..<Self.blank.byteCount { writer.write(byte: 0) }
    }

    package init(from reader: inout ByteReader) throws(ByteError) {
        self =
            reader.skipZeroes(Self.blank.byteCount) ? Self.blank.context : try Self.coding.read(from: &reader)
    }
}
