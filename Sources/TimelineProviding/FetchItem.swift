package import Engine
import Timelines
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

extension FetchItem {
    /// How long the content of an accepted timeline is asked for at least, also if its last entry is shown already.
    private static let contentPatience = Interval.hours(1)

    init(_ subject: FetchSubject) {
        self.init(
            reload: subject.reload,
            address: subject.address,
            isVisible: subject.isVisible,
            expiresAt: subject.expiresAt,
            priority: subject.priority,
            issuedAt: subject.issuedAt
        )
    }

    init(contentOf shown: ShownTimeline, now: Instant) {
        self.init(
            reload: shown.subject.reload,
            address: shown.subject.address,
            isVisible: shown.subject.isVisible,
            expiresAt: max(shown.timeline.end ?? now, now + Self.contentPatience),
            priority: shown.subject.priority,
            issuedAt: now,
            isForContent: true
        )
    }
}

extension FetchSubject {
    /// The context for a provider that is asked for a placeholder. Without the time zone: a placeholder has no dates,
    /// and the hosts of all time zones share one.
    package var placeholderContext: TimelineProviderContext {
        var host = self.context
        host.timeZone = nil
        return TimelineProviderContext(family: self.family, host: host)
    }

    /// Whether it shows a placeholder until its timeline is there.
    package var isNew: Bool {
        self.digest == nil
            && ProviderRequest.order(for: self.causes, in: self.placeholderContext).contains(.placeholder)
    }
}
