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

    package init(
        reload: ReloadID,
        address: InstanceAddress,
        isVisible: Bool,
        expiresAt: Instant,
        priority: Priority,
        issuedAt: Instant
    ) {
        self.reload = reload
        self.address = address
        self.isVisible = isVisible
        self.expiresAt = expiresAt
        self.priority = priority
        self.issuedAt = issuedAt
    }

    /// The order of the queue: visible instances first, then the least time left, then by priority, then the longest
    /// wait; of equals the instance whose address comes first.
    package func isBefore(_ other: FetchItem) -> Bool {
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
