package import TLS

/// A server by name and port; the scheme is always https.
package struct HTTPOrigin: Hashable, Sendable, CustomStringConvertible {
    /// Lower case; an IPv6 address without its brackets.
    package let host: String
    package let port: Int

    package init(host: String, port: Int) {
        self.host = host.lowercased()
        self.port = port
    }

    package var description: String {
        let name = self.host.contains(":") ? "[\(self.host)]" : self.host
        return self.port == 443 ? "https://\(name)" : "https://\(name):\(self.port)"
    }

    /// Splits an absolute URL into its origin and its path with the query.
    ///
    /// - Returns: Nil for anything but `https://host[:port][/path][?query]` in the characters of RFC 3986: other schemes,
    ///   user names and passwords, and fragments are refused.
    package static func parse(_ url: String) -> (origin: HTTPOrigin, path: String)? {
        let scheme = "https://"
        guard url.utf8.count <= 2048, url.prefix(scheme.count).lowercased() == scheme,
            url.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && !Self.refused.contains($0) })
        else { return nil }
        let rest = url.dropFirst(scheme.count)
        let end = rest.firstIndex { $0 == "/" || $0 == "?" } ?? rest.endIndex
        guard let origin = Self.authority(rest[..<end]) else { return nil }
        let path = String(rest[end...])
        return (origin, path.first == "/" ? path : "/" + path)
    }

    private static let refused = Set("\"<>\\^`{|}#".utf8)

    private static func authority(_ text: Substring) -> HTTPOrigin? {
        guard !text.contains("@") else { return nil }
        var host = text
        var port = 443
        let isBracketed = text.first == "["
        let hostEnd = isBracketed ? text.firstIndex(of: "]").map(text.index(after:)) : text.firstIndex(of: ":")
        if let hostEnd, hostEnd < text.endIndex {
            let digits = text[text.index(after: hostEnd)...]
            guard text[hostEnd] == ":", digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let given = Int(digits),
                (1...65_535).contains(given)
            else { return nil }
            port = given
            host = text[..<hostEnd]
        }
        if isBracketed {
            guard host.last == "]", IPAddress(host.dropFirst().dropLast()) != nil else { return nil }
            return HTTPOrigin(host: String(host.dropFirst().dropLast()), port: port)
        }
        let isName = host.utf8.allSatisfy { byte in
            (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
                || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                || byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".") || byte == UInt8(ascii: "_")
        }
        guard isName, !host.isEmpty, host.utf8.count <= 253 else { return nil }
        return HTTPOrigin(host: String(host), port: port)
    }
}

/// Where a request goes and as whom: all that two requests must agree on to share a connection.
package struct HTTPTarget: Sendable {
    package let origin: HTTPOrigin
    /// A client's context that offers `h2` by ALPN. Two contexts never share a connection, so make one and keep it.
    package let tls: TLSContext
    /// The name that the server's certificate must be for, if it is not the origin's host.
    package let serverName: String?
    package let addresses: HTTPAddressRule
    /// Tells apart requests that must not share a connection for other reasons; APNs, for one, takes one team's pushes
    /// on each.
    package let lane: String

    package init(
        _ origin: HTTPOrigin,
        tls: TLSContext,
        serverName: String? = nil,
        addresses: HTTPAddressRule = .any,
        lane: String = ""
    ) {
        self.origin = origin
        self.tls = tls
        self.serverName = serverName
        self.addresses = addresses
        self.lane = lane
    }

    /// Whether requests to both share connections.
    package func isSameConnections(as other: HTTPTarget) -> Bool { self.key == other.key }

    struct Key: Hashable {
        let origin: HTTPOrigin
        let tls: ObjectIdentifier
        let serverName: String?
        let addresses: HTTPAddressRule
        let lane: String
    }

    var key: Key {
        Key(
            origin: self.origin,
            tls: ObjectIdentifier(self.tls),
            serverName: self.serverName,
            addresses: self.addresses,
            lane: self.lane
        )
    }
}
