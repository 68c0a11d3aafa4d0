package import WidgetModel

/// A JSON Web Token in compact form with an ES256 signature that is not verified yet (RFC 7515, RFC 7518).
///
/// It reads all forms of real senders: both base64 alphabets, padding, white space inside the JSON, and the signature
/// as raw R || S or as ASN.1 DER. Refused: another or no `alg`, a missing `kid`, `crit`, a member that occurs twice.
package struct CompactToken: Hashable, Sendable {
    /// The longest token in bytes. Those of real senders have 180 to 300.
    package static let bytesMax = 4096
    /// The longest key or team id in bytes. Apple's have ten characters.
    package static let idBytesMax = 64
    /// The most arrays and objects inside one another. Real senders have one.
    package static let depthMax = 8

    package let keyID: KeyID
    package let claims: JSONValue
    /// R || S, 32 bytes each.
    package let signature: [UInt8]
    /// The signed bytes: the first two parts as they were sent, with the full stop between them.
    package let signingInput: [UInt8]

    /// Reads a token. O(bytes).
    package static func parse(
        _ text: Span<UInt8>,
        reader: JSONReader
    ) throws(TokenError) -> CompactToken {
        guard text.count <= Self.bytesMax else {
            throw TokenError("the token has \(text.count) bytes, more than \(Self.bytesMax)")
        }
        guard let first = Self.fullStop(in: text, from: 0), let second = Self.fullStop(in: text, from: first + 1)
        else { throw TokenError("the token does not have three parts") }
        let end = Self.fullStop(in: text, from: second + 1) ?? text.count
        guard end == text.count else { throw TokenError("the token does not have three parts") }
        let header = try Self.json(text.extracting(0..<first), "header", reader)
        guard header["alg"] == .string("ES256") else {
            throw TokenError("the header's alg is not ES256")
        }
        guard header["crit"] == nil else {
            throw TokenError("the header has crit, which is not supported")
        }
        let keyID = try Self.id("kid", of: header)
        let claims = try Self.json(text.extracting((first + 1)..<second), "claims", reader)
        guard let bytes = Base64.decode(text.extracting((second + 1)..<end)) else {
            throw TokenError("the signature is not base64")
        }
        guard let signature = EllipticSignature.raw(bytes) else {
            throw TokenError("the signature is neither 64 bytes nor DER")
        }
        var signingInput: [UInt8] = []
        signingInput.reserveCapacity(second)
        for index in 0..<second { signingInput.append(text[index]) }
        return CompactToken(keyID: KeyID(keyID), claims: claims, signature: signature, signingInput: signingInput)
    }

    private static func fullStop(in text: Span<UInt8>, from start: Int) -> Int? {
        var index = start
        while index < text.count {
            if text[index] == UInt8(ascii: ".") { return index }
            index += 1
        }
        return nil
    }

    private static func json(
        _ part: Span<UInt8>,
        _ name: String,
        _ reader: JSONReader
    ) throws(TokenError) -> JSONValue {
        guard let text = Base64.decode(part) else { throw TokenError("the \(name) part is not base64") }
        let value: JSONValue
        do throws(JSONError) {
            value = try reader.parse(
                text,
                limits: JSONLimits(bytesMax: Self.bytesMax, depthMax: Self.depthMax)
            )
        } catch {
            throw TokenError("the \(name) part is not JSON: \(error)")
        }
        guard case .object = value else { throw TokenError("the \(name) part is \(value.typeName), not an object") }
        return value
    }

    /// A member that must be a short, non-empty string.
    static func id(_ name: String, of object: JSONValue) throws(TokenError) -> String {
        guard case .string(let id) = object[name] else { throw TokenError("\(name) is missing or not a string") }
        guard (1...Self.idBytesMax).contains(id.utf8.count) else {
            throw TokenError("\(name) has \(id.utf8.count) bytes, not 1 to \(Self.idBytesMax)")
        }
        return id
    }

    /// A member that must be a time: seconds since 1970 as a number (RFC 7519 allows a fraction, and Python's
    /// `time.time()` gives one), or, since APNSwift writes it so, as digits in a string. At most the end of the year
    /// 9999, so that milliseconds are refused.
    static func instant(
        _ name: String,
        of object: JSONValue
    ) throws(TokenError) -> Instant {
        let instant: Instant?
        switch object[name] {
        case .int(let seconds): instant = Instant(seconds: seconds)
        case .double(let seconds): instant = Self.instant(seconds)
        case .string(let text): instant = Decimal.parse(text.utf8.span).map { Instant(seconds: $0) }
        case nil: throw TokenError("\(name) is missing")
        default: instant = nil
        }
        guard let instant, (Instant.epoch...Self.latest).contains(instant) else {
            throw TokenError("\(name) is not a time in UNIX seconds")
        }
        return instant
    }

    /// The end of the year 9999.
    private static let latest = Instant(milliseconds: 253_402_300_799_999)

    /// A time in seconds, rounded towards the past to milliseconds; nil for a time outside of about the years 0 to
    /// 10,000, as infinity is.
    private static func instant(_ seconds: Double) -> Instant? {
        guard seconds > -1e11, seconds < 1e12 else { return nil }
        return Instant(milliseconds: Int64(seconds * 1000))
    }

    /// The first two parts of a token, which its signer signs.
    static func signingInput(keyID: KeyID, claims: [JSONValue.Member]) -> [UInt8] {
        let header = JSONValue.object([
            JSONValue.Member(name: "alg", value: .string("ES256")),
            JSONValue.Member(name: "kid", value: .string(keyID.rawValue)),
            JSONValue.Member(name: "typ", value: .string("JWT")),
        ])
        var text: [UInt8] = []
        Base64.encode(header.jsonText.span, into: &text)
        text.append(UInt8(ascii: "."))
        Base64.encode(JSONValue.object(claims).jsonText.span, into: &text)
        return text
    }

    /// The finished token.
    ///
    /// - Parameter signature: R || S, 64 bytes.
    package static func compact(signingInput: [UInt8], signature: [UInt8]) -> [UInt8] {
        var text = signingInput
        text.append(UInt8(ascii: "."))
        Base64.encode(signature.span, into: &text)
        return text
    }
}

/// The fault of a token, for the log; never quotes the token.
package struct TokenError: Error, Hashable, Sendable, CustomStringConvertible {
    package let sentence: String
    package init(_ sentence: String) { self.sentence = sentence }
    package var description: String { self.sentence }
}
