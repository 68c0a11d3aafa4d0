package import WidgetModel

/// The token with which a sender identifies itself: a JWT that its team's key signed. Not verified yet.
///
/// Source: Apple, "Establishing a token-based connection to APNs"; the tolerated dialects are those of real clients
/// (``CompactToken``).
package struct ProviderToken: Hashable, Sendable {
    package let keyID: KeyID
    package let team: TeamID
    package let times: ProviderTokenTimes
    /// R || S, 64 bytes.
    package let signature: [UInt8]
    /// The signed bytes.
    package let signingInput: [UInt8]

    /// Claims of other tokens, which a team's key may sign as well. A token with one of them was not made to speak for
    /// the team: above all a host's credential, also one with a slip in its `aud`.
    private static let foreignClaims = ["aud", "sub", "app", "host", "pushToken"]

    /// Reads an `authorization` value. Allocates; cache the result (``ProviderTokenCache``).
    ///
    /// The scheme is `bearer` in any case, with any white space around it. An empty value, or a scheme without a token,
    /// is `MissingProviderToken`; another scheme is `InvalidProviderToken`, because the sender did try to identify
    /// itself. So is a token with a claim of other tokens, such as a host's credential: the same key signs it, and a
    /// token on a device must not act for its team.
    package static func parse(
        authorization: Span<UInt8>,
        reader: JSONReader
    ) throws(ProviderTokenError) -> ProviderToken {
        let range = try Self.tokenRange(in: authorization)
        do throws(TokenError) {
            let token = try CompactToken.parse(authorization.extracting(range), reader: reader)
            let team = try CompactToken.id("iss", of: token.claims)
            if let foreign = Self.foreignClaims.first(where: { token.claims[$0] != nil }) {
                throw TokenError(
                    "the claim \(foreign) belongs to another kind of token; a provider token has iss and iat"
                )
            }
            func instant(_ name: String) throws(TokenError) -> Instant? {
                token.claims[name] == nil ? nil : try CompactToken.instant(name, of: token.claims)
            }
            return ProviderToken(
                keyID: token.keyID,
                team: TeamID(team),
                times: ProviderTokenTimes(
                    issuedAt: try CompactToken.instant("iat", of: token.claims),
                    notBefore: try instant("nbf"),
                    expiresAt: try instant("exp")
                ),
                signature: token.signature,
                signingInput: token.signingInput
            )
        } catch {
            throw ProviderTokenError(.invalidProviderToken, error.sentence)
        }
    }

    /// Where in an `authorization` value the token itself is.
    package static func tokenRange(
        in value: Span<UInt8>
    ) throws(ProviderTokenError) -> Range<Int> {
        var start = 0
        var end = value.count
        while start < end, Self.isSpace(value[start]) { start += 1 }
        while end > start, Self.isSpace(value[end - 1]) { end -= 1 }
        guard start < end else {
            throw ProviderTokenError(.missingProviderToken, "the header authorization is missing or empty")
        }
        var position = start
        while position < end, !Self.isSpace(value[position]) { position += 1 }
        guard value.extracting(start..<position).spellsIgnoringCase("bearer") else {
            throw ProviderTokenError(.invalidProviderToken, "authorization does not have the scheme bearer")
        }
        while position < end, Self.isSpace(value[position]) { position += 1 }
        guard position < end else {
            throw ProviderTokenError(.missingProviderToken, "authorization has no token after bearer")
        }
        return position..<end
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
}

/// Why a provider token was refused: the reason for the wire, and the text for the log.
package struct ProviderTokenError: Error, Hashable, Sendable, CustomStringConvertible {
    package let rejection: Rejection
    /// Never quotes the token.
    package let sentence: String

    package init(_ rejection: Rejection, _ sentence: String) {
        self.rejection = rejection
        self.sentence = sentence
    }

    package var description: String { "\(self.rejection.rawValue): \(self.sentence)" }
}

/// When a provider token counts, by its own word.
package struct ProviderTokenTimes: Hashable, Sendable {
    /// `iat`.
    package let issuedAt: Instant
    /// `nbf`.
    package let notBefore: Instant?
    /// `exp`.
    package let expiresAt: Instant?

    package init(issuedAt: Instant, notBefore: Instant? = nil, expiresAt: Instant? = nil) {
        self.issuedAt = issuedAt
        self.notBefore = notBefore
        self.expiresAt = expiresAt
    }
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

    /// Refuses a token that is older than ``ageMax``, or whose `exp` has passed (`ExpiredProviderToken`), or whose
    /// `iat` or `nbf` is further ahead than ``futureSkewMax`` (`InvalidProviderToken`). Call it on every use, cached or
    /// not.
    package func check(_ times: ProviderTokenTimes, now: Instant) throws(Rejection) {
        guard now - times.issuedAt <= self.ageMax else { throw .expiredProviderToken }
        if let end = times.expiresAt, now >= end { throw .expiredProviderToken }
        let start = max(times.issuedAt, times.notBefore ?? times.issuedAt)
        guard start - now <= self.futureSkewMax else { throw .invalidProviderToken }
    }
}

/// The claims of a sender's provider token.
package struct ProviderTokenClaims: Hashable, Sendable {
    package let keyID: KeyID
    package let team: TeamID
    package let issuedAt: Instant

    package init(keyID: KeyID, team: TeamID, issuedAt: Instant) {
        self.keyID = keyID
        self.team = team
        self.issuedAt = issuedAt
    }

    /// The bytes for the key to sign; ``CompactToken/compact(signingInput:signature:)`` makes the token from them.
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
