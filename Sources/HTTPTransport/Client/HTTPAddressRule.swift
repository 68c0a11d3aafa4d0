import NIOCore

/// Which addresses a client may connect to. It is asked with the address that is about to be connected to, after its name
/// was resolved, so that a name cannot be made to point elsewhere in between.
package enum HTTPAddressRule: Hashable, Sendable {
    case any
    /// Addresses that the public Internet reaches, and those of these networks.
    ///
    /// For URLs that untrusted peers give: they must not reach addresses that only this machine can reach (server-side
    /// request forgery).
    case publicOnly(allowed: [IPNetwork])

    /// Why an address is refused; nil if it is not.
    package func refusal(of address: IPAddress) -> String? {
        guard case .publicOnly(let allowed) = self else { return nil }
        guard !allowed.contains(where: { $0.contains(address) }) else { return nil }
        let judged = address.embeddedV4 ?? address
        return Self.special.first { $0.network.contains(judged) }?.what
    }

    func refusal(of address: SocketAddress) -> String? {
        guard self != .any else { return nil }
        guard let address = IPAddress(address) else { return "not an IP address" }
        return self.refusal(of: address)
    }

    /// The networks that are not on the public Internet. Source: the IANA registries of special-purpose addresses (RFC
    /// 6890), and multicast.
    private static let special: [(network: IPNetwork, what: String)] = [
        ("0.0.0.0/8", "this network"), ("10.0.0.0/8", "private"), ("100.64.0.0/10", "shared by a carrier"),
        ("127.0.0.0/8", "loopback"), ("169.254.0.0/16", "link-local"), ("172.16.0.0/12", "private"),
        ("192.0.0.0/24", "reserved"), ("192.0.2.0/24", "for documentation"), ("192.88.99.0/24", "reserved"),
        ("192.168.0.0/16", "private"), ("198.18.0.0/15", "for benchmarks"), ("198.51.100.0/24", "for documentation"),
        ("203.0.113.0/24", "for documentation"), ("224.0.0.0/4", "multicast"), ("240.0.0.0/4", "reserved"),
        ("::/96", "loopback or unspecified"), ("64:ff9b:1::/48", "private"), ("100::/64", "discarded"),
        ("2001::/23", "reserved"), ("2001:db8::/32", "for documentation"), ("3fff::/20", "for documentation"),
        ("5f00::/16", "reserved"), ("fc00::/7", "private"), ("fe80::/10", "link-local"), ("fec0::/10", "private"),
        ("ff00::/8", "multicast"),
    ].compactMap { text, what in IPNetwork(text).map { ($0, what) } }
}

/// Asks the rule when the channel connects, and fails the connecting if it says no.
///
/// NIO's happy eyeballs (RFC 8305) makes a channel for every address of a name, so this handler sees them all.
final class AddressGuardHandler: ChannelOutboundHandler {
    typealias OutboundIn = ByteBuffer
    private let rule: HTTPAddressRule

    init(_ rule: HTTPAddressRule) {
        self.rule = rule
    }

    func connect(context: ChannelHandlerContext, to address: SocketAddress, promise: EventLoopPromise<Void>?) {
        guard let why = self.rule.refusal(of: address) else { return context.connect(to: address, promise: promise) }
        promise?.fail(
            HTTPTransportError(
                .addressRefused,
                "\(address.ipAddress ?? "an address") is \(why); requests of this kind may only go to public addresses and to those that the configuration allows",
                isUnprocessed: true
            )
        )
    }
}
