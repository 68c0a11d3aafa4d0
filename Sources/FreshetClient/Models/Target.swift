/// The instances of an app that a push, a channel or a reload is for.
public struct Target: Sendable, Hashable {
    /// Only instances of this kind; nil for any.
    public let kind: String?
    /// Only instances whose configuration matches; nil for any.
    public let match: Pattern?

    /// Every instance of the app, of every kind.
    public static let all = Target(kind: nil, match: nil)

    /// The instances of a kind, or those of them that match.
    public static func kind(_ kind: String, matching match: Pattern? = nil) -> Target {
        Target(kind: kind, match: match)
    }

    /// The matching instances of any kind.
    public static func matching(_ match: Pattern) -> Target { Target(kind: nil, match: match) }
}

extension Target: Codable {
    private enum CodingKeys: String, CodingKey { case kind, match, all }

    /// Reads a channel's target; without members it is every instance.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.kind = try container.decodeIfPresent(String.self, forKey: .kind)
        self.match = try container.decodeIfPresent(Pattern.self, forKey: .match)
    }

    /// Writes kind and match, or "every instance".
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encodeIfPresent(self.kind, forKey: .kind)
        try container.encodeIfPresent(self.match, forKey: .match)
        if self == .all { try container.encode(true, forKey: .all) }
    }
}
