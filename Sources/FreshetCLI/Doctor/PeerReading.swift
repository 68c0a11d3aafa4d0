import Delivery
import Gateway
import HTTPTransport
import NIOCore
import NIOPosix
import Settings

/// The servers that a gateway sends to and asks, each connected to once.
struct PeerReading: Sendable {
    /// One of them: over TLS, or in plain HTTP on this machine.
    private struct Peer {
        let subject: String
        let place: String
        let host: String
        let port: Int
        let target: HTTPTarget?

        /// In plain HTTP on this machine.
        init(_ subject: String, _ url: ProviderURL) {
            self.subject = subject
            self.place = "\(url)"
            (self.host, self.port) = (url.host, url.port)
            self.target = nil
        }

        init(_ subject: String, _ target: HTTPTarget) {
            self.subject = subject
            self.place = "\(target.origin)"
            (self.host, self.port) = (target.origin.host, target.origin.port)
            self.target = target
        }
    }

    private let peers: [Peer]
    private let timeout: TimeAmount

    /// Reads the credentials and authorities that the configuration names.
    ///
    /// - Parameter seconds: How long one connection may take.
    /// - Throws: The fault of a file.
    init(_ configuration: GatewayConfiguration, seconds: Int) throws {
        let plans = try DeliveryPlans(configuration)
        var peers: [Peer] = []
        for (index, app) in configuration.apps.enumerated() {
            let targets = [
                ("upstream", plans.upstreams[app.bundleID]?.target), ("webhook", plans.webhooks[app.bundleID]?.target),
                ("receipts", plans.receipts[app.bundleID]?.target),
            ]
            for (name, target) in targets {
                if let target { peers.append(Peer("apps[\(index)].\(name)", target)) }
            }
            for (place, kind) in app.kinds.enumerated() {
                guard let provider = kind.timelineProvider else { continue }
                let subject = "apps[\(index)].kinds[\(place)].timelineProvider"
                if let target = try ProviderConnections.target(provider) {
                    peers.append(Peer(subject, target))
                } else {
                    peers.append(Peer(subject, provider.url))
                }
            }
        }
        self.peers = peers
        self.timeout = .seconds(Int64(seconds))
    }

    /// Connects to all at once. In the order of the configuration.
    func run() async -> [Checkup.PeerReading] {
        await withTaskGroup(of: (Int, Checkup.PeerReading).self) { group in
            for (index, peer) in self.peers.enumerated() {
                group.addTask {
                    let failure = await self.failure(of: peer)
                    return (index, Checkup.PeerReading(subject: peer.subject, place: peer.place, failure: failure))
                }
            }
            var found: [(Int, Checkup.PeerReading)] = []
            for await one in group { found.append(one) }
            return found.sorted { $0.0 < $1.0 }.map(\.1)
        }
    }

    /// Why there is no connection; nil if there was one.
    private func failure(of peer: Peer) async -> String? {
        let group = MultiThreadedEventLoopGroup.singleton
        do {
            if let target = peer.target {
                var configuration = HTTP2ClientConfiguration()
                configuration.connectTimeout = self.timeout
                configuration.handshakeTimeout = self.timeout
                try await HTTP2ClientConnection.connect(to: target, on: group, configuration: configuration).close()
            } else {
                let bootstrap = ClientBootstrap(group: group).connectTimeout(self.timeout)
                try await bootstrap.connect(host: peer.host, port: peer.port).get().close()
            }
            return nil
        } catch {
            return ConnectionFailure.sentence(error)
        }
    }
}
