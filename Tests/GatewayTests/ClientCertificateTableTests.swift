import Partitions
import Serving
import Settings
import TLS
import Testing
import WidgetModel

@testable import APNSWire

@Suite struct ClientCertificateTableTests {
    private let authority: CertificateAuthority
    private let scores = "com.example.scores"
    private let team = TeamID("TEAM000001")

    init() throws {
        self.authority = try CertificateAuthority.make(commonName: "Test root")
    }

    private func certificate(
        userID: String? = nil,
        topics: [String] = [],
        environments: [PeerCertificate.Environment] = []
    ) throws -> PeerCertificate {
        let issued = try self.authority.issueClient(
            commonName: "sender",
            userID: userID,
            topics: topics,
            environments: environments
        )
        return try PeerCertificate(unverified: .text(issued.certificatePEM))
    }

    private func app(
        _ number: Int,
        _ bundle: String,
        team: String = "TEAM000001",
        extraTopics: [String] = [],
        environment: PeerCertificate.Environment = .production
    ) -> ClientCertificateTable.App {
        ClientCertificateTable.App(
            topics: TopicTable.App(number: number, bundle: BundleID(bundle), extraTopics: extraTopics),
            team: TeamID(team),
            environment: environment
        )
    }

    /// The topics that a verdict allows, of those that are asked for.
    private func judge(
        _ table: ClientCertificateTable,
        _ certificate: PeerCertificate,
        asking topics: [String] = []
    ) -> String {
        switch table.judge(certificate) {
        case .unknown: return "unknown"
        case .revoked: return "revoked"
        case .wrongEnvironment: return "wrong environment"
        case .sender(let sender):
            let allowed = topics.filter { sender.topics.allows($0) }
            return "\(sender.team) \(allowed.joined(separator: " "))".trimmingSpace
        }
    }

    private var widgets: String { "\(self.scores).push-type.widgets" }
    private var controls: String { "\(self.scores).push-type.controls" }

    @Test func `a certificate that is not configured speaks for no sender`() throws {
        let table = ClientCertificateTable(apps: [self.app(0, self.scores)])
        #expect(self.judge(table, try self.certificate(userID: self.scores, topics: [self.widgets])) == "unknown")
    }

    @Test func `a fingerprint and a user id name a certificate, the fingerprint first`() throws {
        let first = try self.certificate(userID: self.scores)
        let second = try self.certificate(userID: self.scores)
        let other = try self.certificate(userID: "com.example.other")
        let table = ClientCertificateTable(
            apps: [self.app(0, self.scores)],
            rules: [
                .init(name: .fingerprint(first.sha256Fingerprint), app: 0, topics: [self.controls]),
                .init(name: .userID(self.scores), app: 0, topics: [self.widgets]),
            ]
        )
        let asked = [self.widgets, self.controls]
        #expect(self.judge(table, first, asking: asked) == "TEAM000001 \(self.controls)")
        #expect(self.judge(table, second, asking: asked) == "TEAM000001 \(self.widgets)")
        #expect(self.judge(table, other, asking: asked) == "unknown")
    }

    @Test func `topics come from the configuration, else from the certificate, else they are the app's`() throws {
        let silent = try self.certificate(userID: self.scores)
        let listing = try self.certificate(userID: self.scores, topics: [self.scores, self.controls])
        let asked = [self.widgets, self.controls]
        let named = ClientCertificateTable(
            apps: [self.app(0, self.scores)],
            rules: [.init(name: .userID(self.scores), app: 0, topics: [self.widgets])]
        )
        #expect(self.judge(named, silent, asking: asked) == "TEAM000001 \(self.widgets)")
        #expect(self.judge(named, listing, asking: asked) == "TEAM000001 \(self.widgets)")
        let open = ClientCertificateTable(
            apps: [self.app(0, self.scores)],
            rules: [.init(name: .userID(self.scores), app: 0, topics: nil)]
        )
        #expect(self.judge(open, silent, asking: asked) == "TEAM000001 \(self.widgets) \(self.controls)")
        #expect(self.judge(open, listing, asking: asked) == "TEAM000001 \(self.controls)")
    }

    @Test func `a certificate that lists only other types' topics is known, and may push nothing here`() throws {
        let apple = try self.certificate(userID: self.scores, topics: [self.scores, "\(self.scores).voip"])
        let table = ClientCertificateTable(apps: [self.app(0, self.scores)], believesTopics: true)
        #expect(self.judge(table, apple, asking: [self.widgets, self.controls]) == "TEAM000001")
    }

    @Test func `topics that a certificate lists are believed where the operator says so`() throws {
        let apps = [
            self.app(0, self.scores), self.app(1, "\(self.scores).watch"), self.app(2, "org.other", team: "TEAM000002"),
        ]
        let watch = "\(self.scores).watch.push-type.widgets"
        let asked = [self.widgets, self.controls, watch, "org.other.push-type.widgets"]
        let table = ClientCertificateTable(apps: apps, believesTopics: true)
        let cases: [([String], String)] = [
            ([self.widgets], "TEAM000001 \(self.widgets)"),
            // The longer bundle id has it.
            ([watch], "TEAM000001 \(watch)"),
            ([watch, self.widgets], "TEAM000001 \(self.widgets) \(watch)"),
            (["org.other.push-type.widgets"], "TEAM000002 org.other.push-type.widgets"),
            // One sender, one team: the first app's.
            (asked, "TEAM000001 \(self.widgets) \(self.controls) \(watch)"),
            (["com.elsewhere.push-type.widgets"], "unknown"),
            (["\(self.scores)x.push-type.widgets"], "unknown"),
            ([], "unknown"),
        ]
        for (topics, expected) in cases {
            #expect(self.judge(table, try self.certificate(topics: topics), asking: asked) == expected)
        }
        #expect(self.judge(.init(apps: apps), try self.certificate(topics: [watch]), asking: asked) == "unknown")
    }

    @Test func `a certificate that several apps name may push to each as it says`() throws {
        let certificate = try self.certificate(userID: "team")
        let apps = [self.app(0, self.scores), self.app(1, "com.example.news")]
        let table = ClientCertificateTable(
            apps: apps,
            rules: [
                .init(name: .userID("team"), app: 0, topics: [self.widgets]),
                .init(name: .userID("team"), app: 1, topics: nil),
            ]
        )
        let news = ["com.example.news.push-type.widgets", "com.example.news.push-type.controls"]
        #expect(
            self.judge(table, certificate, asking: [self.widgets, self.controls] + news)
                == "TEAM000001 \(self.widgets) \(news[0]) \(news[1])"
        )
    }

    @Test(
        arguments: [
            ([], .production, true), ([], .development, true), ([.production], .production, true),
            ([.production], .development, false), ([.development], .production, false),
            ([.development], .development, true), ([.development, .production], .production, true),
        ] as [([PeerCertificate.Environment], PeerCertificate.Environment, Bool)]
    )
    func `a certificate is for the environments that its extensions name`(
        environments: [PeerCertificate.Environment],
        app: PeerCertificate.Environment,
        isRight: Bool
    ) throws {
        let table = ClientCertificateTable(
            apps: [self.app(0, self.scores, environment: app)],
            rules: [.init(name: .userID(self.scores), app: 0, topics: nil)]
        )
        let certificate = try self.certificate(userID: self.scores, environments: environments)
        #expect(self.judge(table, certificate) == (isRight ? "TEAM000001" : "wrong environment"))
    }

    @Test func `of apps in both environments those of the certificate's are left`() throws {
        let table = ClientCertificateTable(
            apps: [self.app(0, self.scores, environment: .development), self.app(1, "com.example.news")],
            rules: [
                .init(name: .userID("team"), app: 0, topics: nil), .init(name: .userID("team"), app: 1, topics: nil),
            ]
        )
        let certificate = try self.certificate(userID: "team", environments: [.production])
        #expect(
            self.judge(table, certificate, asking: [self.widgets, "com.example.news.push-type.widgets"])
                == "TEAM000001 com.example.news.push-type.widgets"
        )
    }

    @Test func `a revoked certificate is revoked whatever else is said of it`() throws {
        let certificate = try self.certificate(userID: self.scores, environments: [.development])
        let table = ClientCertificateTable(
            apps: [self.app(0, self.scores)],
            rules: [.init(name: .userID(self.scores), app: 0, topics: nil)]
        )
        let digits = certificate.sha256Fingerprint.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        let revoking = table.revoking(try RevocationList(.text(digits)))
        #expect(self.judge(table, certificate) == "wrong environment")
        #expect(self.judge(revoking, certificate) == "revoked")
        #expect(self.judge(revoking.revoking(RevocationList()), certificate) == "wrong environment")
    }

    @Test func `a replaced table is another generation, and judges anew`() throws {
        let certificate = try self.certificate(userID: self.scores)
        let certificates = ClientCertificates()
        let before = certificates.generation
        #expect(before > 0)
        guard case .unknown = certificates.judge(certificate) else { return #expect(Bool(false)) }
        let apps = [self.app(0, self.scores)]
        let rule = ClientCertificateTable.Rule(name: .userID(self.scores), app: 0, topics: nil)
        certificates.replace { _ in ClientCertificateTable(apps: apps, rules: [rule]) }
        #expect(certificates.generation > before)
        guard case .sender(let first) = certificates.judge(certificate),
            case .sender(let second) = certificates.judge(certificate)
        else { return #expect(Bool(false)) }
        // One sender for all connections, so that its rate is one.
        #expect(first === second)
    }

    @Test func `a rate goes on under another table and another revocation list, unless it is another rate`() throws {
        let certificate = try self.certificate(userID: self.scores)
        let certificates = ClientCertificates()
        func meter(perSecond: Int) throws -> RateMeter {
            let apps = [self.app(0, self.scores)]
            let rule = ClientCertificateTable.Rule(name: .userID(self.scores), app: 0, topics: nil)
            let rate = RateLimit(count: perSecond, per: .seconds(1), burst: 1)
            certificates.replace { _ in ClientCertificateTable(apps: apps, rules: [rule], rate: rate) }
            return try #require(certificates.judge(certificate).sender?.meter)
        }
        let first = try meter(perSecond: 10)
        #expect(try meter(perSecond: 10) === first)
        _ = try certificates.revoke { RevocationList() }
        #expect(certificates.judge(certificate).sender?.meter === first)
        #expect(try meter(perSecond: 20) !== first)
        certificates.replace { _ in ClientCertificateTable() }
        #expect(certificates.judge(certificate).sender == nil)
    }
}

extension TopicTable {
    /// Whether a push with a topic passes.
    fileprivate func allows(_ topic: String) -> Bool { self.entry(topic: Array(topic.utf8).span) != nil }
}

extension String {
    fileprivate var trimmingSpace: String { self.last == " " ? String(self.dropLast()) : self }
}
