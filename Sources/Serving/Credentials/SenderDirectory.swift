package import APNSWire
package import Partitions
import Settings
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
    /// Some 50 µs for the signature; the result is worth caching. The age has to be checked on every use.
    ///
    /// - Throws: `InvalidProviderToken`, and for the log why.
    package func identify(
        _ token: ProviderToken
    ) throws(ProviderTokenError) -> VerifiedSender {
        // One sentence for all: a sender without a key is not to learn which there are.
        let fault = ProviderTokenError(
            .invalidProviderToken,
            "the token is not signed by a key of the team that it names"
        )
        guard let key = self.keys.key(token.keyID) else { throw fault }
        guard key.sender.team == token.team else { throw fault }
        let holds = key.publicKey.verify(signature: token.signature.span, message: token.signingInput.span)
        guard holds else { throw fault }
        return VerifiedSender(sender: key.sender, times: token.times)
    }

    /// Checks the age of a token that was verified.
    package func check(
        _ verified: VerifiedSender,
        now: Instant
    ) throws(ProviderTokenError) {
        do throws(Rejection) {
            try self.rules.check(verified.times, now: now)
        } catch {
            throw ProviderTokenError(
                error,
                self.sentence(error, verified.times, now)
            )
        }
    }

    private func sentence(_ rejection: Rejection, _ times: ProviderTokenTimes, _ now: Instant) -> String {
        if rejection == .expiredProviderToken {
            let ageMax = SettingType<Interval>.text(self.rules.ageMax)
            return times.expiresAt.map { $0 <= now } ?? false ? "exp is past" : "iat is more than \(ageMax) ago"
        }
        return times.notBefore.map { $0 > times.issuedAt } ?? false
            ? "nbf is too far in the future" : "iat is too far in the future"
    }

    /// Verifies a host's credential: a key of the team that it names signed it. Its time and app have to be checked on every use.
    ///
    /// - Throws: ``Problem`` with `invalid-credential`.
    package func identify(_ credential: HostCredential) throws(Problem) {
        let key = try self.key(of: credential)
        guard key.publicKey.verify(signature: credential.signature.span, message: credential.signingInput.span) else {
            throw Self.problem("the signature is wrong")
        }
    }

    /// Checks a host's credential that was verified, by the keys that are in force now: its time, and its app is of its key.
    ///
    /// - Throws: ``Problem`` with `expired-credential` if it was valid once, else with `invalid-credential`.
    @discardableResult
    package func check(_ credential: HostCredential, now: Instant) throws(Problem) -> Sender {
        let key = try self.key(of: credential)
        do throws(TokenError) {
            try self.hostRules.check(credential.claims, now: now)
        } catch {
            throw Self.problem(
                error.sentence,
                credential.claims.expiresAt <= now ? .expiredCredential : .invalidCredential
            )
        }
        guard key.sender.may(.hosts, credential.claims.app) else {
            throw Self.problem("the key is not for hosts of that app")
        }
        return key.sender
    }

    /// Checks a credential that was verified, by the keys that are in force now.
    package func check(_ credential: VerifiedCredential, now: Instant) throws(Problem) {
        switch credential {
        case .host(let credential): try self.check(credential, now: now)
        case .token(let verified):
            do throws(ProviderTokenError) {
                try self.check(verified, now: now)
            } catch {
                throw Problem(error)
            }
        }
    }

    private func key(of credential: HostCredential) throws(Problem) -> Key {
        guard let key = self.keys.key(credential.keyID), key.sender.team == credential.claims.team else {
            throw Self.problem("no such key of that team")
        }
        return key
    }

    /// The sender that a proof speaks for, by the keys and certificates that are in force now; nil if it does not hold
    /// any more.
    package func present(_ proof: Caller.SenderProof, now: Instant) -> Sender? {
        switch proof {
        case .token(let verified):
            guard let id = verified.sender.keyID, let key = self.keys.key(id), key.sender.team == verified.sender.team,
                (try? self.check(verified, now: now)) != nil
            else { return nil }
            return key.sender
        case .certificate(let certificate):
            guard case .sender(let sender) = self.certificates.judge(certificate) else { return nil }
            return sender
        }
    }

    private static func problem(_ sentence: String, _ code: Problem.Code = .invalidCredential) -> Problem {
        Problem(code, "host credential: \(sentence)")
    }
}
