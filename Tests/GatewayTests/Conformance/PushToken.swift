import Settings
import TLS
import WidgetModel
@testable import APNSWire

/// A provider token in any spelling, well signed or not.
struct PushToken: Sendable {
    enum Signature: Sendable {
        /// R || S.
        case raw
        /// ASN.1, as `openssl dgst -sign` writes it.
        case der
        /// The other S of the same R, which is as valid.
        case otherS
        /// One bit is another.
        case altered
        /// Of these bytes, whatever they are.
        case bytes([UInt8])
        /// Over another text.
        case over(String)
    }

    var header = Self.header("TEAMKEY001")
    var claims = Self.claims()
    /// The key that signs.
    var signer = "TEAMKEY001"
    var signature = Signature.raw
    var scheme = "bearer "
    /// Standard base64 with padding, as a2 writes it.
    var isStandardBase64 = false
    /// Added to the end of the token.
    var tail = ""

    static func header(_ kid: String, _ rest: String = "") -> String { #"{"alg":"ES256","kid":"\#(kid)"\#(rest)}"# }

    static func claims(_ rest: String = "", team: String = "TEAM123456", issued: Int64 = 0) -> String {
        #"{"iss":"\#(team)","iat":\#(PushWorld.now + issued)\#(rest)}"#
    }

    /// A token of a key of the configuration, as most senders write it.
    init(of key: String, issued: Int64 = 0) {
        self.header = Self.header(key)
        self.claims = Self.claims(team: Self.team(of: key), issued: issued)
        self.signer = key
    }

    init() {}

    static func team(of key: String) -> String { key == "OTHERKEY01" ? "OTHER12345" : "TEAM123456" }

    /// Made once for each key, so that a thousand requests need no thousand signatures.
    private static let usual: [String: String] = {
        let keys = PushWorld.configuration.teams.flatMap(\.keys).map(\.id.rawValue)
        return Dictionary(uniqueKeysWithValues: keys.map { ($0, PushToken(of: $0).text) })
    }()

    static func usual(of key: String) -> String { Self.usual[key] ?? "no such key" }

    /// The compact token.
    var text: String {
        let input = [self.header, self.claims].map { self.base64(Array($0.utf8)) }.joined(separator: ".")
        return "\(input).\(self.base64(self.signed(input)))\(self.tail)"
    }

    /// Makes the token that many bytes long, by members that mean nothing.
    mutating func fill(to bytes: Int) {
        // Base64 has no text of 1, 5, 9… letters: some lengths need another header.
        for padding in 0..<4 {
            self.header = Self.header("TEAMKEY001", #","p":"\#(String(repeating: "p", count: padding))""#)
            let missing = bytes - self.text.utf8.count + self.base64(Array(self.claims.utf8)).utf8.count
            let count = missing * 6 / 8 - Self.claims(#","x":"""#).utf8.count
            self.claims = Self.claims(#","x":"\#(String(repeating: "x", count: count))""#)
            if self.text.utf8.count == bytes { return }
        }
    }

    var authorization: String { self.scheme + self.text }

    private func signed(_ input: String) -> [UInt8] {
        switch self.signature {
        case .raw: return self.sign(input)
        case .der:
            let raw = self.sign(input)
            let r = Self.integer(raw.prefix(32))
            let s = Self.integer(raw.suffix(32))
            let integers: [UInt8] = [0x02, UInt8(r.count)] + r + [0x02, UInt8(s.count)] + s
            return [0x30, UInt8(integers.count)] + integers
        case .otherS:
            let raw = self.sign(input)
            return raw.prefix(32) + Self.difference(Self.order, Array(raw.suffix(32)))
        case .altered:
            var raw = self.sign(input)
            raw[40] ^= 1
            return raw
        case .bytes(let bytes): return bytes
        case .over(let other): return self.sign(other)
        }
    }

    private func sign(_ input: String) -> [UInt8] {
        do {
            return try PushWorld.key(self.signer).sign(Array(input.utf8).span)
        } catch {
            preconditionFailure("\(error)")
        }
    }

    /// How ASN.1 writes a positive number.
    private static func integer(_ bytes: some Collection<UInt8>) -> [UInt8] {
        let digits = Array(bytes.drop { $0 == 0 })
        return (digits.first ?? 0) >= 0x80 ? [0] + digits : digits
    }

    /// The order of P-256 (SEC 2, 2.4.2).
    static let order: [UInt8] = [
        0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
        0xBC, 0xE6, 0xFA, 0xAD, 0xA7, 0x17, 0x9E, 0x84, 0xF3, 0xB9, 0xCA, 0xC2, 0xFC, 0x63, 0x25, 0x51,
    ]

    private static func difference(_ left: [UInt8], _ right: [UInt8]) -> [UInt8] {
        var result = left
        var borrow = 0
        for index in left.indices.reversed() {
            let digit = Int(left[index]) - Int(right[index]) - borrow
            borrow = digit < 0 ? 1 : 0
            result[index] = UInt8(truncatingIfNeeded: digit)
        }
        return result
    }

    private func base64(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        Base64.encode(bytes.span, into: &text)
        let encoded = String(decoding: text, as: UTF8.self)
        guard self.isStandardBase64 else { return encoded }
        let standard = encoded.replacing("-", with: "+").replacing("_", with: "/")
        return standard + String(repeating: "=", count: (4 - standard.utf8.count % 4) % 4)
    }
}
