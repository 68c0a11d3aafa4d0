import Foundation
import TLS

/// An authority and a server's certificate, made when the tests start and valid for a day.
struct TestCertificates: Sendable {
    let authority: CertificateAuthority
    let server: IssuedCertificate
    /// A file with the authority's certificate, for clients that are other programs.
    let authorityFile: String

    static let shared: TestCertificates = {
        do {
            return try TestCertificates()
        } catch {
            fatalError("cannot make certificates for the tests: \(error)")
        }
    }()

    private init() throws {
        let validity = CertificateValidity(days: 1)
        self.authority = try CertificateAuthority.make(commonName: "Test Authority", validity: validity)
        self.server = try self.authority.issueServer(
            dnsNames: ["localhost"],
            ipAddresses: ["127.0.0.1"],
            validity: validity
        )
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("transport-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let file = folder.appendingPathComponent("authority.pem")
        try self.authority.certificatePEM.write(to: file, atomically: true, encoding: .utf8)
        self.authorityFile = file.path
    }

    func serverContext(
        alpn: [String] = ["h2"],
        clients: TLSServerConfiguration.ClientCertificate = .none
    ) throws -> TLSContext {
        try TLSContext.server(
            TLSServerConfiguration(
                identity: self.server.identity,
                alpn: alpn,
                missingALPN: .acceptAsPriorKnowledge,
                clientCertificate: clients
            )
        )
    }

    func clientContext(alpn: [String] = ["h2"], identity: TLSIdentity? = nil) throws -> TLSContext {
        try TLSContext.client(
            TLSClientConfiguration(
                trust: .roots(.text(self.authority.certificatePEM)),
                identity: identity,
                alpn: alpn
            )
        )
    }
}
