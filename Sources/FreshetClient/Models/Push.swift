public import Foundation

/// A push: "this content has changed, reload".
public struct Push: Sendable, Hashable {
    /// Names the push. A push that is sent again with its id counts once.
    public var id: UUID
    /// How urgent it is; nil for the app's default.
    public var priority: Priority?
    /// For how long it may wait; nil for the app's default, four hours unless configured.
    public var expiration: Expiration?
    /// A later push with the same collapse id takes the place of this one where it still waits. 1 to 64 bytes.
    public var collapseID: String?
    /// Names the state of the content: an instance that shows it already is left alone. At most 128 bytes.
    public var digest: String?
    /// What the conditions of instances (``WidgetInstance/when``) ask for: at most 64 members.
    public var attributes: [String: JSONValue]?
    /// The push waits until then. To the second.
    public var notBefore: Date?
    /// A push that matches more instances is refused, and reaches none. At least 1; nil for the app's own bound.
    public var maxMatched: Int?

    /// Makes a push.
    public init(
        id: UUID = UUID(),
        priority: Priority? = nil,
        expiration: Expiration? = nil,
        collapseID: String? = nil,
        digest: String? = nil,
        attributes: [String: JSONValue]? = nil,
        notBefore: Date? = nil,
        maxMatched: Int? = nil
    ) {
        self.id = id
        self.priority = priority
        self.expiration = expiration
        self.collapseID = collapseID
        self.digest = digest
        self.attributes = attributes
        self.notBefore = notBefore
        self.maxMatched = maxMatched
    }
}

/// How urgent a push is: `apns-priority`.
public enum Priority: Int, Sendable, Hashable, Codable {
    /// It may use the burst of the reload budget.
    case immediate = 10
    /// It keeps the pace of the reload budget.
    case powerAware = 5
    /// It waits for any other reload.
    case withAnyOther = 1
}

/// For how long a push may wait: `apns-expiration`.
public enum Expiration: Sendable, Hashable {
    /// It is worth nothing later.
    case nowOrNever
    /// Until then. To the second; a date before 1970 is now or never.
    case at(Date)
}

/// What a push to a device is about: `apns-push-type`.
public enum PushType: String, Sendable, Hashable {
    /// The widgets of a host.
    case widgets
    /// The controls of a host, or the one control that the push token is of.
    case controls
}

/// The word of the gateway that a push is on disk.
public struct Receipt: Sendable, Hashable {
    /// The push's id, to ask what became of it.
    public let id: UUID
    /// Apple's second id of a push; of apps in development.
    public let uniqueID: UUID?
    /// How often the push was sent until it was accepted.
    public let attempts: Int
}

extension Push {
    /// Whole seconds since 1970, at least 0.
    private static func seconds(_ date: Date) -> Int64 {
        Int64(max(0, min(date.timeIntervalSince1970, 253_402_300_799)))
    }

    /// `apns-expiration`.
    var expirationSeconds: Int64? {
        switch self.expiration {
        case .nowOrNever: 0
        case .at(let date): Self.seconds(date)
        case nil: nil
        }
    }

    /// The headers of APNs that say this.
    func headers(id name: String) -> [String: String] {
        var headers = [name: self.id.uuidString.lowercased()]
        headers["apns-priority"] = self.priority.map { String($0.rawValue) }
        headers["apns-expiration"] = self.expirationSeconds.map(String.init)
        headers["apns-collapse-id"] = self.collapseID
        return headers
    }

    /// The body of a push to an app, or of one to a device that is narrowed.
    ///
    /// - Parameter target: What it is about; nil for all that a device shows, and for a channel.
    func body(_ target: Target?) -> some Encodable & Sendable { PushBody(push: self, target: target) }

    private struct PushBody: Encodable {
        let push: Push
        let target: Target?

        private enum Names: String, CodingKey {
            case aps, freshet, digest, attributes, notBefore = "not-before", maxMatched
        }

        func encode(to encoder: any Encoder) throws {
            var body = encoder.container(keyedBy: Names.self)
            try body.encode(["content-changed": true], forKey: .aps)
            let about = body.superEncoder(forKey: .freshet)
            var freshet = about.container(keyedBy: Names.self)
            try self.target?.encode(to: about)
            try freshet.encodeIfPresent(self.push.digest, forKey: .digest)
            try freshet.encodeIfPresent(self.push.attributes, forKey: .attributes)
            try freshet.encodeIfPresent(self.push.notBefore.map(Push.seconds), forKey: .notBefore)
            try freshet.encodeIfPresent(self.push.maxMatched, forKey: .maxMatched)
        }
    }
}
