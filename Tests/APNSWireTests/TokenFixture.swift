@testable import APNSWire

/// JSON Web Tokens in the spellings of real senders. The signatures are made up: nothing here verifies them.
struct TokenFixture {
    var header = #"{"alg":"ES256","kid":"ABC123DEFG"}"#
    var claims = #"{"iss":"TEAM123456","iat":1700000000}"#
    var signature = Self.raw
    var scheme = "bearer "
    /// a2 writes standard base64 with padding.
    var isStandardBase64 = false

    static let r: [UInt8] = (0..<32).map { UInt8($0 * 3 + 1) }
    static let s: [UInt8] = (0..<32).map { UInt8(200 - $0) }
    static let raw = Self.r + Self.s

    /// DER of two integers given as their content bytes.
    static func der(_ r: [UInt8], _ s: [UInt8]) -> [UInt8] {
        let content = [0x02, UInt8(r.count)] + r + [0x02, UInt8(s.count)] + s
        return [0x30, UInt8(content.count)] + content
    }

    /// How ASN.1 writes a positive number of 32 bytes.
    static func integer(_ bytes: [UInt8]) -> [UInt8] {
        let digits = Array(bytes.drop { $0 == 0 })
        guard let first = digits.first else { return [0] }
        return first >= 0x80 ? [0] + digits : digits
    }

    var authorization: [UInt8] {
        let parts = [Array(self.header.utf8), Array(self.claims.utf8), self.signature].map(self.base64)
        return Array(self.scheme.utf8) + parts[0] + [0x2E] + parts[1] + [0x2E] + parts[2]
    }

    private func base64(_ bytes: [UInt8]) -> [UInt8] {
        var text: [UInt8] = []
        Base64.encode(bytes.span, into: &text)
        guard self.isStandardBase64 else { return text }
        text = text.map {
            $0 == UInt8(ascii: "-") ? UInt8(ascii: "+") : $0 == UInt8(ascii: "_") ? UInt8(ascii: "/") : $0
        }
        while !text.count.isMultiple(of: 4) { text.append(UInt8(ascii: "=")) }
        return text
    }
}
