package import APNSWire
package import Settings
import Synchronization
package import WidgetModel

/// How often senders may renew their tokens, and the state of that for keys and teams that several connections share.
///
/// A class for all event loops. Asked only when a connection shows a token that it did not show before.
package final class TokenUpdates: Sendable {
    private enum Owner: Hashable {
        case key(KeyID)
        case team(TeamID)
    }

    package let scope: GatewayConfiguration.ProviderTokens.RefreshScope
    /// How far apart renewals have to be; zero for no rule.
    package let interval: Interval
    /// At most one entry for each key and team of the configuration.
    private let shared = Mutex<[Owner: TokenRenewals]>([:])

    package init(
        scope: GatewayConfiguration.ProviderTokens.RefreshScope = .connection,
        interval: Interval = .minutes(20)
    ) {
        self.scope = scope
        self.interval = interval
    }

    /// Takes note of a verified token that a connection shows for the first time.
    ///
    /// - Parameter own: The renewals that the connection has shown before.
    package func admit(
        _ token: VerifiedSender,
        _ own: inout TokenRenewals,
        now: Instant
    ) throws(Rejection) {
        let version = TokenRenewals.Version(token)
        let owner: Owner
        switch (self.scope, token.sender.keyID) {
        case (.key, let key?): owner = .key(key)
        case (.team, _): owner = .team(token.sender.team)
        case (.connection, _), (.key, nil):
            return try own.admit(version, now: now, interval: self.interval)
        }
        let interval = self.interval
        let refusal = self.shared.withLock { shared -> Rejection? in
            do throws(Rejection) {
                try shared[owner, default: TokenRenewals()].admit(version, now: now, interval: interval)
                return nil
            } catch {
                return error
            }
        }
        if let refusal { throw refusal }
    }
}
