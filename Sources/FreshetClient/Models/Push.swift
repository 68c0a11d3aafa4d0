public import Foundation

/// A push: "this content has changed, reload".
public struct Push: Sendable, Hashable {
    /// Names the push. A push that is sent again with the same id counts once.
    public var id: UUID
    /// How urgent it is; nil for the app's default.
    public var priority: Priority?
    /// How long it may wait; nil for the app's default, four hours unless configured otherwise.
    public var expiration: Expiration?
    /// A later push with the same collapse id replaces this one if it still waits. 1 to 64 bytes.
    public var collapseID: String?
    /// Names the state of the content: an instance that shows it already does not reload. At most 128 bytes.
    public var digest: String?
    /// Attributes for the conditions of instances (``WidgetInstance/when``): at most 64 members.
    public var attributes: [String: JSONValue]?
    /// The date until which the push waits, to the second.
    public var notBefore: Date?
    /// The most instances that the push may match; with more it is refused and reaches none. At least 1; nil for the
    /// app's own bound.
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

/// How long a push may wait: `apns-expiration`.
public enum Expiration: Sendable, Hashable {
    /// It may not wait.
    case nowOrNever
    /// Until a date, to the second. With a date before 1970 it may not wait.
    case at(Date)
}

/// The target of a push to a device: `apns-push-type`.
public enum PushType: String, Sendable, Hashable {
    /// The widgets of a host.
    case widgets
    /// The controls of a host, or the one control of the push token.
    case controls
}

/// The gateway's confirmation that a push is on disk.
public struct Receipt: Sendable, Hashable {
    /// The push's id, for questions about its outcomes.
    public let id: UUID
    /// Apple's second id of a push; for apps in development.
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

    /// The body of a push to an app, or of one to a device with a narrower target.
    ///
    /// - Parameter target: The target; nil for all widgets of a device, and for a channel.
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
