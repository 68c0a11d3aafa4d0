/// Where a timeline provider is asked: over TLS and HTTP/2, or in plain HTTP/1.1 on this machine alone.
package struct ProviderURL: Hashable, Sendable, CustomStringConvertible {
    package let isSecure: Bool
    /// A name, or an address without brackets.
    package let host: String
    package let port: Int
    /// With the query, as it was written; begins with a slash.
    package let path: String

    package init(isSecure: Bool, host: String, port: Int, path: String) {
        self.isSecure = isSecure
        self.host = host
        self.port = port
        self.path = path
    }

    /// The parts of an absolute URL; nil if it is neither https nor http on a loopback address, or has user information or
    /// a fragment.
    package init?(_ text: String) {
        let isSecure = text.hasPrefix("https://")
        guard isSecure || text.hasPrefix("http://") else { return nil }
        let rest = text.dropFirst(isSecure ? 8 : 7)
        guard text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }), !rest.contains("#"), !rest.contains("@") else {
            return nil
        }
        let end = rest.firstIndex { $0 == "/" || $0 == "?" } ?? rest.endIndex
        guard let (host, port) = Self.authority(rest[..<end], isSecure ? 443 : 80) else { return nil }
        guard isSecure || ["127.0.0.1", "::1", "localhost"].contains(host) else { return nil }
        let path = rest[end...]
        self.init(isSecure: isSecure, host: host, port: port, path: path.hasPrefix("/") ? String(path) : "/\(path)")
    }

    private static func authority(_ text: Substring, _ standard: Int) -> (String, Int)? {
        let host: Substring
        var rest: Substring
        if text.hasPrefix("[") {
            guard let end = text.firstIndex(of: "]") else { return nil }
            host = text[text.index(after: text.startIndex)..<end]
            rest = text[text.index(after: end)...]
        } else {
            let end = text.firstIndex(of: ":") ?? text.endIndex
            host = text[..<end]
            rest = text[end...]
        }
        guard !host.isEmpty else { return nil }
        guard !rest.isEmpty else { return (String(host), standard) }
        rest = rest.dropFirst()
        guard let port = Int(rest), (1...65_535).contains(port), rest.allSatisfy(\.isNumber) else { return nil }
        return (String(host), port)
    }

    /// Host and port as a request names them.
    package var authority: String {
        let name = self.host.contains(":") ? "[\(self.host)]" : self.host
        return self.port == (self.isSecure ? 443 : 80) ? name : "\(name):\(self.port)"
    }

    package var description: String { "\(self.isSecure ? "https" : "http")://\(self.authority)\(self.path)" }
}
