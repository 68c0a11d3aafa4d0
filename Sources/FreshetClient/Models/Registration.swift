/// Everything that a host shows; it takes the place of what the host showed before.
public struct Registration: Sendable, Hashable, Codable {
    /// The host's id. nil: the host that the push token stands for, else one whose id comes of the token.
    public var host: String?
    /// Counts the host's registrations. One that is lower than the last is refused: `stale-revision`. nil to go without.
    public var revision: Int?
    /// How reloads reach the host; nil for ``Delivery/stream``.
    public var delivery: Delivery?
    /// For how many seconds without a registration the host is kept; nil for the app's default.
    public var lease: Int?
    /// The push token that this one takes the place of, in hex.
    public var replaces: String?
    /// Whether the host keeps its other push tokens. For back ends only.
    public var addToken: Bool?
    /// What timeline providers are told of the host.
    public var context: HostContext?
    /// All widgets that the host shows.
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

/// What timeline providers are told of a host.
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

    /// How large a widget is.
    public var displaySize: Size?
    /// As `en-US`.
    public var locale: String?
    /// As `Europe/Berlin`.
    public var timeZone: String?
    /// The values of the environment in which a widget may be drawn, by name; at most 64 of at most 64 values each.
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
/// Later versions of the gateway may have further ones.
public struct Family: RawRepresentable, Sendable, Hashable, Codable {
    /// WidgetKit's word for it.
    public let rawValue: String

    /// A family by WidgetKit's word.
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

/// A widget or a control that a host shows.
public struct WidgetInstance: Sendable, Hashable, Codable {
    /// Its id, unique on its host, without control characters, at most 128 bytes. A widget that stays keeps its id, and with it its
    /// budget.
    public var id: String
    /// Its kind, one that the gateway knows.
    public var kind: String
    /// Its family.
    public var family: Family
    /// The values of its parameters; one that is missing has the kind's default.
    public var configuration: [String: JSONValue]
    /// Whether pushes are about it.
    public var pushEnabled: Bool
    /// Texts that patterns (``Pattern/Key/tags``) and channels find it by, at most 256 bytes each.
    public var tags: [String]
    /// What a push has to bring in ``Push/attributes``; nil for nothing.
    public var when: Pattern?
    /// Of a control: its own push token in hex.
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

/// What a registration has changed.
public struct Registered: Sendable, Hashable, Decodable {
    /// The host's id.
    public let host: String
    /// How many widgets are new.
    public let added: Int
    /// How many have another configuration.
    public let changed: Int
    /// How many are as they were.
    public let unchanged: Int
    /// How many are gone.
    public let removed: Int
}

/// A registration with the push token that it is for: a line of an import, and of an export.
public struct ExportedHost: Sendable, Hashable, Codable {
    /// The push token in hex.
    public var token: String
    /// What it registers.
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

/// What a registration needs beside: the app that it is of.
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
