package import Engine
package import WidgetModel

/// The host, or its control, that a device token stands for.
package struct TokenBinding: Hashable, Sendable {
    package let host: HostKey
    /// The control instance whose own token this is, nil for a widget token.
    package let instance: InstanceID?
    package let partition: PartitionID

    package var app: BundleID { self.host.app }

    package init(host: HostKey, instance: InstanceID?, partition: PartitionID) {
        self.host = host
        self.instance = instance
        self.partition = partition
    }
}

/// The standing of a token.
package enum TokenLookup: Hashable, Sendable {
    case bound(TokenBinding)
    /// The token was removed at this instant; pushes to it are answered 410 for 30 days, and 503 while it moves.
    case removed(app: BundleID, TokenRemoval, at: Instant)
    case unknown
}

/// Where device tokens are looked up.
package protocol TokenDirectory: Sendable {
    /// The binding of a token now.
    func lookup(_ token: DeviceToken) -> TokenLookup
    /// Whether the tokens of all partitions are known now: if not, one that is not found may be one of the others. A node that is cut off
    /// does not know all.
    var isWhole: Bool { get }
    /// How many tokens are known, removed ones included.
    var count: Int { get }
}
