package import APNSWire

/// A sender's rights, apart from the topics that they are for.
package struct SenderActions: OptionSet, Hashable, Sendable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    package init(_ action: SenderAction) {
        self =
            switch action {
            case .devices: .devices
            case .targeted: .targeted
            case .channels: .channels
            case .hosts: .hosts
            }
    }

    package static let devices = SenderActions(rawValue: 1)
    package static let targeted = SenderActions(rawValue: 2)
    package static let channels = SenderActions(rawValue: 4)
    package static let hosts = SenderActions(rawValue: 8)

    /// Its team's own pages of the dashboard: none of ``all``, it is given by itself.
    package static let reads = SenderActions(rawValue: 16)

    /// The actions of senders.
    package static let all: SenderActions = [.devices, .targeted, .channels, .hosts]
}
