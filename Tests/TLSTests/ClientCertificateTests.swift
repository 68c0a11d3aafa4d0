import TLS
import Testing

@Suite struct ClientCertificateTests {
    private let fixture: Fixture

    init() throws { self.fixture = try Fixture.shared.get() }

    private func wire(
        _ version: TLSVersion,
        _ asked: TLSServerConfiguration.ClientCertificate,
        _ identity: IssuedCertificate?
    ) throws -> Wire {
        try Wire(
            client: self.fixture.clientContext(identity: identity),
            server: self.fixture.serverContext(clientCertificate: asked, versions: version...version)
        )
    }

    @Test(arguments: TLSVersion.allCases)
    func `a push certificate tells its topics to the server`(version: TLSVersion) throws {
        let topics = ["com.example.scores", "com.example.scores.push-type.widgets", "com.example.scores.voip"]
        let identity = try self.fixture.authority.issueClient(
            commonName: "Apple Push Services: com.example.scores",
            userID: "com.example.scores",
            topics: topics,
            validity: .init(start: .at(seconds: 1_700_000_000), days: 20_000)
        )
        for asked in [
            .optional(trustRoots: self.fixture.roots), .required(trustRoots: self.fixture.roots),
        ] as [TLSServerConfiguration.ClientCertificate] {
            var wire = try self.wire(version, asked, identity)
            try wire.settle()
            let certificate = try #require(wire.server.peerCertificate)
            #expect(certificate.commonName == "Apple Push Services: com.example.scores")
            #expect(certificate.userID == "com.example.scores")
            #expect(certificate.notAfterSeconds == 1_700_000_000 + 20_000 * 86_400)
            #expect(certificate.serialNumber.count == 16)
            #expect(certificate.topics == topics)
            let printed = try openssl(
                ["x509", "-noout", "-fingerprint", "-sha256", "-serial"],
                input: identity.certificatePEM
            )
            let lines = printed.output.split(separator: "\n").map { $0.split(separator: "=")[1].filter { $0 != ":" } }
            #expect(lines.map { hex(String($0)) } == [certificate.sha256Fingerprint, certificate.serialNumber])
        }
    }

    @Test(arguments: TLSVersion.allCases)
    func `an optional certificate may be missing, a required one may not`(version: TLSVersion) throws {
        var optional = try self.wire(version, .optional(trustRoots: self.fixture.roots), nil)
        try optional.settle()
        #expect(optional.server.state == .ready)
        #expect(optional.server.peerCertificate == nil)
        var required = try self.wire(version, .required(trustRoots: self.fixture.roots), nil)
        let (client, server) = required.failures()
        #expect(server?.code == .peerCertificate)
        #expect(server?.message == "peer shows no certificate, and one is required")
        // TLS 1.3 has a number of its own for this, TLS 1.2 says handshake failure.
        #expect(client?.code == .alert(version == .v1_3 ? 116 : 40))
    }

    @Test(arguments: TLSVersion.allCases)
    func `a certificate that does not verify is refused even if none is needed`(version: TLSVersion) throws {
        let stranger = try CertificateAuthority.make(commonName: "Somebody else").issueClient(commonName: "stranger")
        let expired = try self.fixture.authority.issueClient(
            commonName: "late",
            validity: .init(start: .at(seconds: 1_600_000_000), days: 1)
        )
        let wrongPurpose = try self.fixture.authority.issueServer(dnsNames: ["localhost"])
        let cases = [
            (stranger, "unable to get local issuer certificate"), (expired, "certificate has expired"),
            (wrongPurpose, "unsuitable certificate purpose"),
        ]
        for (identity, reason) in cases {
            for asked in [
                .optional(trustRoots: self.fixture.roots), .required(trustRoots: self.fixture.roots),
            ] as [TLSServerConfiguration.ClientCertificate] {
                var wire = try self.wire(version, asked, identity)
                let (client, server) = wire.failures()
                #expect(server?.code == .peerCertificate)
                #expect(server?.message == "peer's certificate refused: \(reason)")
                #expect(client?.message.hasPrefix("peer ended the connection") == true)
                #expect(wire.server.peerCertificate == nil || wire.server.state == .closed)
            }
        }
    }

    @Test func `a server that does not ask sees no certificate`() throws {
        var wire = try self.wire(.v1_3, .none, self.fixture.authority.issueClient(commonName: "unasked"))
        try wire.settle()
        #expect(wire.server.peerCertificate == nil)
    }
}
