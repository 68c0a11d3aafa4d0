import ArgumentParser
import Foundation
import LoadGenerator
import TLS

/// Which server a load goes to, where it is not one of its own.
struct BenchTargetOptions: ParsableArguments {
    @Option(help: "The server's numeric address.") var host = "127.0.0.1"
    @Option(help: "The server's port for pushes; without it, bench starts a gateway of its own.") var pushPort: Int?
    @Option(help: "The gateway's port for hosts; without it, bench can only send pushes.") var hostPort: Int?
    @Option(help: "The CA that signed the server's certificate, a PEM file. Default: the system's CAs.")
    var ca: String?
    @Option(help: "The name in the server's certificate.") var serverName = "localhost"
    @OptionGroup var credential: CredentialOptions
    @Option(help: "The id of the server's process on this machine, to measure its CPU time.") var serverPID: Int32?
    @Flag(help: "Allow a server that is not on this machine; needs --rate-cap.") var remote = false
    @Option(help: "The most operations a second that any load of the scenario may make.") var rateCap: Double?

    func validate() throws {
        guard self.pushPort == nil, self.host == "127.0.0.1", !self.remote else {
            guard self.pushPort != nil else { throw ValidationError("--host and --remote need --push-port") }
            let isLoopback = self.host == "::1" || self.host.split(separator: ".").first == "127"
            guard isLoopback || self.remote else {
                throw ValidationError(
                    "\(self.host) is not this machine. A load on a server of others is an attack. If the server is yours, "
                        + "give --remote and --rate-cap"
                )
            }
            guard isLoopback || self.rateCap != nil else {
                throw ValidationError("--remote needs --rate-cap, which limits the harm of a mistake")
            }
            return
        }
    }

    func target() throws -> LoadTarget {
        guard let pushPort else { throw ValidationError("--push-port is missing") }
        var options = self.credential.settings
        options[.server] = "https://\(self.host.contains(":") ? "[\(self.host)]" : self.host)"
        let access = try GatewayAccess(
            .push,
            options: options.compactMapValues { $0 },
            environment: ProcessInfo.processInfo.environment
        )
        return LoadTarget(
            address: self.host,
            pushPort: pushPort,
            hostPort: self.hostPort,
            serverName: self.serverName,
            tls: try TLSContext.client(
                TLSClientConfiguration(trust: self.ca.map { .roots(.file($0)) } ?? .system, alpn: ["h2"])
            ),
            token: try self.credential.providerToken(access) ?? "none",
            rateCap: self.rateCap
        )
    }
}
