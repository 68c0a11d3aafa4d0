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
    /// `MissingProviderToken`; another scheme is `InvalidProviderToken`, since the sender did try to say who it is.
    package static func parse(
        authorization: Span<UInt8>,
        reader: JSONReader
    ) throws(ProviderTokenFault) -> ProviderToken {
        let range = try Self.tokenRange(in: authorization)
        do throws(TokenFault) {
            let token = try CompactToken.parse(authorization.extracting(range), reader: reader)
            return ProviderToken(
                keyID: token.keyID,
                team: TeamID(try CompactToken.id("iss", of: token.claims)),
                issuedAt: Instant(seconds: try CompactToken.seconds("iat", of: token.claims)),
                signature: token.signature,
                signingInput: token.signingInput
            )
        } catch {
            throw ProviderTokenFault(.invalidProviderToken, error.sentence)
        }
    }

    /// Where in an `authorization` value the token itself is.
    package static func tokenRange(in value: Span<UInt8>) throws(ProviderTokenFault) -> Range<Int> {
        var start = 0
        var end = value.count
        while start < end, Self.isSpace(value[start]) { start += 1 }
        while end > start, Self.isSpace(value[end - 1]) { end -= 1 }
        guard start < end else { throw ProviderTokenFault(.missingProviderToken, "authorization is empty") }
        let scheme: StaticString = "bearer"
        var position = start
        while position < end, !Self.isSpace(value[position]) { position += 1 }
        guard position - start == scheme.utf8CodeUnitCount, Self.isBearer(value.extracting(start..<position)) else {
            throw ProviderTokenFault(.invalidProviderToken, "authorization has not the scheme bearer")
        }
        while position < end, Self.isSpace(value[position]) { position += 1 }
        guard position < end else {
            throw ProviderTokenFault(.missingProviderToken, "authorization has no token after bearer")
        }
        return position..<end
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

    /// Whether six bytes are `bearer` in any case.
    private static func isBearer(_ text: Span<UInt8>) -> Bool {
        text[0] | 0x20 == UInt8(ascii: "b") && text[1] | 0x20 == UInt8(ascii: "e")
            && text[2] | 0x20 == UInt8(ascii: "a")
            && text[3] | 0x20 == UInt8(ascii: "r") && text[4] | 0x20 == UInt8(ascii: "e")
            && text[5] | 0x20 == UInt8(ascii: "r")
    }
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
    package func check(issuedAt: Instant, now: Instant) throws(Rejection) {
        guard now - issuedAt <= self.ageMax else { throw .expiredProviderToken }
        guard issuedAt - now <= self.futureSkewMax else { throw .invalidProviderToken }
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
