package import APNSWire
package import WidgetModel

/// The provider tokens that one connection, key or team has shown, and whether a new one comes too soon.
///
/// Apple wants a token to be renewed no more often than every 20 minutes. A new token is one with another `kid` or `iat`;
/// the same claims signed again are the same token. It is in time if it was issued so long after the one in use, or comes
/// so long after it: a sender that renews by its own clock is not punished for a connection that it opened in between.
/// The token before the one in use may still come, since a sender's processes do not change over at one instant.
package struct TokenRenewals: Hashable, Sendable {
    /// The fields that tell one token from another.
    package struct Version: Hashable, Sendable {
        package let keyID: KeyID?
        package let issuedAt: Instant

        package init(_ token: VerifiedSender) {
            self.keyID = token.sender.keyID
            self.issuedAt = token.issuedAt
        }
    }

    private var current: Version?
    private var previous: Version?
    /// When ``current`` was first shown.
    private var since = Instant.epoch

    package init() {}

    /// Takes note of a token, or refuses it with `TooManyProviderTokenUpdates`.
    ///
    /// - Parameter interval: How far apart renewals have to be; zero for no rule.
    package mutating func admit(
        _ version: Version,
        now: Instant,
        interval: Interval
    ) throws(Rejection) {
        guard version != self.current, version != self.previous else { return }
        if let current {
            let isInTime = version.issuedAt - current.issuedAt >= interval || now - self.since >= interval
            guard isInTime else { throw .tooManyProviderTokenUpdates }
        }
        self.previous = self.current
        self.current = version
        self.since = now
    }
}
