import TLS
import TestSupport
import Testing

@Suite struct CertificateAuthorityTests {
    private let fixture: Fixture

    init() throws { self.fixture = try Fixture.shared.get() }

    private func verify(_ certificate: IssuedCertificate, _ options: [String]) throws -> Verdict {
        let folder = try Scratch()
        let root = try folder.write("root.pem", Array(self.fixture.authority.certificatePEM.utf8))
        let leaf = try folder.write("leaf.pem", Array(certificate.certificatePEM.utf8))
        return try openssl(["verify", "-x509_strict", "-CAfile", root] + options + [leaf])
    }

    @Test(arguments: [
        ["-verify_hostname", "localhost"], ["-verify_hostname", "a.apps.example.net"], ["-verify_ip", "127.0.0.1"],
        ["-verify_ip", "::1"],
    ])
    func `the strict judge accepts a server's certificate under its names`(options: [String]) throws {
        let verdict = try self.verify(self.fixture.server, ["-purpose", "sslserver"] + options)
        #expect(verdict.status == 0, "\(verdict.complaint)")
    }

    @Test func `the strict judge accepts a client's certificate as such only`() throws {
        let client = try self.fixture.authority.issueClient(
            commonName: "client",
            userID: "com.example",
            topics: ["a.b"]
        )
        #expect(try self.verify(client, ["-purpose", "sslclient"]).status == 0)
        #expect(try self.verify(client, ["-purpose", "sslserver"]).status != 0)
        #expect(try self.verify(self.fixture.server, ["-purpose", "sslclient"]).status != 0)
    }

    @Test(arguments: ["sslserver", "sslclient"])
    func `the strict judge accepts a server's certificate for a client's use, too, as both`(purpose: String) throws {
        let peer = try self.fixture.authority.issueServer(
            dnsNames: ["nats-1.example.net"],
            ipAddresses: ["10.0.0.1"],
            isClient: true
        )
        let verdict = try self.verify(peer, ["-purpose", purpose, "-verify_ip", "10.0.0.1"])
        #expect(verdict.status == 0, "\(verdict.complaint)")
    }

    @Test func `the judge reads what we wrote`() throws {
        let client = try self.fixture.authority.issueClient(
            commonName: "client",
            userID: "com.example",
            topics: ["a.b"]
        )
        let root = try openssl(["x509", "-noout", "-text"], input: self.fixture.authority.certificatePEM).output
        let leaf = try openssl(["x509", "-noout", "-text"], input: client.certificatePEM).output
        let server = try openssl(["x509", "-noout", "-text"], input: self.fixture.server.certificatePEM).output
        for words in [
            "Version: 3 (0x2)", "CA:TRUE, pathlen:0", "Certificate Sign, CRL Sign", "X509v3 Subject Key Identifier",
            "X509v3 Authority Key Identifier", "CN = Freshet test root", "ecdsa-with-SHA256", "NIST CURVE: P-256",
        ] { #expect(root.contains(words), "\(words)") }
        for words in [
            "Subject: UID = com.example, CN = client", "CA:FALSE", "Digital Signature", "TLS Web Client Authentication",
            "1.2.840.113635.100.6.3.6", "X509v3 Subject Key Identifier", "X509v3 Authority Key Identifier",
        ] { #expect(leaf.contains(words), "\(words)") }
        for words in [
            "TLS Web Server Authentication",
            "DNS:localhost, DNS:*.apps.example.net, IP Address:127.0.0.1, IP Address:0:0:0:0:0:0:0:1",
        ] { #expect(server.contains(words), "\(words)") }
    }

    @Test(arguments: ["127.0.0.2", "::1"])
    func `an address is no host name`(address: String) {
        let error = TLSError(.configuration, "\"\(address)\" is an IP address, not a host name")
        #expect(throws: error) { try self.fixture.authority.issueServer(dnsNames: [address]) }
    }

    @Test func `an authority comes back from its PEM and signs on`() throws {
        let again = try CertificateAuthority(
            certificate: self.fixture.roots,
            privateKey: .text(self.fixture.authority.privateKeyPEM)
        )
        #expect(again.certificatePEM == self.fixture.authority.certificatePEM)
        let verdict = try self.verify(again.issueServer(dnsNames: ["localhost"]), ["-purpose", "sslserver"])
        #expect(verdict.status == 0, "\(verdict.complaint)")
    }

    @Test func `only an authority with its own key is one`() throws {
        let other = try CertificateAuthority.make(commonName: "Other")
        let mismatch = #expect(throws: TLSError.self) {
            try CertificateAuthority(certificate: self.fixture.roots, privateKey: .text(other.privateKeyPEM))
        }
        #expect(mismatch?.message.contains("key does not match certificate") == true)
        let leaf = #expect(throws: TLSError.self) {
            try CertificateAuthority(
                certificate: .text(self.fixture.server.certificatePEM),
                privateKey: .text(self.fixture.server.privateKeyPEM)
            )
        }
        #expect(leaf?.message.hasSuffix("it may not sign other certificates") == true)
    }

    @Test(arguments: [
        (["a,DNS:evil.example"], []), (["a b"], []), ([""], []), (["a..b"], []), (["*"], []), (["a.*.b"], []),
        (["dirName:x"], []), (["@section"], []), ([String(repeating: "a", count: 64)], []), ([], []),
        ([], ["127.0.0.1 ,DNS:evil.example"]), ([], ["localhost"]), ([], ["1.2.3"]), ([], ["1.2.3.4,IP:5.6.7.8"]),
    ])
    func `names that are none are refused`(dnsNames: [String], addresses: [String]) {
        let error = #expect(throws: TLSError.self) {
            try self.fixture.authority.issueServer(dnsNames: dnsNames, ipAddresses: addresses)
        }
        #expect(error?.code == .configuration)
    }

    @Test(arguments: [0, -1, 36_501])
    func `a validity out of range is refused`(days: Int) {
        let error = #expect(throws: TLSError.self) {
            try CertificateAuthority.make(commonName: "root", validity: .init(days: days))
        }
        #expect(error?.message == "a certificate is valid for 1 to 36500 days, not for \(days)")
    }

    @Test func `a subject longer than X.509 allows is refused`() {
        #expect(throws: TLSError.self) {
            try self.fixture.authority.issueClient(commonName: String(repeating: "a", count: 65))
        }
    }

    @Test(arguments: [
        [], ["com.example"], ["com.example", "com.example.voip"], (0..<400).map { "com.example.app\($0)" },
    ])
    func `topics come back from the extension`(topics: [String]) {
        #expect(AppleTopics.topics(inExtension: AppleTopics.extensionBytes(topics)) == topics)
    }

    @Test func `the extension has Apple's shape`() {
        #expect(
            AppleTopics.extensionBytes(["a.b", "a.b.voip"])
                == hex("301e" + "0c03612e62" + "30050c03617070" + "0c08612e622e766f6970" + "30060c04766f6970")
        )
    }

    @Test func `damaged topics never trap`() {
        let seed: UInt64 = 0x5EED_A551
        var dice = SplitMix64(seed: seed)
        let whole = AppleTopics.extensionBytes((0..<20).map { "com.example.app\($0)" })
        for length in 0..<whole.count {
            #expect(AppleTopics.topics(inExtension: Array(whole.prefix(length))) == nil)
        }
        for _ in 0..<5000 {
            var bytes = whole
            for _ in 0..<3 {
                bytes[Int.random(in: 0..<bytes.count, using: &dice)] = UInt8.random(in: 0...255, using: &dice)
            }
            _ = AppleTopics.topics(inExtension: bytes)
        }
    }
}
