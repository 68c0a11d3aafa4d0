package import APNSWire
package import Partitions
package import Settings
package import WidgetModel

/// The sender that a verified credential speaks for.
package final class Sender: Sendable {
    package let team: TeamID
    /// The provider key, nil for a client certificate.
    package let keyID: KeyID?
    /// The topics that the sender may push to.
    package let topics: TopicTable
    /// Which other keys may share its connections.
    package let scope: KeyScope
    /// Its rights.
    package let actions: SenderActions
    /// Whether a refused push takes the streams of its connections down to one, as at APNs.
    package let isSlowedByRefusals: Bool
    /// How fast it may push, nil for as fast as it likes.
    package let meter: RateMeter?

    package init(
        team: TeamID,
        keyID: KeyID?,
        topics: TopicTable,
        scope: KeyScope = KeyScope(),
        actions: SenderActions = .all,
        isSlowedByRefusals: Bool = false,
        meter: RateMeter? = nil
    ) {
        self.team = team
        self.keyID = keyID
        self.topics = topics
        self.scope = scope
        self.actions = actions
        self.isSlowedByRefusals = isSlowedByRefusals
        self.meter = meter
    }

    /// The same sender in an object of its own, for one event loop: see ``ServedApps/copy()``.
    package convenience init(copying sender: Sender) {
        self.init(
            team: sender.team,
            keyID: sender.keyID,
            topics: TopicTable(copying: sender.topics),
            scope: sender.scope,
            actions: sender.actions,
            isSlowedByRefusals: sender.isSlowedByRefusals,
            meter: sender.meter
        )
    }
}

/// A provider key's scope, as far as it decides which keys may share a connection.
///
/// Source: Apple, "Establishing a token-based connection to APNs".
package struct KeyScope: Hashable, Sendable {
    /// Whether the key is for some topics only; else it is for all of its team.
    package let isTopicKey: Bool
    /// The environment that the key is for, nil for both.
    package let environment: GatewayConfiguration.App.Environment?
    /// The one other topic key whose tokens may come over the same connection.
    package let relatedKey: KeyID?

    package init(
        isTopicKey: Bool = false,
        environment: GatewayConfiguration.App.Environment? = nil,
        relatedKey: KeyID? = nil
    ) {
        self.isTopicKey = isTopicKey
        self.environment = environment
        self.relatedKey = relatedKey
    }
}

/// A sender whose provider token was verified.
package struct VerifiedSender: Sendable {
    package let sender: Sender
    /// When the token counts: checked on every use.
    package let times: ProviderTokenTimes

    package init(sender: Sender, times: ProviderTokenTimes) {
        self.sender = sender
        self.times = times
    }

    package var issuedAt: Instant { self.times.issuedAt }
}
