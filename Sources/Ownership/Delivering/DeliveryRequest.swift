package import Engine
package import WidgetModel

/// One try to deliver: a push to a token, or a POST to a webhook.
package struct DeliveryRequest: Hashable, Sendable {
    package let number: DeliveryNumber
    /// Which try of its delivery it is, from 1.
    package let tryNumber: Int
    /// The same for every try, also after a restart, by which the other side recognises a repeat.
    package var id: PushID
    package let target: DeliveryTarget
    /// Its reloads: those of its delivery that are still outstanding.
    package let reloads: [ReloadEffect]
    package let push: OutgoingPush
    package let begunAt: Instant
    /// It is not to be kept any longer by the other side.
    package let expiresAt: Instant
    /// How long it may take.
    package let timeout: Interval

    /// The token that it goes to; nil for a webhook.
    package var token: DeviceToken? { self.target.kind == .upstream ? self.push.token : nil }
    package var app: BundleID { self.target.app }
}

extension PushID {
    /// An id that follows from a hash, in the form of RFC 9562's version 8, which is for ids like this.
    init(of hash: StableHash) {
        var (high, low) = (hash, hash)
        high.combine(1)
        low.combine(2)
        self.init(high: high.value & ~0xF000 | 0x8000, low: low.value & ~(0b11 << 62) | 0b10 << 62)
    }
}

/// Numbers deliveries in the order in which they came.
package struct DeliveryNumber: Hashable, Comparable, Sendable {
    package let rawValue: UInt64

    package init(_ rawValue: UInt64) { self.rawValue = rawValue }

    package static func < (left: DeliveryNumber, right: DeliveryNumber) -> Bool { left.rawValue < right.rawValue }

    var next: DeliveryNumber { DeliveryNumber(self.rawValue + 1) }
}
