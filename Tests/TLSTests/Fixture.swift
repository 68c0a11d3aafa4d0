import TLS

/// Certificates for the tests, made when the first test asks and never stored.
struct Fixture {
    static let shared = Result { try Fixture() }

    let authority: CertificateAuthority
    /// For localhost, *.apps.example.net, 127.0.0.1 and ::1.
    let server: IssuedCertificate

    private init() throws {
        self.authority = try .make(commonName: "Freshet test root")
        self.server = try self.authority.issueServer(
            dnsNames: ["localhost", "*.apps.example.net"],
            ipAddresses: ["127.0.0.1", "::1"]
        )
    }

    var roots: PEMSource { .text(self.authority.certificatePEM) }

    func serverContext(
        identity: IssuedCertificate? = nil,
        alpn: [String] = ["h2"],
        missingALPN: TLSServerConfiguration.MissingALPN = .refuse,
        clientCertificate: TLSServerConfiguration.ClientCertificate = .none,
        versions: ClosedRange<TLSVersion> = .v1_2 ... .v1_3
    ) throws -> TLSContext {
        try .server(
            TLSServerConfiguration(
                identity: (identity ?? self.server).identity,
                alpn: alpn,
                missingALPN: missingALPN,
                clientCertificate: clientCertificate,
                versions: versions
            )
        )
    }

    func clientContext(
        trust: TLSClientConfiguration.Trust? = nil,
        identity: IssuedCertificate? = nil,
        alpn: [String] = ["h2"],
        versions: ClosedRange<TLSVersion> = .v1_2 ... .v1_3
    ) throws -> TLSContext {
        try .client(
            TLSClientConfiguration(
                trust: trust ?? .roots(self.roots),
                identity: identity?.identity,
                alpn: alpn,
                versions: versions
            )
        )
    }
}

extension Wire {
    /// A wire whose handshake is complete.
    static func ready(version: TLSVersion = .v1_3) throws -> Wire {
        let fixture = try Fixture.shared.get()
        var wire = try Wire(client: fixture.clientContext(), server: fixture.serverContext(versions: version...version))
        try wire.settle()
        return wire
    }

    /// Settles, and returns the first error of each side.
    mutating func failures() -> (client: TLSError?, server: TLSError?) {
        var failures: (client: TLSError?, server: TLSError?)
        for _ in 0..<8 {
            do { try self.clientToServer() } catch { failures.server = failures.server ?? error as? TLSError }
            do { try self.serverToClient() } catch { failures.client = failures.client ?? error as? TLSError }
        }
        return failures
    }
}
