package import APNSWire
import TLS
package import WidgetModel

/// The provider keys and client certificates that the configuration names.
///
/// Both may be replaced while the gateway runs; the rest is as the configuration was at the start.
package struct SenderDirectory: Sendable {
    package typealias Key = ProviderKeys.Key

    /// The provider keys, which may change while the gateway runs.
    package let keys: ProviderKeys
    /// The table of client certificates, which may change while the gateway runs.
    package let certificates: ClientCertificates
    private let rules: ProviderTokenRules
    private let hostRules: HostCredentialRules
    /// How often senders may renew their tokens.
    package let updates: TokenUpdates
    /// Whether a connection belongs to the team and key of its first push.
    package let bindsConnections: Bool

    package init(
        keys: [Key],
        certificates: ClientCertificates = ClientCertificates(),
        rules: ProviderTokenRules = ProviderTokenRules(),
        hostRules: HostCredentialRules = HostCredentialRules(),
        updates: TokenUpdates = TokenUpdates(),
        bindsConnections: Bool = true
    ) {
        self.keys = ProviderKeys(keys)
        self.certificates = certificates
        self.rules = rules
        self.hostRules = hostRules
        self.updates = updates
        self.bindsConnections = bindsConnections
    }

    /// Verifies a provider token: its key is known, the team is the key's, the signature holds.
    ///
    /// Some 50 µs for the signature; what comes of it is worth caching. The age has to be checked on every use.
    ///
    /// - Throws: `InvalidProviderToken`, and for the log why.
    package func identify(
        _ token: ProviderToken,
        inForce: PushRules = .all
    ) throws(ProviderTokenFault) -> VerifiedSender {
        // One sentence for all: which keys there are is nobody's business who has none.
        let fault = ProviderTokenFault(.invalidProviderToken, "no key of the team that the token names has signed it")
        guard let key = self.keys.key(token.keyID) else { throw fault }
        guard inForce.met(.keyOfTeam, key.sender.team == token.team) else { throw fault }
        let holds = key.publicKey.verify(signature: token.signature.span, message: token.signingInput.span)
        guard inForce.met(.signature, holds) else { throw fault }
        return VerifiedSender(sender: key.sender, issuedAt: token.issuedAt)
    }

    /// Verifies a provider token and its age.
    package func verify(_ token: ProviderToken, now: Instant) throws(ProviderTokenFault) -> VerifiedSender {
        let verified = try self.identify(token)
        try self.check(verified, now: now)
        return verified
    }

    /// Checks the age of a token that was verified.
    package func check(
        _ verified: VerifiedSender,
        now: Instant,
        inForce: PushRules = .all
    ) throws(ProviderTokenFault) {
        do throws(Rejection) {
            try self.rules.check(issuedAt: verified.issuedAt, now: now, rules: inForce)
        } catch {
            throw ProviderTokenFault(
                error,
                error == .expiredProviderToken ? "iat is too long ago" : "iat is too far in the future"
            )
        }
    }

    /// Verifies a host's credential: signed by a key of the team that it names, for an app of that team, in its time.
    ///
    /// - Throws: ``Problem`` with `expired-credential` if it was valid once, else with `invalid-credential`.
    package func verify(_ credential: HostCredential, now: Instant) throws(Problem) -> Sender {
        guard let key = self.keys.key(credential.keyID), key.sender.team == credential.claims.team else {
            throw Self.problem("no such key of that team")
        }
        guard key.publicKey.verify(signature: credential.signature.span, message: credential.signingInput.span) else {
            throw Self.problem("the signature does not hold")
        }
        do throws(TokenFault) {
            try self.hostRules.check(credential.claims, now: now)
        } catch {
            throw Self.problem(
                error.sentence,
                credential.claims.expiresAt <= now ? .expiredCredential : .invalidCredential
            )
        }
        guard key.sender.actions.contains(.hosts) else { throw Self.problem("the key is not for hosts") }
        guard key.sender.topics.app(bundle: credential.claims.app) != nil else {
            throw Self.problem("the key is not for that app")
        }
        return key.sender
    }

    private static func problem(_ sentence: String, _ code: Problem.Code = .invalidCredential) -> Problem {
        Problem(code, "host credential: \(sentence)")
    }
}
