/// A part of the gateway that writes log messages; its label is `freshet.` and the name.
package enum LogSubsystem: String, Hashable, Sendable, CaseIterable {
    /// Start and end, and messages that belong to no other subsystem.
    case gateway
    /// The configuration, when it is read again.
    case configuration
    /// Operators' actions.
    case audit
    /// Connections of the listeners.
    case http
    /// The durable log, and the partitions that apply it.
    case partitions
    case snapshots
    /// Certificates, keys and revocation lists.
    case certificates
    /// Timeline providers.
    case providers
    /// Reloads that go out by HTTP.
    case deliveries

    /// Whether a message that repeats itself is counted instead of written. An operator's action is always written: it
    /// comes at an operator's pace, and its line is expected.
    package var isLimited: Bool {
        switch self {
        case .configuration, .audit, .certificates: false
        case .gateway, .http, .partitions, .snapshots, .providers, .deliveries: true
        }
    }
}
