import NIOCore

/// The address by which connections of one peer are counted.
///
/// An IPv4 address, also where it comes mapped into IPv6, or the first 64 bits of an IPv6 address: a peer with one
/// address there usually has all of its network.
struct PeerAddress: Hashable, Sendable {
    private let text: String

    /// Nil for peers without an IP address.
    init?(_ address: SocketAddress?) {
        guard let text = address?.ipAddress else { return nil }
        self.init(text)
    }

    /// - Parameter text: As the system writes it.
    init(_ text: String) {
        if text.contains(".") {
            self.text = String(text.split(separator: ":").last ?? "")
            return
        }
        // "::" stands for as many groups of zero as are missing; it comes once.
        let halves = text.split(separator: "%")[0].split(separator: ":", omittingEmptySubsequences: false)
        var groups = halves.prefix { !$0.isEmpty }.map(String.init)
        if groups.count < halves.count {
            let after = halves.drop { !$0.isEmpty }.filter { !$0.isEmpty }.map(String.init)
            groups += Array(repeating: "0", count: max(0, 8 - groups.count - after.count)) + after
        }
        self.text = groups.prefix(4).joined(separator: ":")
    }
}
