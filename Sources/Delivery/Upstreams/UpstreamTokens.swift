import APNSWire
import Synchronization
package import TLS
package import WidgetModel

/// The gateway's own provider token for one key: minted once, renewed in time, shared by all connections and apps of
/// the team.
///
/// Apple refuses tokens older than an hour and tokens renewed more often than every 20 minutes ("Establishing a
/// token-based connection to APNs"), over all connections of a team as its engineers say, so one is used by all.
package final class UpstreamTokens: Sendable {
    /// When a token is renewed.
    package struct Window: Hashable, Sendable {
        /// No sooner than this after the one before. Default 20 min.
        package var renewMin = Interval.minutes(20)
        /// A token is used for so long. Default 50 min, between 20 and 60.
        package var age = Interval.minutes(50)

        package init() {}
    }

    private struct State {
        var window: Window
        var token: String?
        var mintedAt = Instant(milliseconds: 0)
        var minted = 0
    }

    package let keyID: KeyID
    private let team: TeamID
    private let key: ES256PrivateKey
    private let state: Mutex<State>

    package init(keyID: KeyID, team: TeamID, key: ES256PrivateKey, window: Window = Window()) {
        self.keyID = keyID
        self.team = team
        self.key = key
        self.state = Mutex(State(window: window))
    }

    /// Uses tokens for so long from now on, the one in use included.
    package func setLimit(age: Interval) { self.state.withLock { $0.window.age = age } }

    /// How many were minted.
    package var minted: Int { self.state.withLock { $0.minted } }
    /// When the one in use was made, by wall time; nil if there is none.
    package var mintedAt: Instant? { self.state.withLock { $0.token == nil ? nil : $0.mintedAt } }

    /// The token to send now.
    ///
    /// - Parameter now: Wall time: the other side compares `iat` with it. A clock that was set back makes a new one.
    package func token(now: Instant) throws(TLSError) -> String {
        let held = self.state.withLock { state -> String? in
            let age = now - state.mintedAt
            return age < state.window.age && age > .zero - .minutes(5) ? state.token : nil
        }
        if let held { return held }
        return try self.mint(now)
    }

    /// The other side calls the token expired: the next one is new, if the last is old enough for that.
    package func expire(now: Instant) {
        self.state.withLock { state in
            if now - state.mintedAt >= state.window.renewMin { state.token = nil }
        }
    }

    private func mint(_ now: Instant) throws(TLSError) -> String {
        let input = ProviderTokenClaims(keyID: self.keyID, team: self.team, issuedAt: now).signingInput
        let signature = try self.key.sign(input.span)
        let token = String(decoding: CompactToken.compact(signingInput: input, signature: signature), as: UTF8.self)
        // Two threads may mint at once; both use the first one's token.
        return self.state.withLock { state in
            if let other = state.token, now - state.mintedAt < state.window.age, state.mintedAt <= now { return other }
            state.token = token
            state.mintedAt = now
            state.minted += 1
            return token
        }
    }
}
