import TLS
import Testing

@Suite struct TLSContextTests {
    private let fixture: Fixture

    init() throws { self.fixture = try Fixture.shared.get() }

    private func fault(_ chain: PEMSource, _ key: PEMSource) -> String? {
        let identity = TLSIdentity(certificateChain: chain, privateKey: key)
        let error = #expect(throws: TLSError.self) {
            try TLSContext.server(.init(identity: identity, alpn: ["h2"]))
        }
        #expect(error?.code == .configuration)
        return error?.message
    }

    @Test func `a fault names the file and the reason`() throws {
        let folder = try Scratch()
        let chain = try folder.write("server.pem", Array(self.fixture.server.certificatePEM.utf8))
        let key = try folder.write("server.key", Array(self.fixture.server.privateKeyPEM.utf8))
        let otherKey = try folder.write("other.key", Array(ES256PrivateKey.generate().pemRepresentation.utf8))
        let empty = try folder.write("empty.pem", [])
        _ = try TLSContext.server(
            .init(identity: .init(certificateChain: .file(chain), privateKey: .file(key)), alpn: ["h2"])
        )
        #expect(
            self.fault(.file("/nonexistent/a.pem"), .file(key))
                == "certificate chain /nonexistent/a.pem: No such file or directory"
        )
        #expect(
            self.fault(.file(chain), .file("/nonexistent/a.key"))
                == "private key /nonexistent/a.key: No such file or directory"
        )
        #expect(
            self.fault(.file(chain), .file(otherKey))
                == "private key \(otherKey): key does not match certificate \(chain)"
        )
        #expect(self.fault(.file(empty), .file(key)) == "certificate chain \(empty): no BEGIN CERTIFICATE line")
        #expect(self.fault(.file(key), .file(key)) == "certificate chain \(key): no BEGIN CERTIFICATE line")
        #expect(self.fault(.file(chain), .file(chain)) == "private key \(chain): no readable private key in it")
    }

    @Test func `damage behind the first certificate of a chain is found`() throws {
        let text = self.fixture.server.certificatePEM
        let fault = self.fault(.text(text + text.prefix(text.count / 2)), .text(self.fixture.server.privateKeyPEM))
        #expect(fault?.hasPrefix("certificate chain (") == true)
    }

    @Test func `a chain with its root is accepted and sent`() throws {
        let chain = PEMSource.text(self.fixture.server.certificatePEM + self.fixture.authority.certificatePEM)
        let identity = TLSIdentity(certificateChain: chain, privateKey: .text(self.fixture.server.privateKeyPEM))
        var wire = try Wire(
            client: self.fixture.clientContext(),
            server: .server(.init(identity: identity, alpn: ["h2"]))
        )
        try wire.settle()
        #expect(wire.client.state == .ready)
    }

    @Test func `trust roots that cannot be read are told`() {
        let error = #expect(throws: TLSError.self) {
            try TLSContext.client(.init(trust: .roots(.file("/nonexistent/ca.pem")), alpn: []))
        }
        #expect(error?.message == "trust roots /nonexistent/ca.pem: No such file or directory")
        let server = #expect(throws: TLSError.self) {
            try self.fixture.serverContext(clientCertificate: .required(trustRoots: .text("")))
        }
        #expect(server?.message == "trust roots (0 bytes in memory): no BEGIN CERTIFICATE line")
    }

    @Test(arguments: ["", String(repeating: "h", count: 256)])
    func `a protocol name that has no place on the wire is refused`(name: String) {
        let error = #expect(throws: TLSError.self) { try self.fixture.serverContext(alpn: [name]) }
        #expect(error?.code == .configuration)
    }

    @Test func `a configuration prints no key`() throws {
        let configuration = TLSServerConfiguration(identity: self.fixture.server.identity, alpn: ["h2"])
        let texts = ["\(configuration)", "\(self.fixture.server)", "\(self.fixture.authority)", "\(self.fixture)"]
        for text in texts {
            #expect(!text.contains("PRIVATE"))
            #expect(text.utf8.count < 1000)
        }
    }

    @Test func `one context serves sessions on several threads`() async throws {
        let server = try self.fixture.serverContext()
        let client = try self.fixture.clientContext()
        let ready = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<4 {
                group.addTask { @concurrent in
                    var ready = 0
                    for _ in 0..<20 {
                        var wire = try Wire(client: client, server: server)
                        try wire.settle()
                        ready += wire.server.state == .ready ? 1 : 0
                    }
                    return ready
                }
            }
            return try await group.reduce(0, +)
        }
        #expect(ready == 80)
    }
}

/// A context's own facts, and its handshakes.
@Suite struct TLSPolicyTests {
    private let fixture: Fixture

    init() throws { self.fixture = try Fixture.shared.get() }

    @Test func `a context knows its own certificate`() throws {
        let identity = try self.fixture.authority.issueServer(
            dnsNames: ["push.example.net"],
            validity: .init(start: .at(seconds: 1_700_000_000), days: 20_000)
        )
        let certificate = try #require(try self.fixture.serverContext(identity: identity).certificate)
        #expect(certificate.commonName == "push.example.net")
        #expect(certificate.notAfterSeconds == 1_700_000_000 + 20_000 * 86_400)
        let printed = try openssl(
            ["x509", "-noout", "-fingerprint", "-sha256"],
            input: identity.certificatePEM
        ).output.split(separator: "=")[1].filter { $0 != ":" }
        #expect(hex(String(printed).trimmed) == certificate.sha256Fingerprint)
        #expect(try self.fixture.clientContext().certificate == nil)
    }
}
