import NIOCore

/// An IP address as 16 bytes; IPv4 is mapped into IPv6 (`::ffff:a.b.c.d`, RFC 4291, 2.5.5.2).
package struct IPAddress: Hashable, Sendable {
    package let bytes: [UInt8]

    /// - Parameter text: An address in the usual notation, without brackets; a zone (`%eth0`) is dropped.
    package init?(_ text: some StringProtocol) {
        let address = text.split(separator: "%", omittingEmptySubsequences: false).first ?? ""
        guard let bytes = address.contains(":") ? Self.v6(address) : Self.v4(address).map(Self.mapped) else {
            return nil
        }
        self.bytes = bytes
    }

    /// - Parameter bytes: As on the wire, 4 or 16 of them.
    package init?(networkBytes bytes: [UInt8]) {
        switch bytes.count {
        case 4: self.bytes = Self.mapped(bytes)
        case 16: self.bytes = bytes
        default: return nil
        }
    }

    init?(_ address: SocketAddress) {
        guard let text = address.ipAddress else { return nil }
        self.init(text)
    }

    /// The IPv4 address that this one stands for, if it is one: mapped, translated by NAT64 (RFC 6052) or 6to4 (RFC 3056).
    var embeddedV4: IPAddress? {
        if Self.isMapped(self.bytes) { return self }
        if self.bytes[..<12].elementsEqual([0, 0x64, 0xFF, 0x9B, 0, 0, 0, 0, 0, 0, 0, 0]) {
            return IPAddress(bytes: Self.mapped(Array(self.bytes[12...])))
        }
        if self.bytes[0] == 0x20, self.bytes[1] == 0x02 {
            return IPAddress(bytes: Self.mapped(Array(self.bytes[2..<6])))
        }
        return nil
    }

    private init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    static func isMapped(_ bytes: [UInt8]) -> Bool {
        bytes[..<10].allSatisfy { $0 == 0 } && bytes[10] == 0xFF && bytes[11] == 0xFF
    }

    private static func mapped(_ four: [UInt8]) -> [UInt8] {
        Array(repeating: 0, count: 10) + [0xFF, 0xFF] + four
    }

    private static func v4(_ text: some StringProtocol) -> [UInt8]? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 4 else { return nil }
        let bytes = parts.compactMap { part -> UInt8? in
            // Some parsers take a leading zero for octal, so an address with one would be ambiguous.
            guard !part.isEmpty, part.count <= 3, part == "0" || part.first != "0" else { return nil }
            return part.allSatisfy { $0.isASCII && $0.isNumber } ? UInt8(part) : nil
        }
        return bytes.count == 4 ? bytes : nil
    }

    private static func v6(_ text: some StringProtocol) -> [UInt8]? {
        // "::" stands for as many groups of zero as are missing; it comes once.
        let gaps = text.indices.dropLast().filter { text[$0] == ":" && text[text.index(after: $0)] == ":" }
        guard let gap = gaps.first else {
            let bytes = Self.groups(text)
            return bytes?.count == 16 ? bytes : nil
        }
        guard gaps.count == 1, let head = Self.groups(text[..<gap]),
            let tail = Self.groups(text[text.index(gap, offsetBy: 2)...]), head.count + tail.count <= 14
        else { return nil }
        return head + Array(repeating: 0, count: 16 - head.count - tail.count) + tail
    }

    private static func groups(_ text: some StringProtocol) -> [UInt8]? {
        guard !text.isEmpty else { return [] }
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        var bytes: [UInt8] = []
        for (index, part) in parts.enumerated() {
            if index == parts.count - 1, part.contains(".") {
                guard let four = Self.v4(part) else { return nil }
                bytes += four
                continue
            }
            guard (1...4).contains(part.count), part.allSatisfy({ $0.isASCII && $0.isHexDigit }),
                let group = UInt16(part, radix: 16)
            else { return nil }
            bytes += [UInt8(group >> 8), UInt8(group & 0xFF)]
        }
        return bytes
    }
}

/// All addresses that begin with the same bits, such as `10.0.0.0/8` or `fd00::/8`.
package struct IPNetwork: Hashable, Sendable, CustomStringConvertible {
    private let base: [UInt8]
    /// Of the 128 bits.
    private let prefixLength: Int
    package let description: String

    /// - Parameter text: `address/length`, or one address.
    package init?(_ text: String) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard (1...2).contains(parts.count), let address = IPAddress(parts[0]) else { return nil }
        let isV4 = !parts[0].contains(":")
        let bits = isV4 ? 32 : 128
        var length = bits
        if parts.count == 2 {
            guard let given = Int(parts[1]), (0...bits).contains(given) else { return nil }
            length = given
        }
        self.base = address.bytes
        self.prefixLength = isV4 ? 96 + length : length
        self.description = text
    }

    package func contains(_ address: IPAddress) -> Bool {
        let whole = self.prefixLength / 8
        guard address.bytes[..<whole] == self.base[..<whole] else { return false }
        let rest = self.prefixLength % 8
        return rest == 0 || (address.bytes[whole] ^ self.base[whole]) >> (8 - UInt8(rest)) == 0
    }
}
