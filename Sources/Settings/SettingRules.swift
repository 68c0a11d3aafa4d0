import WidgetModel

/// The rules for the configuration file's texts.
enum SettingRules {
    static func isLetter(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
    }

    static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): true
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"): true
        default: false
        }
    }

    /// Letters, digits, hyphens and dots, with no empty part, as Apple allows in CFBundleIdentifier.
    static func isBundleID(_ text: String) -> Bool {
        let parts = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        return text.utf8.count <= 255
            && parts.allSatisfy { part in
                !part.isEmpty && part.allSatisfy { Self.isLetterOrDigit($0) || $0 == UInt8(ascii: "-") }
            }
    }

    static func isIPv4(_ text: String) -> Bool {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4
            && parts.allSatisfy { part in
                // A leading zero is octal to some programs and decimal to others.
                (part == "0" || part.first != "0") && part.utf8.allSatisfy { (0x30...0x39).contains($0) }
                    && UInt8(part) != nil
            }
    }

    /// Eight groups, or fewer around one `::` (RFC 4291, 2.2); no zone and no embedded IPv4.
    static func isIPv6(_ text: String) -> Bool {
        func count(_ groups: Substring) -> Int? {
            if groups.isEmpty { return 0 }
            let parts = groups.split(separator: ":", omittingEmptySubsequences: false)
            let areHex = parts.allSatisfy { part in
                (1...4).contains(part.utf8.count) && part.utf8.allSatisfy { Base16.digit($0) != nil }
            }
            return areHex ? parts.count : nil
        }
        guard let gap = text.firstRange(of: "::") else { return count(text[...]) == 8 }
        guard let before = count(text[..<gap.lowerBound]), let after = count(text[gap.upperBound...]) else {
            return false
        }
        return before + after <= 7
    }

    /// Whether a host is this machine: a name such as 127.example.com may be any.
    static func isLoopback(_ host: String) -> Bool {
        if host.lowercased() == "localhost" || host == "::1" || host == "0:0:0:0:0:0:0:1" { return true }
        return host.hasPrefix("127.") && Self.isIPv4(host)
    }

    /// The 32 bytes that 64 hex digits spell; colons between them, as `openssl x509 -fingerprint` prints, are allowed.
    static func sha256(_ text: String) -> [UInt8]? {
        let digits = text.utf8.filter { $0 != UInt8(ascii: ":") }
        return digits.count == 64 ? Base16.bytes(of: digits.span) : nil
    }
}
