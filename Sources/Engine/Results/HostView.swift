package import WidgetModel

/// One host with its instances.
package struct HostView: Hashable, Sendable {
    package let host: HostKey
    package let tokens: [DeviceToken]
    package let revision: UInt64
    package let delivery: HostDelivery
    package let context: HostContext
    package let registeredAt: Instant
    package let firstRegisteredAt: Instant
    package let leaseEnds: Instant?
    /// Why reloads are not charged at this moment, in the order of raw values.
    package let exemptions: [Exemption]
    /// Whether it refreshes widgets at its own rate, as it said.
    package let isInStandBy: Bool
    package let isInLowPower: Bool
    /// Sorted by id.
    package let instances: [InstanceRegistration]
    package let outstandingReloads: Int

    package var app: BundleID { self.host.app }
}

/// A widget of a list, with its host.
package struct ListedWidget: Hashable, Sendable {
    package let host: HostKey
    package let registration: InstanceRegistration
}
