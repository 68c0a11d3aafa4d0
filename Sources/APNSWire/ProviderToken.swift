package import WidgetModel

/// The token by which a sender says who it is: a JWT that its team's key signed. Not verified yet.
///
/// Source: Apple, "Establishing a token-based connection to APNs"; the tolerated dialects are those of real clients
/// (``CompactToken``).
package struct ProviderToken: Hashable, Sendable {
    package let keyID: KeyID
    package let team: TeamID
    package let issuedAt: Instant
    /// R || S, 64 bytes.
    package let signature: [UInt8]
    /// What the signature is over.
    package let signingInput: [UInt8]

    /// Reads an `authorization` value. Allocates; cache what comes of it (``ProviderTokenCache``).
    ///
    /// The scheme is `bearer` in any case, with any white space around it. Nothing, or a scheme without a token, is
    /// `MissingProviderToken`; another scheme is `InvalidProviderToken`, since the sender did try to say who it is. So is
    /// a host's credential: it is signed by the same key, and what a device holds must not speak for its team.
    package static func parse(
        authorization: Span<UInt8>,
        reader: JSONReader,
        rules: PushRules = .all
    ) throws(ProviderTokenFault) -> ProviderToken {
        let range = try Self.tokenRange(in: authorization, rules: rules)
        do throws(TokenFault) {
            let token = try CompactToken.parse(authorization.extracting(range), reader: reader, rules: rules)
            let team = try CompactToken.id("iss", of: token.claims, rules)
            guard rules.met(.audience, !HostCredential.isAudience(token.claims["aud"])) else {
                throw TokenFault("the token is the credential of a host")
            }
            return ProviderToken(
                keyID: token.keyID,
                team: TeamID(team),
                issuedAt: try CompactToken.instant("iat", of: token.claims, rules),
                signature: token.signature,
                signingInput: token.signingInput
            )
        } catch {
            throw ProviderTokenFault(.invalidProviderToken, error.sentence)
        }
    }

    /// Where in an `authorization` value the token itself is.
    package static func tokenRange(
        in value: Span<UInt8>,
        rules: PushRules = .all
    ) throws(ProviderTokenFault) -> Range<Int> {
        var start = 0
        var end = value.count
        while start < end, Self.isSpace(value[start]) { start += 1 }
        while end > start, Self.isSpace(value[end - 1]) { end -= 1 }
        guard rules.met(.credentialsPresent, start < end) else {
            throw ProviderTokenFault(.missingProviderToken, "there is no authorization, or an empty one")
        }
        var position = start
        while position < end, !Self.isSpace(value[position]) { position += 1 }
        guard rules.met(.scheme, value.extracting(start..<position).spellsIgnoringCase("bearer")) else {
            throw ProviderTokenFault(.invalidProviderToken, "authorization has not the scheme bearer")
        }
        while position < end, Self.isSpace(value[position]) { position += 1 }
        guard rules.met(.credentialsPresent, position < end) else {
            throw ProviderTokenFault(.missingProviderToken, "authorization has no token after bearer")
        }
        return position..<end
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
}

/// Why a provider token was refused: what goes on the wire, and what goes into the log.
package struct ProviderTokenFault: Error, Hashable, Sendable, CustomStringConvertible {
    package let rejection: Rejection
    /// Never quotes the token.
    package let sentence: String

    package init(_ rejection: Rejection, _ sentence: String) {
        self.rejection = rejection
        self.sentence = sentence
    }

    package var description: String { "\(self.rejection.rawValue): \(self.sentence)" }
}

/// How old a provider token may be.
package struct ProviderTokenRules: Hashable, Sendable {
    /// The greatest age. Default one hour, as at APNs.
    package var ageMax: Interval
    /// How far ahead of ours a sender's clock may be. Default 5 min; Apple publishes no number.
    package var futureSkewMax: Interval

    package init(ageMax: Interval = .hours(1), futureSkewMax: Interval = .minutes(5)) {
        self.ageMax = ageMax
        self.futureSkewMax = futureSkewMax
    }

    /// Refuses a token that is older than ``ageMax`` (`ExpiredProviderToken`) or from further ahead than
    /// ``futureSkewMax`` (`InvalidProviderToken`). Ask on every use, cached or not.
    package func check(issuedAt: Instant, now: Instant, rules: PushRules = .all) throws(Rejection) {
        guard rules.met(.issuedAtAge, now - issuedAt <= self.ageMax) else { throw .expiredProviderToken }
        guard rules.met(.issuedAtFuture, issuedAt - now <= self.futureSkewMax) else { throw .invalidProviderToken }
    }
}

/// What a sender puts into a provider token.
package struct ProviderTokenClaims: Hashable, Sendable {
    package let keyID: KeyID
    package let team: TeamID
    package let issuedAt: Instant

    package init(keyID: KeyID, team: TeamID, issuedAt: Instant) {
        self.keyID = keyID
        self.team = team
        self.issuedAt = issuedAt
    }

    /// What the key signs; ``CompactToken/compact(signingInput:signature:)`` makes the token of it.
    package var signingInput: [UInt8] {
        CompactToken.signingInput(
            keyID: self.keyID,
            claims: [
                JSONValue.Member(name: "iss", value: .string(self.team.rawValue)),
                JSONValue.Member(name: "iat", value: .int(self.issuedAt.seconds)),
            ]
        )
    }
}
