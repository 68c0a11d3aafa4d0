import Serving
import TLS
import WidgetModel
@testable import APNSWire

/// A provider key and what it signs.
struct TestKey {
    let id: KeyID
    let team: TeamID
    private let key: ES256PrivateKey

    init(_ id: String, _ team: TeamID = Sports.team) throws {
        self.id = KeyID(id)
        self.team = team
        self.key = try ES256PrivateKey.generate()
    }

    /// The key as the configuration would name it, for one app.
    ///
    /// - Parameters:
    ///   - actions: Its rights.
    ///   - topics: The only topics that it is for; nil for all of the app's.
    func known(
        _ app: BundleID = Sports.app,
        number: Int = 0,
        actions: SenderActions = .all,
        topics: [String]? = nil
    ) -> SenderDirectory.Key {
        let topics = TopicTable([TopicTable.App(number: number, bundle: app)], limitedTo: topics)
        return SenderDirectory.Key(
            sender: Sender(team: self.team, keyID: self.id, topics: topics, actions: actions),
            publicKey: self.key.publicKey
        )
    }

    private func bearer(_ input: [UInt8]) throws -> String {
        let signature = try self.key.sign(input.span)
        return "bearer "
            + String(decoding: CompactToken.compact(signingInput: input, signature: signature), as: UTF8.self)
    }

    func providerToken(_ team: TeamID? = nil, kid: KeyID? = nil, issuedAt: Instant = Sports.start) throws -> String {
        try self.bearer(
            ProviderTokenClaims(keyID: kid ?? self.id, team: team ?? self.team, issuedAt: issuedAt).signingInput
        )
    }

    func hostCredential(
        _ token: DeviceToken,
        of host: String? = nil,
        app: BundleID = Sports.app,
        team: TeamID? = nil,
        issuedAt: Instant = Sports.start,
        lasting lifetime: Interval = .days(30)
    ) throws -> String {
        let claims = HostCredentialClaims(
            team: team ?? self.team,
            app: app,
            pushToken: token,
            host: host.map { HostID($0) },
            issuedAt: issuedAt,
            expiresAt: issuedAt + lifetime
        )
        return try self.bearer(claims.signingInput(keyID: self.id))
    }

    /// A token with these claims.
    func token(_ claims: String) throws -> String {
        guard case .object(let members) = try json(claims) else { preconditionFailure("claims are an object") }
        return try self.bearer(CompactToken.signingInput(keyID: self.id, claims: members))
    }
}
