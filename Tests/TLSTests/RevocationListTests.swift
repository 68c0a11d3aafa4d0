import Foundation
import TLS
import Testing

@Suite struct RevocationListTests {
    private let fixture: Fixture

    init() throws { self.fixture = try Fixture.shared.get() }

    /// A client's certificate as a server sees it.
    private func peer(_ identity: IssuedCertificate, of authority: CertificateAuthority) throws -> PeerCertificate {
        var wire = try Wire(
            client: self.fixture.clientContext(identity: identity),
            server: self.fixture.serverContext(
                clientCertificate: .required(trustRoots: .text(authority.certificatePEM))
            )
        )
        try wire.settle()
        return try #require(wire.server.peerCertificate)
    }

    private func fingerprint(_ identity: IssuedCertificate) throws -> String {
        try openssl(["x509", "-noout", "-fingerprint", "-sha256"], input: identity.certificatePEM).output
    }

    /// A list that the `openssl` program makes, revoking certificates of an authority.
    private func list(
        _ authority: CertificateAuthority,
        revoking certificates: [IssuedCertificate],
        days: Int = 30
    ) throws -> String {
        let folder = try Scratch()
        let index = try folder.write("index.txt", [])
        let root = try folder.write("ca.pem", Array(authority.certificatePEM.utf8))
        let key = try folder.write("ca.key", Array(authority.privateKeyPEM.utf8))
        let configuration = try folder.write(
            "openssl.cnf",
            Array("[ca]\ndefault_ca=d\n[d]\ndatabase=\(index)\ndefault_md=sha256\n".utf8)
        )
        let common = ["ca", "-config", configuration, "-cert", root, "-keyfile", key]
        for (number, certificate) in certificates.enumerated() {
            let file = try folder.write("\(number).pem", Array(certificate.certificatePEM.utf8))
            let verdict = try openssl(common + ["-revoke", file])
            try #require(verdict.status == 0, "\(verdict.complaint)")
        }
        let verdict = try openssl(common + ["-gencrl", "-crldays", "\(days)"])
        try #require(verdict.status == 0, "\(verdict.complaint)")
        return verdict.output
    }

    @Test func `a list of an authority revokes what it lists, and nothing of another authority`() throws {
        let authority = self.fixture.authority
        let revoked = try authority.issueClient(commonName: "revoked")
        let also = try authority.issueClient(commonName: "also revoked")
        let good = try authority.issueClient(commonName: "good")
        let text = try self.list(authority, revoking: [revoked, also])
        let list = try RevocationList(.text(text), authorities: [.text(authority.certificatePEM)])
        #expect(list.count == 2)
        #expect(try list.contains(self.peer(revoked, of: authority)))
        #expect(try list.contains(self.peer(also, of: authority)))
        #expect(try !list.contains(self.peer(good, of: authority)))

        // The same number from another issuer is another certificate.
        let other = try CertificateAuthority.make(commonName: "Another root")
        let foreign = try RevocationList(
            .text(self.list(other, revoking: [revoked])),
            authorities: [.text(authority.certificatePEM + other.certificatePEM)]
        )
        #expect(foreign.count == 1)
        #expect(Set([list.digest, foreign.digest, RevocationList().digest]).count == 3)
        let renewed = try self.list(authority, revoking: [also, revoked], days: 2)
        #expect(
            try RevocationList(.text(renewed), authorities: [.text(authority.certificatePEM)]).digest == list.digest
        )
        #expect(try !foreign.contains(self.peer(revoked, of: authority)))
    }

    @Test func `a list says when it should be renewed, and stays in force after that`() throws {
        let authority = self.fixture.authority
        let revoked = try authority.issueClient(commonName: "revoked")
        let now = Int64(Date().timeIntervalSince1970)
        let list = try RevocationList(
            .text(self.list(authority, revoking: [revoked], days: 2)),
            authorities: [.text(authority.certificatePEM)]
        )
        let next = try #require(list.nextUpdateSeconds)
        #expect((now + 86_400...now + 3 * 86_400).contains(next))
        #expect(RevocationList().nextUpdateSeconds == nil)
    }

    @Test func `lines of fingerprints may stand beside lists`() throws {
        let authority = self.fixture.authority
        let names = ["colons", "bare", "listed", "good"]
        let certificates = try names.map { try authority.issueClient(commonName: $0) }
        let bare = try self.fingerprint(certificates[1]).split(separator: "=")[1].filter { $0 != ":" }.lowercased()
        let text =
            "# stolen in spring\n" + (try self.fingerprint(certificates[0])) + "\n\n  \(bare.trimmed)  \r\n"
            + (try self.list(authority, revoking: [certificates[2]])) + "# the end"
        let list = try RevocationList(.text(text), authorities: [.text(authority.certificatePEM)])
        #expect(list.count == 3)
        let revoked = try certificates.map { try list.contains(self.peer($0, of: authority)) }
        #expect(revoked == [true, true, true, false])
    }

    @Test func `a list that no authority has signed is refused whole`() throws {
        let authority = self.fixture.authority
        let revoked = try authority.issueClient(commonName: "revoked")
        let text = try self.list(authority, revoking: [revoked])
        // Another authority of the same name has another key.
        let name = try PeerCertificate(unverified: .text(authority.certificatePEM)).commonName
        let namesake = try CertificateAuthority.make(commonName: try #require(name))
        let stranger = try CertificateAuthority.make(commonName: "Another root")
        for others in [[], [namesake], [stranger], [stranger, namesake]] {
            let error = #expect(throws: TLSError.self) {
                try RevocationList(.text(text), authorities: others.map { .text($0.certificatePEM) })
            }
            #expect(error?.code == .configuration)
            let reason = "no CA of clientCA that may sign lists has signed it"
            #expect(error?.message.hasSuffix(reason) == true)
        }
        let known = [namesake, authority].map { PEMSource.text($0.certificatePEM) }
        #expect(try RevocationList(.text(text), authorities: known).count == 1)
    }

    @Test func `a list that was altered is refused`() throws {
        let authority = self.fixture.authority
        let text = try self.list(authority, revoking: [try authority.issueClient(commonName: "revoked")])
        let lines = text.split(separator: "\n").map(String.init)
        let first = try #require(lines.firstIndex { $0.hasPrefix("-----BEGIN") })
        let last = try #require(lines.firstIndex { $0.hasPrefix("-----END") })
        var der = try #require(Data(base64Encoded: lines[(first + 1)..<last].joined()))
        // The last byte is one of the signature.
        der[der.count - 1] ^= 1
        let base64 = der.base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
        let altered = "-----BEGIN X509 CRL-----\n\(base64)\n-----END X509 CRL-----\n"
        let error = #expect(throws: TLSError.self) {
            try RevocationList(.text(altered), authorities: [.text(authority.certificatePEM)])
        }
        #expect(error?.code == .configuration)
    }

    @Test func `a list of an authority that may not sign lists is refused`() throws {
        let folder = try Scratch()
        let key = try folder.write("ca.key", [])
        let root = try folder.write("ca.pem", [])
        let made = try openssl([
            "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", key, "-out",
            root,
            "-subj", "/CN=No lists", "-addext", "keyUsage=critical,keyCertSign", "-days", "2",
        ])
        try #require(made.status == 0, "\(made.complaint)")
        let authority = try CertificateAuthority(certificate: .file(root), privateKey: .file(key))
        let text = try self.list(authority, revoking: [])
        #expect(throws: TLSError.self) { try RevocationList(.text(text), authorities: [.file(root)]) }
    }

    @Test func `an empty list revokes nothing`() throws {
        #expect(try RevocationList(.text("")) == RevocationList())
        #expect(try RevocationList(.text("# empty so far\n")).count == 0)
    }

    @Test func `a line that is no fingerprint is named`() throws {
        let folder = try Scratch()
        let digits = String(repeating: "0", count: 63)
        for wrong in [digits, digits + "g", digits + "00", "serial 5", "SHA1 Fingerprint=00:11"] {
            let file = try folder.write("revoked.txt", Array("# first\n\(wrong)\n".utf8))
            let error = #expect(throws: TLSError.self) { try RevocationList(.file(file)) }
            #expect(
                error?.message == "revocation list \(file): line 2 is not a SHA-256 fingerprint of 64 hex digits",
                "\(wrong)"
            )
        }
    }

    @Test func `a damaged list is refused whole`() throws {
        let text = try self.list(self.fixture.authority, revoking: [])
        let cut = text.split(separator: "\n").dropLast(3).joined(separator: "\n")
        let error = #expect(throws: TLSError.self) { try RevocationList(.text(cut)) }
        #expect(error?.code == .configuration)
        let missing = #expect(throws: TLSError.self) { try RevocationList(.file("/nonexistent/crl.pem")) }
        #expect(missing?.message == "revocation list /nonexistent/crl.pem: No such file or directory")
    }
}
