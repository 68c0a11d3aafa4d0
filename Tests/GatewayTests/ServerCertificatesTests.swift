import Serving
import TLS
import Testing
import WidgetModel

@Suite struct ServerCertificatesTests {
    private let authority: CertificateAuthority
    private let now = Instant(milliseconds: 1_800_000_000_000)

    init() throws {
        self.authority = try CertificateAuthority.make(commonName: "Test root")
    }

    private func context(_ name: String, days: Int, startedDaysAgo: Int64 = 0) throws -> TLSContext {
        let start = self.now.milliseconds / 1000 - startedDaysAgo * 86_400
        let issued = try self.authority.issueServer(
            dnsNames: [name],
            validity: CertificateValidity(start: .at(seconds: start), days: days)
        )
        return try TLSContext.server(TLSServerConfiguration(identity: issued.identity, alpn: ["h2"]))
    }

    private func certificates(_ first: TLSContext) throws -> ServerCertificates {
        ServerCertificates([("push", try #require(first.certificate))])
    }

    @Test func `a new certificate takes the place of the old, and is counted`() throws {
        let certificates = try self.certificates(self.context("a.example", days: 90))
        let next = try self.context("b.example", days: 90)
        let taken = try certificates.replace("push", now: self.now) { next }
        #expect(taken === next)
        #expect(certificates.current.map(\.certificate.commonName) == ["b.example"])
        #expect(certificates.current.map(\.replaced) == [1])
        // The same one again is no replacement.
        _ = try certificates.replace("push", now: self.now) { next }
        #expect(certificates.current.map(\.replaced) == [1])
    }

    @Test func `what cannot be read leaves the old, and says why until it can be`() throws {
        let certificates = try self.certificates(self.context("a.example", days: 90))
        let fault = TLSError(.configuration, "private key x: key does not match certificate y")
        #expect(throws: TLSError.self) { try certificates.replace("push", now: self.now) { throw fault } }
        #expect(certificates.current.map(\.certificate.commonName) == ["a.example"])
        #expect(certificates.current.map(\.refusal) == ["private key x: key does not match certificate y"])
        _ = try certificates.replace("push", now: self.now) { try self.context("b.example", days: 90) }
        #expect(certificates.current.map(\.refusal) == [nil])
    }

    @Test func `a certificate has ended at its end, and not before`() throws {
        let certificates = try self.certificates(self.context("a.example", days: 5, startedDaysAgo: 5))
        let view = try #require(certificates.ending(now: self.now).first)
        #expect(view.hasEnded(now: self.now))
        #expect(!view.hasEnded(now: self.now + .milliseconds(-1)))
    }

    @Test func `a certificate that has ended is not taken`() throws {
        let certificates = try self.certificates(self.context("a.example", days: 90))
        let ended = try self.context("b.example", days: 5, startedDaysAgo: 5)
        #expect(throws: TLSError.self) { try certificates.replace("push", now: self.now) { ended } }
        #expect(certificates.current.map(\.certificate.commonName) == ["a.example"])
        #expect(
            certificates.current.map(\.refusal) == [
                "the certificate expired at 2027-01-15T08:00:00Z; replace it with a newer one"
            ]
        )
        let last = try self.context("c.example", days: 6, startedDaysAgo: 5)
        #expect(throws: Never.self) { try certificates.replace("push", now: self.now) { last } }
    }

    @Test(arguments: [(14, []), (13, ["push"])])
    func `a certificate is warned of for its last fourteen days`(days: Int, listeners: [String]) throws {
        let certificates = try self.certificates(self.context("a.example", days: days))
        #expect(certificates.ending(now: self.now).map(\.listener) == listeners)
    }
}
