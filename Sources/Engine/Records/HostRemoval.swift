package import WidgetModel

/// A host goes, or one of its push tokens does.
package struct HostRemoval: FieldCoded, Hashable, Sendable {
    /// Why it goes: it decides what pushes to its tokens are answered afterwards.
    package enum Purpose: UInt8, ByteCoded, Hashable, Sendable, CaseIterable {
        /// It is no more: 410.
        case unregistration
        /// Nothing is to be left of it, not even that it was there: as to tokens that never were. With a token, the host is in
        /// another partition: this one forgets that the token was removed here, and keeps a token that is registered here.
        case erasure
        /// The token is registered for a host of another partition next: 503 until it is, see ``TokenRemoval/moving``.
        case move
    }

    package static let coding = Fields(Self.init, \.host, \.token, \.notRegisteredSince, \.purpose)

    package var host: HostKey
    /// Removes only this alias, or a control's token; the host goes with its last alias. Nil removes the host.
    package var token: DeviceToken?
    /// Ignored if the host (or the token) was registered after this instant: the timestamp of an upstream 410.
    package var notRegisteredSince: Instant?
    package var purpose: Purpose

    package init(
        host: HostKey,
        token: DeviceToken? = nil,
        notRegisteredSince: Instant? = nil,
        purpose: Purpose = .unregistration
    ) {
        self.host = host
        self.token = token
        self.notRegisteredSince = notRegisteredSince
        self.purpose = purpose
    }
}
