import ArgumentParser
import FoundationEssentials
import TLS
import WidgetModel

/// `freshet certs`
struct Certs: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Make a development CA, a server certificate, a client certificate and a provider key.",
        discussion: """
            For development and tests. The command makes a CA, which signs the certificates. Your clients must trust \
            its ca.pem. Existing files are kept, so a second call changes nothing. To have a certificate made anew, \
            remove it with its key: the same CA signs the next one.

              freshet certs --out certs --host gateway.example.com
              freshet certs --peer --address 10.0.0.1 --address 10.0.0.2
            """
    )

    @Option(help: "The folder to write to; made if it does not exist.") var out = "certs"
    @Option(name: .customLong("host"), help: "A DNS name of the server; may be given several times.")
    var hosts = Self.usualHosts
    @Option(name: .customLong("address"), help: "An IP address of the server; may be given several times.")
    var addresses = Self.usualAddresses
    @Flag(
        name: .customLong("peer"),
        help: "Make the server's certificate also valid as a client certificate, as NATS brokers of a cluster need it."
    )
    var isPeer = false
    @Option(help: "How many days the server's and the client's certificates are valid.") var days = 365
    @Option(name: .customLong("topic"), help: "A topic the client certificate is for; may be given several times.")
    var topics: [String] = []
    @Option(
        name: .customLong("environment"),
        help: "The client certificate's environment: development or production; may be given twice. Default: none."
    )
    var environments: [String] = []
    @Option(name: .customLong("user-id"), help: "The UID in the client certificate's subject.") var userID: String?
    @Option(help: "The common name of the client certificate.") var client = "freshet development client"
    @OptionGroup var answer: AnswerOptions

    func validate() throws {
        guard (1...3650).contains(self.days) else { throw ValidationError("--days takes 1 to 3650") }
        guard self.environments.allSatisfy({ ["development", "production"].contains($0) }) else {
            throw ValidationError("--environment takes development or production")
        }
    }

    func run() throws {
        try self.make()
        func path(_ name: String) -> JSONValue { .string("\(self.out)/\(name)") }
        self.answer.print(
            [
                ("ca", path("ca.pem")), ("certificate", path("server.pem")), ("key", path("server.key")),
                ("clientCertificate", path("client.pem")), ("clientKey", path("client.key")),
                ("providerKey", path("provider-key.p8")), ("providerPublicKey", path("provider-key.public.pem")),
            ],
            or: """
                \(self.out)/ca.pem                   give to clients: curl --cacert, freshet --ca
                \(self.out)/server.pem, server.key   tls of the configuration
                \(self.out)/client.pem, client.key   a client certificate, if the gateway asks for one
                \(self.out)/provider-key.p8          signs provider tokens: freshet token mint --key
                \(self.out)/provider-key.public.pem  the key of a team in the configuration
                """
        )
    }

    /// Makes the files that are not there yet.
    func make() throws {
        try FileManager.default.createDirectory(
            atPath: self.out,
            withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700]
        )
        let authority = try self.authority()
        if self.exists("server.pem"), self.describesServer {
            Output.standardError(
                "\(self.out)/server.pem is kept as it is, without regard to --host, --address and --peer; remove it to have another "
                    + "one made"
            )
        }
        try self.pair("server") {
            try authority.issueServer(
                dnsNames: self.hosts,
                ipAddresses: self.addresses,
                isClient: self.isPeer,
                validity: CertificateValidity(days: self.days)
            )
        }
        try self.pair("client") {
            try authority.issueClient(
                commonName: self.client,
                userID: self.userID,
                topics: self.topics,
                environments: self.environments.map { $0 == "development" ? .development : .production },
                validity: CertificateValidity(days: self.days)
            )
        }
        if !self.exists("provider-key.p8") {
            let key = try ES256PrivateKey.generate()
            try self.write(try key.pemRepresentation, to: "provider-key.p8", isSecret: true)
            try self.write(try key.publicKey.pemRepresentation, to: "provider-key.public.pem", isSecret: false)
        }
    }

    /// Whether options say what the server's certificate is to be.
    private var describesServer: Bool {
        self.isPeer || self.hosts != Self.usualHosts || self.addresses != Self.usualAddresses
    }

    static let usualHosts = ["localhost"]
    static let usualAddresses = ["127.0.0.1", "::1"]

    private func authority() throws -> CertificateAuthority {
        if self.exists("ca.pem"), self.exists("ca.key") {
            return try CertificateAuthority(
                certificate: .file("\(self.out)/ca.pem"),
                privateKey: .file("\(self.out)/ca.key")
            )
        }
        let authority = try CertificateAuthority.make(commonName: "Freshet development CA")
        try self.write(authority.certificatePEM, to: "ca.pem", isSecret: false)
        try self.write(authority.privateKeyPEM, to: "ca.key", isSecret: true)
        return authority
    }

    private func pair(_ name: String, _ issue: () throws -> IssuedCertificate) throws {
        guard !self.exists("\(name).pem") else { return }
        let issued = try issue()
        try self.write(issued.certificatePEM, to: "\(name).pem", isSecret: false)
        try self.write(issued.privateKeyPEM, to: "\(name).key", isSecret: true)
    }

    private func exists(_ name: String) -> Bool {
        FileManager.default.fileExists(atPath: "\(self.out)/\(name)")
    }

    private func write(_ text: String, to name: String, isSecret: Bool) throws {
        try Output.make(text, at: "\(self.out)/\(name)", isSecret: isSecret)
    }
}
