package import WidgetModel

/// A host goes, or one of its push tokens does.
package struct HostRemoval: FieldCoded, Hashable, Sendable {
    package static let coding = Fields(Self.init, \.host, \.token, \.notRegisteredSince, \.isErased)

    package var host: HostKey
    /// Removes only this alias, or a control's token; the host goes with its last alias. Nil removes the host.
    package var token: DeviceToken?
    /// Ignored if the host (or the token) was registered after this instant: the timestamp of an upstream 410.
    package var notRegisteredSince: Instant?
    /// Whether its tokens are not even remembered as removed: pushes to them are answered as to tokens that never were.
    package var isErased: Bool

    package init(
        host: HostKey,
        token: DeviceToken? = nil,
        notRegisteredSince: Instant? = nil,
        isErased: Bool = false
    ) {
        self.host = host
        self.token = token
        self.notRegisteredSince = notRegisteredSince
        self.isErased = isErased
    }
}
