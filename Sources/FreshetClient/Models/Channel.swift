/// A name for a target, for broadcasts.
public struct Channel: Sendable, Hashable, Codable {
    /// How a broadcast is treated that cannot be shown at once.
    public enum Storage: Int, Sendable, Hashable, Codable {
        /// It may not wait.
        case nothing = 0
        /// The latest broadcast may wait, for 8 hours at most.
        case latest = 1
    }

    /// How a broadcast is treated that cannot be shown at once.
    public var storage: Storage
    /// The instances that it reaches; nil for those with the channel's id as a tag.
    public var target: Target?

    private enum CodingKeys: String, CodingKey {
        case storage = "message-storage-policy"
        case type = "push-type"
        case target = "freshet"
    }

    /// Makes a channel.
    ///
    /// - Parameter target: The instances that it reaches; nil for those with the channel's id as a tag.
    public init(storage: Storage, target: Target? = nil) {
        self.storage = storage
        self.target = target
    }

    /// Reads a channel as it was created, in Apple's words or in the gateway's.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.storage = try container.decode(Storage.self, forKey: .storage)
        self.target = try container.decodeIfPresent(Target.self, forKey: .target)
    }

    /// Writes the request that creates it.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(self.storage, forKey: .storage)
        try container.encode(PushType.widgets.rawValue, forKey: .type)
        try container.encodeIfPresent(self.target, forKey: .target)
    }
}
