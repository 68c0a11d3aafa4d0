package import APNSWire
package import WidgetModel

/// The sender whose pushes a connection carries: bound to team and key by the first push with a provider token in
/// order.
///
/// Source: Apple, "Establishing a token-based connection to APNs": a connection belongs to one team; after a push with a
/// key of the whole team come keys of that environment and for the whole team only; after one with a key for some
/// topics, that key and its related one only. A sender that wants another opens another connection.
///
/// Not copyable, so that every push asks it where it is.
package struct SenderBinding: ~Copyable, Sendable {
    /// The sender whose token bound the connection.
    package private(set) var first: Sender?
    /// The token that came last.
    private var latest: VerifiedSender?
    private var renewals = TokenRenewals()
    /// Of the related key: two keys that may share a connection are not each other's renewals.
    private var relatedRenewals = TokenRenewals()

    package init() {}

    /// Whether the token is the one that came last, for which every question but its age is settled.
    package func isLatest(_ token: VerifiedSender) -> Bool {
        guard let latest else { return false }
        return latest.sender === token.sender && latest.times == token.times
    }

    /// Refuses another team (`InvalidProviderToken`) and a key that may not share the connection
    /// (`UnrelatedKeyIdInToken`). Changes nothing.
    package func check(_ sender: Sender) throws(Rejection) {
        guard let first else { return }
        guard first.team == sender.team else { throw .invalidProviderToken }
        guard Self.mayShare(first, sender) else { throw .unrelatedKeyIDInToken }
    }

    private static func mayShare(_ first: Sender, _ other: Sender) -> Bool {
        if first.keyID == other.keyID { return true }
        guard first.scope.isTopicKey == other.scope.isTopicKey, first.scope.environment == other.scope.environment
        else { return false }
        guard first.scope.isTopicKey else { return true }
        return first.scope.relatedKey == other.keyID || other.scope.relatedKey == first.keyID
    }

    /// Takes note of a token that is in order, the first of which binds the connection; refuses one that renews too soon.
    package mutating func admit(
        _ token: VerifiedSender,
        now: Instant,
        updates: TokenUpdates
    ) throws(Rejection) {
        if let first, first.scope.isTopicKey, first.keyID != token.sender.keyID {
            try updates.admit(token, &self.relatedRenewals, now: now)
        } else {
            try updates.admit(token, &self.renewals, now: now)
        }
        self.first = self.first ?? token.sender
        self.latest = token
    }
}
