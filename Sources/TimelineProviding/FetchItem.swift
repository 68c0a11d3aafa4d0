package import Engine
package import WidgetModel

/// A reload whose timeline is to be fetched, with the fields that decide when its turn comes.
package struct FetchItem: Hashable, Sendable {
    package let reload: ReloadID
    package let address: InstanceAddress
    /// Whether the user is taken to see the instance.
    package let isVisible: Bool
    /// The reload is given up then.
    package let expiresAt: Instant
    package let priority: Priority
    package let issuedAt: Instant
    /// Whether its timeline is accepted, and only its content is to be fetched.
    package let isForContent: Bool

    package init(
        reload: ReloadID,
        address: InstanceAddress,
        isVisible: Bool,
        expiresAt: Instant,
        priority: Priority,
        issuedAt: Instant,
        isForContent: Bool = false
    ) {
        self.reload = reload
        self.address = address
        self.isVisible = isVisible
        self.expiresAt = expiresAt
        self.priority = priority
        self.issuedAt = issuedAt
        self.isForContent = isForContent
    }

    /// The order of the queue: new timelines before the content of accepted ones. Among these visible instances first, then the least time
    /// left, then by priority, then the longest wait; of equals the instance whose address comes first.
    package func isBefore(_ other: FetchItem) -> Bool {
        if self.isForContent != other.isForContent { return other.isForContent }
        if self.isVisible != other.isVisible { return self.isVisible }
        if self.expiresAt != other.expiresAt { return self.expiresAt < other.expiresAt }
        if self.priority != other.priority { return self.priority.rawValue > other.priority.rawValue }
        if self.issuedAt != other.issuedAt { return self.issuedAt < other.issuedAt }
        if self.address != other.address { return self.address < other.address }
        return self.reload.position < other.reload.position
    }

    /// A stable hash of the instance, for jitter.
    var hash: UInt64 { StableHash.of(self.address.description) }
}
