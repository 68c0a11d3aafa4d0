/// A sender's rights, apart from the topics that they are for.
///
/// A key that leaves something out is refused there with APNs' `Forbidden`: "the specified action is not allowed".
package struct SenderActions: OptionSet, Hashable, Sendable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// Pushes to a device token.
    package static let devices = SenderActions(rawValue: 1)
    /// Targeted pushes and their dry runs.
    package static let targeted = SenderActions(rawValue: 2)
    /// Channels and broadcasts on them.
    package static let channels = SenderActions(rawValue: 4)
    /// Acting for hosts: registrations, timelines, reloads; and signing hosts' credentials.
    package static let hosts = SenderActions(rawValue: 8)

    /// Its team's own pages of the dashboard: none of ``all``, it is given by itself.
    package static let reads = SenderActions(rawValue: 16)

    /// The actions of senders.
    package static let all: SenderActions = [.devices, .targeted, .channels, .hosts]
}
