package import APNSWire
package import TLS
package import WidgetModel

/// Who a verified credential speaks for.
package final class Sender: Sendable {
    package let team: TeamID
    /// The provider key, nil for a client certificate.
    package let keyID: KeyID?
    /// What the sender may push to.
    package let topics: TopicTable
    /// How fast it may push, nil for as fast as it likes.
    package let meter: RateMeter?

    package init(team: TeamID, keyID: KeyID?, topics: TopicTable, meter: RateMeter? = nil) {
        self.team = team
        self.keyID = keyID
        self.topics = topics
        self.meter = meter
    }
}

/// The provider keys and client certificates that the configuration names.
///
/// Immutable: a changed configuration makes a new one.
package struct SenderDirectory: Sendable {
    /// A provider key of a team.
    package struct Key: Sendable {
        package let sender: Sender
        package let publicKey: ES256PublicKey

        package init(sender: Sender, publicKey: ES256PublicKey) {
            self.sender = sender
            self.publicKey = publicKey
        }
    }

    private let keys: [KeyID: Key]
    private let certificates: [GatewayConfiguration.ClientCertificate.Name: Sender]
    private let rules: ProviderTokenRules
    private let hostRules: HostCredentialRules

    package init(
        keys: [Key],
        certificates: [GatewayConfiguration.ClientCertificate.Name: Sender] = [:],
        rules: ProviderTokenRules = ProviderTokenRules(),
        hostRules: HostCredentialRules = HostCredentialRules()
    ) {
        var byID: [KeyID: Key] = [:]
        for key in keys { if let id = key.sender.keyID { byID[id] = key } }
        self.keys = byID
        self.certificates = certificates
        self.rules = rules
        self.hostRules = hostRules
    }

    /// The sender that a verified client certificate speaks for, or nil if the configuration does not name it.
    package func sender(of certificate: PeerCertificate) -> Sender? {
        if let sender = self.certificates[.fingerprint(certificate.sha256Fingerprint)] { return sender }
        return certificate.userID.flatMap { self.certificates[.userID($0)] }
    }

    /// Verifies a provider token: its key is known, the team is the key's, the signature holds, its age is allowed.
    ///
    /// Some 50 µs for the signature; what comes of it is worth caching. The age has to be checked on every use.
    package func verify(_ token: ProviderToken, now: Instant) throws(Rejection) -> VerifiedSender {
        guard let key = self.keys[token.keyID], key.sender.team == token.team else { throw .invalidProviderToken }
        guard key.publicKey.verify(signature: token.signature.span, message: token.signingInput.span) else {
            throw .invalidProviderToken
        }
        // Hosts' credentials are signed by the same key: what a device holds must not speak for its team.
        let text = CompactToken.compact(signingInput: token.signingInput, signature: token.signature)
        if (try? HostCredential.parse(token: text.span, reader: JSONReader())) != nil { throw .invalidProviderToken }
        try self.rules.check(issuedAt: token.issuedAt, now: now)
        return VerifiedSender(sender: key.sender, issuedAt: token.issuedAt)
    }

    /// Checks the age of a sender that was verified before.
    package func check(_ verified: VerifiedSender, now: Instant) throws(Rejection) {
        try self.rules.check(issuedAt: verified.issuedAt, now: now)
    }

    /// Verifies a host's credential: signed by a key of the team that it names, for an app of that team, in its time.
    ///
    /// - Throws: ``Problem`` with `expired-credential` if it was valid once, else with `invalid-credential`.
    package func verify(_ credential: HostCredential, now: Instant) throws(Problem) -> Sender {
        guard let key = self.keys[credential.keyID], key.sender.team == credential.claims.team else {
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
        guard key.sender.topics.app(bundle: credential.claims.app) != nil else {
            throw Self.problem("the key is not for that app")
        }
        return key.sender
    }

    private static func problem(_ sentence: String, _ code: Problem.Code = .invalidCredential) -> Problem {
        Problem(code, "host credential: \(sentence)")
    }
}

/// A sender whose provider token was verified.
package struct VerifiedSender: Sendable {
    package let sender: Sender
    /// The token's `iat`: its age is checked on every use.
    package let issuedAt: Instant
}
