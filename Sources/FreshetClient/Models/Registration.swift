/// All widgets of a host. A registration replaces the host's earlier one.
public struct Registration: Sendable, Hashable, Codable {
    /// The host's id. nil: the push token's host, or else a host whose id is derived from the token.
    public var host: String?
    /// The number of this registration. The gateway refuses a lower one than the last: `stale-revision`. nil for none.
    public var revision: Int?
    /// How reloads reach the host; nil for ``Delivery/stream``.
    public var delivery: Delivery?
    /// The number of seconds without a registration for which the gateway keeps the host; nil for the app's default.
    public var lease: Int?
    /// The old push token that this one replaces, in hex.
    public var replaces: String?
    /// Whether the host keeps its other push tokens. For back ends only.
    public var addToken: Bool?
    /// The host's context for timeline providers.
    public var context: HostContext?
    /// All widgets of the host.
    public var instances: [WidgetInstance]

    /// Makes a registration.
    public init(
        host: String? = nil,
        revision: Int? = nil,
        delivery: Delivery? = nil,
        lease: Int? = nil,
        replaces: String? = nil,
        addToken: Bool? = nil,
        context: HostContext? = nil,
        instances: [WidgetInstance]
    ) {
        self.host = host
        self.revision = revision
        self.delivery = delivery
        self.lease = lease
        self.replaces = replaces
        self.addToken = addToken
        self.context = context
        self.instances = instances
    }
}

/// How reloads reach a host.
public enum Delivery: String, Sendable, Hashable, Codable {
    /// By its event stream.
    case stream
    /// By pushes to its token, through the app's upstream.
    case apns
    /// By requests to the app's webhook.
    case webhook
}

/// A host's context for timeline providers.
public struct HostContext: Sendable, Hashable, Codable {
    /// A size in points.
    public struct Size: Sendable, Hashable, Codable {
        /// From left to right.
        public var width: Double
        /// From top to bottom.
        public var height: Double

        /// Makes a size.
        public init(width: Double, height: Double) {
            self.width = width
            self.height = height
        }
    }

    /// The size of a widget.
    public var displaySize: Size?
    /// A locale, such as `en-US`.
    public var locale: String?
    /// A time zone, such as `Europe/Berlin`.
    public var timeZone: String?
    /// The environment variants in which a widget may be drawn, by name; at most 64 of at most 64 values each.
    public var environmentVariants: [String: [String]]?

    /// Makes a context.
    public init(
        displaySize: Size? = nil,
        locale: String? = nil,
        timeZone: String? = nil,
        environmentVariants: [String: [String]]? = nil
    ) {
        self.displaySize = displaySize
        self.locale = locale
        self.timeZone = timeZone
        self.environmentVariants = environmentVariants
    }
}

/// A widget's shape and place.
///
/// Later versions of the gateway may have more families.
public struct Family: RawRepresentable, Sendable, Hashable, Codable {
    /// WidgetKit's name.
    public let rawValue: String

    /// A family by WidgetKit's name.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// `systemSmall`
    public static let systemSmall = Family(rawValue: "systemSmall")
    /// `systemMedium`
    public static let systemMedium = Family(rawValue: "systemMedium")
    /// `systemLarge`
    public static let systemLarge = Family(rawValue: "systemLarge")
    /// `systemExtraLarge`
    public static let systemExtraLarge = Family(rawValue: "systemExtraLarge")
    /// `systemExtraLargePortrait`
    public static let systemExtraLargePortrait = Family(rawValue: "systemExtraLargePortrait")
    /// `accessoryCircular`
    public static let accessoryCircular = Family(rawValue: "accessoryCircular")
    /// `accessoryCorner`
    public static let accessoryCorner = Family(rawValue: "accessoryCorner")
    /// `accessoryRectangular`
    public static let accessoryRectangular = Family(rawValue: "accessoryRectangular")
    /// `accessoryInline`
    public static let accessoryInline = Family(rawValue: "accessoryInline")
}

/// A widget or a control on a host.
public struct WidgetInstance: Sendable, Hashable, Codable {
    /// Its id, unique on its host, without control characters, at most 128 bytes. Keep the id as long as the widget
    /// exists: its budget belongs to the id.
    public var id: String
    /// Its kind; the gateway's configuration must have it.
    public var kind: String
    /// Its family.
    public var family: Family
    /// The values of its parameters; a missing one has the kind's default.
    public var configuration: [String: JSONValue]
    /// Whether pushes reach it.
    public var pushEnabled: Bool
    /// Tags for patterns (``Pattern/Key/tags``) and channels, at most 256 bytes each.
    public var tags: [String]
    /// A condition that a push's ``Push/attributes`` must fulfil; nil for none.
    public var when: Pattern?
    /// For a control: its own push token in hex.
    public var controlToken: String?

    /// Makes a widget.
    public init(
        id: String,
        kind: String,
        family: Family,
        configuration: [String: JSONValue] = [:],
        pushEnabled: Bool = true,
        tags: [String] = [],
        when: Pattern? = nil,
        controlToken: String? = nil
    ) {
        self.id = id
        self.kind = kind
        self.family = family
        self.configuration = configuration
        self.pushEnabled = pushEnabled
        self.tags = tags
        self.when = when
        self.controlToken = controlToken
    }
}

/// The changes of a registration.
public struct Registered: Sendable, Hashable, Decodable {
    /// The host's id.
    public let host: String
    /// The number of new widgets.
    public let added: Int
    /// The number of widgets with another configuration.
    public let changed: Int
    /// The number of unchanged widgets.
    public let unchanged: Int
    /// The number of removed widgets.
    public let removed: Int
}

/// A registration with its push token: a line of an import or an export.
public struct ExportedHost: Sendable, Hashable, Codable {
    /// The push token in hex.
    public var token: String
    /// The registration.
    public var registration: Registration

    private enum CodingKeys: String, CodingKey { case token }

    /// Makes a line.
    public init(token: String, registration: Registration) {
        self.token = token
        self.registration = registration
    }

    /// Reads a line.
    public init(from decoder: any Decoder) throws {
        self.token = try decoder.container(keyedBy: CodingKeys.self).decode(String.self, forKey: .token)
        self.registration = try Registration(from: decoder)
    }

    /// Writes a line.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(self.token, forKey: .token)
        try self.registration.encode(to: encoder)
    }
}

/// The member that a registration needs in addition: its app.
struct AppMember<Rest: Encodable>: Encodable {
    let app: String
    let rest: Rest

    private enum CodingKeys: String, CodingKey { case app }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(self.app, forKey: .app)
        try self.rest.encode(to: encoder)
    }
}
