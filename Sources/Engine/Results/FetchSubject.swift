package import Timelines
package import WidgetModel

/// The subject of a question to a timeline provider: an instance with an outstanding reload, with its present
/// configuration.
package struct FetchSubject: Hashable, Sendable {
    package let reload: ReloadID
    package let address: InstanceAddress
    package let kind: WidgetKind
    package let family: WidgetFamily
    package let configuration: Configuration
    package let context: HostContext
    package let causes: ReloadCauses
    /// The push that made the reload happen, or the oldest one it serves; nil if it serves none.
    package let push: PushID?
    /// The priority of the most urgent push that the reload serves; high if it has a cause of its own.
    package let priority: Priority
    package let issuedAt: Instant
    package let expiresAt: Instant
    /// Whether the user is taken to see it.
    package let isVisible: Bool
    /// The digest of the timeline that it shows.
    package let digest: [UInt8]?

    package var app: BundleID { self.address.app }
}

/// The timeline that an instance shows, and the subject of a question for its content, which the engine does not have.
package struct ShownTimeline: Hashable, Sendable {
    package let subject: FetchSubject
    package let timeline: Timeline
}
