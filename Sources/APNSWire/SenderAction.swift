/// A right of a sender's key, by its name in the configuration (`teams[].keys[].allows`).
///
/// A key without it is refused there with APNs' `Forbidden`: "the specified action is not allowed".
package enum SenderAction: String, Hashable, Sendable, CaseIterable {
    /// Pushes to a device token.
    case devices
    /// Targeted pushes and their dry runs.
    case targeted
    /// Channels and broadcasts on them.
    case channels
    /// Acting for hosts: registrations, timelines, reloads; and signing hosts' credentials.
    case hosts
}
