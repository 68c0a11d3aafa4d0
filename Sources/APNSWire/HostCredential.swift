package import WidgetModel

/// The credential by which a host says that it holds a push token: a JWT that the app's back end minted with its
/// provider key. Not verified yet.
package struct HostCredential: Hashable, Sendable {
    /// The value of `aud`, alone or in a list: it separates these from provider tokens of the same key.
    package static let audience = "freshet-host"
    /// The longest push token in hex digits.
    package static let tokenDigitsMax = 400
    /// The longest host id in bytes.
    package static let hostBytesMax = 128

    package let keyID: KeyID
    package let claims: HostCredentialClaims
    /// R || S, 64 bytes.
    package let signature: [UInt8]
    /// The signed bytes.
    package let signingInput: [UInt8]

    /// Reads the value of an `authorization` header: `bearer` in any case and the token.
    package static func parse(authorization: Span<UInt8>, reader: JSONReader) throws(TokenError) -> HostCredential {
        let range: Range<Int>
        do throws(ProviderTokenError) {
            range = try ProviderToken.tokenRange(in: authorization)
        } catch {
            throw TokenError(error.sentence)
        }
        return try Self.parse(token: authorization.extracting(range), reader: reader)
    }

    /// Reads a bare token.
    package static func parse(token: Span<UInt8>, reader: JSONReader) throws(TokenError) -> HostCredential {
        let token = try CompactToken.parse(token, reader: reader)
        guard Self.isAudience(token.claims["aud"]) else { throw TokenError("aud is not \(Self.audience)") }
        guard case .string(let app) = token.claims["app"], !app.isEmpty, app.utf8.count <= PushRoute.bundleBytesMax
        else { throw TokenError("app is not a bundle id") }
        guard case .string(let hex) = token.claims["sub"], hex.utf8.count <= Self.tokenDigitsMax,
            let pushToken = DeviceToken(hex: hex)
        else { throw TokenError("sub is not a push token in hex") }
        let host: HostID?
        switch token.claims["host"] {
        case nil: host = nil
        case .string(let id) where (1...Self.hostBytesMax).contains(id.utf8.count): host = HostID(id)
        default: throw TokenError("host is not a host id of 1 to \(Self.hostBytesMax) bytes")
        }
        return HostCredential(
            keyID: token.keyID,
            claims: HostCredentialClaims(
                team: TeamID(try CompactToken.id("iss", of: token.claims)),
                app: BundleID(app),
                pushToken: pushToken,
                host: host,
                issuedAt: try CompactToken.instant("iat", of: token.claims),
                notBefore: token.claims["nbf"] == nil ? nil : try CompactToken.instant("nbf", of: token.claims),
                expiresAt: try CompactToken.instant("exp", of: token.claims)
            ),
            signature: token.signature,
            signingInput: token.signingInput
        )
    }

    /// Whether an `aud` makes a token a host's credential.
    static func isAudience(_ value: JSONValue?) -> Bool {
        switch value {
        case .string(let audience): audience == Self.audience
        case .array(let audiences): audiences.contains(.string(Self.audience))
        default: false
        }
    }
}

/// The claims of a host credential.
package struct HostCredentialClaims: Hashable, Sendable {
    package let team: TeamID
    package let app: BundleID
    package let pushToken: DeviceToken
    /// The host of the app that the push token is of, as the app's back end says; nil if it does not say.
    package let host: HostID?
    package let issuedAt: Instant
    /// `nbf`: the start of its validity, if that is later.
    package let notBefore: Instant?
    package let expiresAt: Instant

    package init(
        team: TeamID,
        app: BundleID,
        pushToken: DeviceToken,
        host: HostID? = nil,
        issuedAt: Instant,
        notBefore: Instant? = nil,
        expiresAt: Instant
    ) {
        self.team = team
        self.app = app
        self.pushToken = pushToken
        self.host = host
        self.issuedAt = issuedAt
        self.notBefore = notBefore
        self.expiresAt = expiresAt
    }

    /// The bytes for a key to sign; ``CompactToken/compact(signingInput:signature:)`` makes the credential from them.
    package func signingInput(keyID: KeyID) -> [UInt8] {
        var claims = [
            JSONValue.Member(name: "iss", value: .string(self.team.rawValue)),
            JSONValue.Member(name: "aud", value: .string(HostCredential.audience)),
            JSONValue.Member(name: "app", value: .string(self.app.rawValue)),
            JSONValue.Member(name: "sub", value: .string(self.pushToken.hex)),
            JSONValue.Member(name: "iat", value: .int(self.issuedAt.seconds)),
            JSONValue.Member(name: "exp", value: .int(self.expiresAt.seconds)),
        ]
        if let notBefore { claims.append(JSONValue.Member(name: "nbf", value: .int(notBefore.seconds))) }
        if let host = self.host { claims.append(JSONValue.Member(name: "host", value: .string(host.rawValue))) }
        return CompactToken.signingInput(keyID: keyID, claims: claims)
    }
}

/// When a host credential holds.
package struct HostCredentialRules: Hashable, Sendable {
    /// How far apart the clocks of minter and gateway may be. Default 5 min.
    package var skewMax: Interval
    /// The longest time from `iat` to `exp`. Default 90 days: a credential that never ends cannot be outgrown.
    package var lifetimeMax: Interval

    package init(skewMax: Interval = .minutes(5), lifetimeMax: Interval = .days(90)) {
        self.skewMax = skewMax
        self.lifetimeMax = lifetimeMax
    }

    /// Refuses claims that have run out, begin later or last too long. Ask on every use.
    package func check(_ claims: HostCredentialClaims, now: Instant) throws(TokenError) {
        guard claims.issuedAt < claims.expiresAt else { throw TokenError("exp is not after iat") }
        guard claims.expiresAt - claims.issuedAt <= self.lifetimeMax else {
            throw TokenError("the credential is valid for longer than allowed")
        }
        guard claims.issuedAt - now <= self.skewMax else { throw TokenError("iat is in the future") }
        guard claims.notBefore.map({ $0 - now <= self.skewMax }) ?? true else {
            throw TokenError("nbf is in the future")
        }
        guard now - claims.expiresAt < self.skewMax else { throw TokenError("the credential has expired") }
    }
}
