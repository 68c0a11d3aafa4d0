import APNSWire
import Serving
import Settings
import TLS
import Testing
import WidgetModel

@Suite struct SenderDirectoryTests {
    private let key: TestKey
    private let senders: SenderDirectory

    init() throws {
        self.key = try TestKey("ABC123DEFG")
        self.senders = SenderDirectory(keys: [self.key.known()])
    }

    /// The team of a token, or the reason of its refusal.
    private func verify(_ authorization: String, now: Instant = Sports.start) -> Result<TeamID, Rejection> {
        do throws(ProviderTokenError) {
            let token = try ProviderToken.parse(authorization: Array(authorization.utf8).span, reader: JSONReader())
            return .success(try self.senders.verify(token, now: now).sender.team)
        } catch {
            return .failure(error.rejection)
        }
    }

    @Test func `a token of a known key speaks for its team`() throws {
        #expect(self.verify(try self.key.providerToken()) == .success(Sports.team))
    }

    @Test func `a token of another team, another key or another signer is refused`() throws {
        let forger = try TestKey("ABC123DEFG")
        let stranger = try TestKey("STRANGER00")
        let forged = [
            try self.key.providerToken(Sports.otherTeam), try self.key.providerToken(kid: KeyID("STRANGER00")),
            try forger.providerToken(), try stranger.providerToken(),
        ]
        #expect(forged.map { self.verify($0) } == Array(repeating: .failure(.invalidProviderToken), count: 4))
    }

    @Test(
        arguments: [
            (0, nil), (3_600_000, nil), (3_600_001, .expiredProviderToken), (-300_000, nil),
            (-300_001, .invalidProviderToken),
        ] as [(Int64, Rejection?)]
    )
    func `a token holds for an hour and may be 5 minutes ahead`(age: Int64, rejection: Rejection?) throws {
        let result = self.verify(try self.key.providerToken(), now: Sports.start + .milliseconds(age))
        #expect(result == (rejection.map { .failure($0) } ?? .success(Sports.team)))
    }

    @Test func `the age of a token that was verified before is checked again`() throws {
        let authorization = Array(try self.key.providerToken().utf8)
        let token = try ProviderToken.parse(authorization: authorization.span, reader: JSONReader())
        let verified = try self.senders.verify(token, now: Sports.start)
        #expect(throws: Never.self) { try self.senders.check(verified, now: Sports.start + .hours(1)) }
        #expect(throws: ProviderTokenError(.expiredProviderToken, "iat is more than 1h ago")) {
            try self.senders.check(verified, now: Sports.start + .hours(1) + .milliseconds(1))
        }
    }

    @Test func `a token that is too old is told the age that is configured`() throws {
        let rules = ProviderTokenRules(ageMax: .minutes(30))
        let senders = SenderDirectory(keys: [self.key.known()], rules: rules)
        let authorization = Array(try self.key.providerToken().utf8)
        let token = try ProviderToken.parse(authorization: authorization.span, reader: JSONReader())
        #expect(throws: ProviderTokenError(.expiredProviderToken, "iat is more than 30m ago")) {
            try senders.verify(token, now: Sports.start + .minutes(30) + .milliseconds(1))
        }
    }

    @Test(
        arguments: [
            ("", SenderActions.all), (", reads: true", [.all, .reads]), (", reads: true, allows: []", .reads),
            (", reads: true, allows: [devices]", [.devices, .reads]), (", reads: false, allows: [hosts]", .hosts),
        ] as [(String, SenderActions)]
    )
    func `a key is for what its entry says, and reads only where that says so`(
        entry: String,
        actions: SenderActions
    ) throws {
        let configuration = try ConfigurationFile.parse("teams: [{id: T, keys: [{id: K, file: k.pem\(entry)}]}]")
            .configuration
        let key = try ES256PrivateKey.generate()
        let senders = try SenderDirectory(configuration) { (_) throws(TLSError) in key.publicKey }
        #expect(senders.keys.key(KeyID("K"))?.sender.actions == actions)
        let printed = ConfigurationFile.text(of: configuration)
        #expect(try ConfigurationFile.parse(printed).configuration == configuration)
    }

    private static let named = """
        teams: [{id: T, keys: [{id: K, file: k.pem, topics: [a.b, a.b.c]}, {id: L, file: l.pem}]}]
        tls: {clientCA: ca.pem}
        apps: [{bundleID: a.b, team: T, extraTopics: [a.b.c], allowedClientCertificates: [{userID: a.b}]}]
        ops: {certificates: [{userID: night, scope: write}]}
        """

    /// The digest of the credentials of a file in which one text is another one.
    private static func digest(
        _ keys: [KeyID: ES256PrivateKey],
        _ old: String = "",
        _ new: String = "",
        tokens: [String] = ["0123456789abcdef read day"]
    ) throws -> UInt64 {
        let text = old.isEmpty ? Self.named : Self.named.replacing(old, with: new)
        try #require(old.isEmpty || text != Self.named)
        var configuration = try ConfigurationFile.parse(text).configuration
        configuration.operators.tokens = tokens.map { Secret($0) }
        let senders = try SenderDirectory(configuration) { key throws(TLSError) in
            guard let known = keys[key.id] else { throw TLSError(.key, "no key \(key.id)") }
            return known.publicKey
        }
        return senders.digest(configuration)
    }

    @Test func `credentials have a digest by which gateways with others are told apart, and no secret is in it`() throws
    {
        let keys = [KeyID("K"): try ES256PrivateKey.generate(), KeyID("L"): try ES256PrivateKey.generate()]
        let own = try Self.digest(keys)
        // Other places of the same, another order, and another secret by the same name.
        #expect(try Self.digest(keys, "k.pem", "other/k.pem") == own)
        #expect(try Self.digest(keys, "a.b, a.b.c", "a.b.c, a.b") == own)
        let (first, second) = ("{id: K, file: k.pem, topics: [a.b, a.b.c]}", "{id: L, file: l.pem}")
        #expect(try Self.digest(keys, "\(first), \(second)", "\(second), \(first)") == own)
        #expect(try Self.digest(keys, tokens: ["fedcba9876543210 read day"]) == own)
        var others = keys
        others[KeyID("L")] = try ES256PrivateKey.generate()
        let differing = [
            try Self.digest(others), try Self.digest(keys, ", \(second)", ""),
            try Self.digest(keys, "a.b, a.b.c", "a.b"),
            try Self.digest(keys, ", topics: [a.b, a.b.c]"),
            try Self.digest(keys, "l.pem", "l.pem, reads: true"),
            try Self.digest(keys, "l.pem", "l.pem, allows: [hosts]"),
            try Self.digest(keys, "{userID: a.b}", "{userID: a.c}"), try Self.digest(keys, "night", "day"),
            try Self.digest(keys, "scope: write", "scope: admin"), try Self.digest(keys, tokens: []),
            try Self.digest(keys, tokens: ["0123456789abcdef write day"]),
            try Self.digest(keys, "apps:", "clientCertificates: {unnamed: topics}\napps:"),
        ]
        #expect(Set(differing + [own]).count == differing.count + 1)
    }

    @Test(arguments: ["", ", reads: false"])
    func `a key that is for nothing is a fault`(entry: String) {
        let fault = #expect(throws: SettingsError.self) {
            try ConfigurationFile.parse("teams: [{id: T, keys: [{id: K, file: k.pem, allows: []\(entry)}]}]")
        }
        #expect(fault.map { "\($0)" }?.contains("set reads for a key that only reads") == true)
    }

    @Test func `a host's credential does not speak for the team whose key signed it`() throws {
        let credential = try self.key.hostCredential(Sports.token("phone"))
        #expect(self.verify(credential) == .failure(.invalidProviderToken))
    }
}

extension SenderDirectory {
    /// Verifies a provider token and its age.
    fileprivate func verify(_ token: ProviderToken, now: Instant) throws(ProviderTokenError) -> VerifiedSender {
        let verified = try self.identify(token)
        try self.check(verified, now: now)
        return verified
    }
}
