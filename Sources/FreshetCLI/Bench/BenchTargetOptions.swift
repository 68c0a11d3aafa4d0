import ArgumentParser
import Foundation
import LoadGenerator
import TLS

/// Which server a load goes to, where it is not one of its own.
struct BenchTargetOptions: ParsableArguments {
    @Option(help: "The server's numeric address.") var host = "127.0.0.1"
    @Option(help: "Its port for pushes; without it bench starts a gateway of its own.") var pushPort: Int?
    @Option(help: "A gateway's port for hosts; without it only pushes can be sent.") var hostPort: Int?
    @Option(help: "The CA that signed the server's certificate, a PEM file; the system's roots if not given.")
    var ca: String?
    @Option(help: "The name in the server's certificate.") var serverName = "localhost"
    @OptionGroup var credential: CredentialOptions
    @Option(help: "The server's process on this machine, whose CPU time is counted.") var serverPID: Int32?
    @Flag(help: "Allow a server that is not on this machine; needs --rate-cap.") var remote = false
    @Option(help: "Operations a second that no load of the scenario may pass.") var rateCap: Double?

    func validate() throws {
        guard self.pushPort == nil, self.host == "127.0.0.1", !self.remote else {
            guard self.pushPort != nil else { throw ValidationError("--host and --remote go with --push-port") }
            let isLoopback = self.host == "::1" || self.host.split(separator: ".").first == "127"
            guard isLoopback || self.remote else {
                throw ValidationError(
                    "\(self.host) is not this machine: a load on somebody else's server is an attack. If it is yours, "
                        + "say --remote and --rate-cap"
                )
            }
            guard isLoopback || self.rateCap != nil else {
                throw ValidationError("--remote needs --rate-cap, so that a mistake stays a small one")
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
