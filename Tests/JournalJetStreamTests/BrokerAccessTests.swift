#if JetStream
import BrokerSupport
import Foundation
import JournalContract
import JournalJetStream
import Journaling
import TLS
import Testing
import WidgetModel

/// Access to brokers and the user's identity: a wrong setting is refused in words that say what to change.
@Suite(.enabled(if: Brokers.isThere, "make setup installs nats-server"), .serialized)
struct BrokerAccessTests {
    /// Certificates of a day, in a folder of their own.
    private final class Certificates {
        let folder = FileManager.default.temporaryDirectory.appending(path: "freshet-broker-tls-\(UUID().uuidString)")
            .path

        init() throws {
            try FileManager.default.createDirectory(atPath: self.folder, withIntermediateDirectories: true)
            let day = CertificateValidity(days: 1)
            let authority = try CertificateAuthority.make(commonName: "brokers", validity: day)
            let server = try authority.issueServer(dnsNames: ["localhost"], ipAddresses: ["127.0.0.1"], validity: day)
            let client = try authority.issueClient(
                commonName: "gateway",
                userID: nil,
                topics: [],
                environments: [],
                validity: day
            )
            for (name, text) in [
                ("ca.pem", authority.certificatePEM), ("server.pem", server.certificatePEM),
                ("server.key", server.privateKeyPEM), ("client.pem", client.certificatePEM),
                ("client.key", client.privateKeyPEM),
            ] { try Data(text.utf8).write(to: URL(filePath: "\(self.folder)/\(name)")) }
        }

        deinit { try? FileManager.default.removeItem(atPath: self.folder) }

        func file(_ name: String) -> String { "\(self.folder)/\(name)" }

        /// A broker's block.
        func tls(_ more: String = "") -> String {
            "tls { cert_file: \"\(self.file("server.pem"))\", key_file: \"\(self.file("server.key"))\" \(more) }"
        }
    }

    private static func configuration(_ brokers: Brokers) throws -> JetStreamJournal.Configuration {
        try Harness.configuration(brokers, cluster: "access", partitions: 1)
    }

    /// The error of opening a log; nil if it opens.
    private static func fault(_ configuration: JetStreamJournal.Configuration) throws -> JournalError? {
        do {
            let journal = try Harness.open(configuration)
            defer { journal.close() }
            #expect((journal as any Journal).append("a").code == nil)
            return nil
        } catch let error as JournalError {
            return error
        }
    }

    @Test func `brokers with TLS are believed by their authority, and by no other`() throws {
        let (own, other) = (try Certificates(), try Certificates())
        let brokers = try Brokers(more: own.tls())
        var configuration = try Self.configuration(brokers)
        configuration.access.tls = BrokerAccess.TLS(authorities: own.file("ca.pem"))
        #expect(try Self.fault(configuration) == nil)
        configuration.access.tls?.authorities = other.file("ca.pem")
        let wrong = try #require(try Self.fault(configuration))
        #expect(wrong.code == .invalid)
        #expect(wrong.message.contains("the brokers' certificate is not trusted"), "\(wrong)")
        #expect(wrong.message.contains("give the CA that issued theirs"), "\(wrong)")
        configuration.access.tls = nil
        let plain = try #require(try Self.fault(configuration))
        #expect(plain.code == .invalid && plain.message.contains("certificate is not trusted"), "\(plain)")
    }

    @Test func `brokers that ask for a certificate are shown one`() throws {
        let own = try Certificates()
        let brokers = try Brokers(more: own.tls(", ca_file: \"\(own.file("ca.pem"))\", verify: true"))
        var configuration = try Self.configuration(brokers)
        configuration.access.tls = BrokerAccess.TLS(
            authorities: own.file("ca.pem"),
            certificate: own.file("client.pem"),
            key: own.file("client.key")
        )
        #expect(try Self.fault(configuration) == nil)
        configuration.access.tls?.key = own.file("server.key")
        let unfit = try #require(try Self.fault(configuration))
        #expect(
            unfit.code == .invalid && unfit.message.contains("with its key in \(own.file("server.key"))"),
            "\(unfit)"
        )
        configuration.access.tls?.certificate = nil
        // Longer than a busy machine takes to be refused once.
        configuration.patienceMilliseconds = 5_000
        let none = try #require(Self.refusal(configuration))
        #expect(none.message.contains("if they ask for a certificate, give one"), "\(none)")
    }

    @Test func `brokers without TLS are not spoken to in the clear where it is wanted`() throws {
        let own = try Certificates()
        let brokers = try Brokers()
        var configuration = try Self.configuration(brokers)
        configuration.access.tls = BrokerAccess.TLS(authorities: own.file("ca.pem"))
        let fault = try #require(try Self.fault(configuration))
        #expect(fault.code == .invalid && fault.message.contains("the brokers have no TLS"), "\(fault)")
        withExtendedLifetime(brokers) {}
    }

    @Test func `a wrong password is refused, and not told`() throws {
        let brokers = try Brokers()
        let file = "\(brokers.folder)/wrong"
        try Data("not-the-password\n".utf8).write(to: URL(filePath: file))
        var configuration = try Self.configuration(brokers)
        configuration.access.credentials = .password(user: Brokers.user.name, file: file)
        let fault = try #require(try Self.fault(configuration))
        #expect(fault.code == .invalid && fault.message.contains("the brokers do not accept the user app"), "\(fault)")
        #expect(!fault.message.contains("not-the-password") && !"\(configuration)".contains("not-the-password"))
        configuration.access.credentials = .password(user: Brokers.user.name, file: "\(file)-away")
        #expect(try Self.fault(configuration)?.message.contains("it cannot be read, or is empty") == true)
        configuration.access.credentials = .none
        #expect(try Self.fault(configuration)?.message.contains("a user without credentials") == true)
    }

    @Test func `a user may be known by a key`() throws {
        // The pair that NATS's own pages show.
        let key = "UDXU4RCSJNZOIQHZNWXHXORDPRTGNJAHAHFRGZNEEJCPQTT2M7NLCNF4"
        let seed = "SUACSSL3UAHUDXKFSNVUZRF5UHPMWZ6BFDTJ7M6USDXIEDNPPQYYYCU3VY"
        let brokers = try Brokers(users: ", { nkey: \(key) }")
        let file = "\(brokers.folder)/seed"
        try Data(seed.utf8).write(to: URL(filePath: file))
        var configuration = try Self.configuration(brokers)
        configuration.access.credentials = .nkey(key, seedFile: file)
        #expect(try Self.fault(configuration) == nil)
    }

    @Test func `what the page says a user has to be allowed is enough`() throws {
        let brokers = try Brokers(
            users: """
                , { user: least, password: a, permissions: {
                    publish: ["$JS.API.>", "$JS.FC.>", "freshet.access.>"], subscribe: ["_INBOX.>"]
                  } }
                """
        )
        var configuration = try Self.configuration(brokers)
        configuration.access.credentials = .password(user: "least", file: try brokers.passwordFiles().user)
        let harness = try Harness(brokers, configuration)
        let journal = harness.journal
        #expect(journal.append("a").code == nil)
        #expect(journal.appendToAll(SubmissionToAll(records("b"))).code == nil)
        #expect(try Array(journal.texts().joined()) == ["a", "b"])
        #expect(journal.commit(output(through: 2), expected: nil) == .success(.first))
        var frames: [[UInt8]] = [[1]]
        let id = SnapshotID(partition: PartitionID(0), position: LogPosition(2), logTime: Harness.now())
        try harness.own.write(id) { frames.popLast() }
        #expect(try harness.own.snapshots(PartitionID(0)) == [id])
        #expect(try harness.own.trimAll(through: [LogPosition(1)]) > 0)
        #expect(try harness.own.sizes().log > 0)
    }

    /// As ``fault(_:)``, without waiting for brokers that have just begun.
    private static func refusal(_ configuration: JetStreamJournal.Configuration) -> JournalError? {
        do throws(JournalError) {
            try JetStreamJournal(configuration: configuration, clock: Harness.now).close()
            return nil
        } catch {
            return error
        }
    }
}
#endif
