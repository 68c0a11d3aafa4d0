import TLS
import Testing

@Suite struct HandshakeTests {
    private let fixture: Fixture

    init() throws { self.fixture = try Fixture.shared.get() }

    @Test(arguments: [
        (TLSVersion.v1_2, "TLSv1.2 ECDHE-ECDSA-AES128-GCM-SHA256"), (.v1_3, "TLSv1.3 TLS_AES_128_GCM_SHA256"),
    ])
    func `both versions agree on the cheap suite`(version: TLSVersion, cipher: String) throws {
        let wire = try Wire.ready(version: version)
        #expect(wire.client.state == .ready)
        #expect(wire.server.state == .ready)
        #expect(wire.server.cipherDescription == cipher)
        #expect(wire.client.negotiatedProtocol == "h2")
        #expect(wire.server.negotiatedProtocol == "h2")
        #expect(wire.server.peerCertificate == nil)
        #expect(wire.client.peerCertificate?.commonName == "localhost")
    }

    @Test(arguments: TLSVersion.allCases)
    func `a handshake survives every cut between two bytes`(version: TLSVersion) throws {
        let server = try self.fixture.serverContext(versions: version...version)
        let client = try self.fixture.clientContext()
        var dripped = try Wire(client: client, server: server)
        try dripped.settle(step: 1)
        #expect(dripped.server.state == .ready)
        #expect(dripped.client.state == .ready)
        for step in [2, 3, 5, 7, 11, 64, 100, 255, 256, 257] {
            var wire = try Wire(client: client, server: server)
            try wire.settle(step: step)
            #expect(wire.server.state == .ready, "step \(step)")
            #expect(wire.client.state == .ready, "step \(step)")
        }
        let length = try TLSSession.client(client, serverName: "localhost").pendingCiphertextBytes
        for cut in 1..<length {
            var wire = try Wire(client: client, server: server)
            try wire.clientToServer(step: cut)
            #expect(wire.server.pendingCiphertextBytes > 0, "cut \(cut)")
        }
    }

    @Test(arguments: [
        (["h2"], ["http/1.1", "h2"], "h2"), (["h2", "http/1.1"], ["http/1.1", "h2"], "h2"),
        (["h2", "http/1.1"], ["http/1.1"], "http/1.1"), (["http/1.1", "h2"], ["h2", "http/1.1"], "http/1.1"),
    ])
    func `the server's order of protocols decides`(server: [String], client: [String], chosen: String) throws {
        var wire = try Wire(
            client: self.fixture.clientContext(alpn: client),
            server: self.fixture.serverContext(alpn: server)
        )
        try wire.settle()
        #expect(wire.server.negotiatedProtocol == chosen)
        #expect(wire.client.negotiatedProtocol == chosen)
    }

    @Test(arguments: TLSVersion.allCases, [["http/1.1"], []])
    func `a client without our protocol is refused, and told`(version: TLSVersion, alpn: [String]) throws {
        var wire = try Wire(
            client: self.fixture.clientContext(alpn: alpn),
            server: self.fixture.serverContext(versions: version...version)
        )
        let (client, server) = wire.failures()
        #expect(server?.code == .noApplicationProtocol)
        #expect(
            server?.message
                == (alpn.isEmpty ? "peer offers no protocol by ALPN" : "peer offers none of our protocols by ALPN")
        )
        #expect(client?.code == .noApplicationProtocol)
        #expect(
            client?.message
                == "peer ended the connection during the handshake with the alert 120, no application protocol"
        )
        #expect(wire.server.state == .closed)
        #expect(wire.client.state == .closed)
    }

    @Test(arguments: TLSVersion.allCases)
    func `prior knowledge lets a client in without ALPN, not one with another protocol`(version: TLSVersion) throws {
        let server = try self.fixture.serverContext(missingALPN: .acceptAsPriorKnowledge, versions: version...version)
        var silent = try Wire(client: self.fixture.clientContext(alpn: []), server: server)
        try silent.settle()
        #expect(silent.server.state == .ready)
        #expect(silent.server.negotiatedProtocol == nil)
        var other = try Wire(client: self.fixture.clientContext(alpn: ["http/1.1"]), server: server)
        #expect(other.failures().server?.code == .noApplicationProtocol)
    }

    @Test(arguments: ["localhost", "LOCALHOST", "push.apps.example.net", "127.0.0.1", "::1"])
    func `a name that the certificate has is accepted`(name: String) throws {
        var wire = try Wire(
            client: self.fixture.clientContext(),
            server: self.fixture.serverContext(),
            serverName: name
        )
        try wire.settle()
        #expect(wire.client.state == .ready)
    }

    @Test(
        arguments: TLSVersion.allCases,
        ["example.net", "a.b.apps.example.net", "apps.example.net", "localhost.example.net", "127.0.0.2", "::2"]
    )
    func `a name that the certificate has not is refused`(version: TLSVersion, name: String) throws {
        let server = try self.fixture.serverContext(versions: version...version)
        var wire = try Wire(client: self.fixture.clientContext(), server: server, serverName: name)
        let (client, _) = wire.failures()
        #expect(client?.code == .hostname)
        #expect(client?.message.hasPrefix("peer's certificate refused: ") == true)
        #expect(wire.client.state == .closed)
    }

    @Test func `an empty name is refused, for it would switch the check off`() throws {
        let context = try self.fixture.clientContext()
        #expect(throws: TLSError(.configuration, "a server's name is empty")) {
            try TLSSession.client(context, serverName: "")
        }
    }

    @Test func `an expired certificate is refused by name, and so is one from the future`() throws {
        let cases: [(CertificateValidity, String)] = [
            (.init(start: .at(seconds: 1_600_000_000), days: 30), "certificate has expired"),
            (.init(start: .at(seconds: 4_000_000_000), days: 30), "certificate is not yet valid"),
        ]
        for (validity, reason) in cases {
            let identity = try self.fixture.authority.issueServer(dnsNames: ["localhost"], validity: validity)
            var wire = try Wire(
                client: self.fixture.clientContext(),
                server: self.fixture.serverContext(identity: identity)
            )
            let (client, server) = wire.failures()
            #expect(client?.code == .peerCertificate)
            #expect(client?.message == "peer's certificate refused: \(reason)")
            #expect(server?.message.hasPrefix("peer ended the connection") == true)
        }
    }

    @Test func `a server of an unknown root is refused unless anybody is believed`() throws {
        let other = try CertificateAuthority.make(commonName: "Somebody else")
        let server = try self.fixture.serverContext(identity: other.issueServer(dnsNames: ["localhost"]))
        for trust in [.system, .roots(self.fixture.roots)] as [TLSClientConfiguration.Trust] {
            var wire = try Wire(client: self.fixture.clientContext(trust: trust), server: server)
            #expect(wire.failures().client?.code == .peerCertificate)
        }
        var wire = try Wire(client: self.fixture.clientContext(trust: .insecure), server: server, serverName: "any")
        try wire.settle()
        #expect(wire.client.state == .ready)
        #expect(wire.client.peerCertificate == nil)
    }

    @Test func `a client's certificate does not do for a server`() throws {
        let identity = try self.fixture.authority.issueClient(commonName: "localhost")
        var wire = try Wire(
            client: self.fixture.clientContext(),
            server: self.fixture.serverContext(identity: identity)
        )
        let (client, _) = wire.failures()
        #expect(client?.code == .peerCertificate)
        #expect(client?.message.contains("purpose") == true)
    }

    @Test func `no common version is told to both`() throws {
        var wire = try Wire(
            client: self.fixture.clientContext(versions: .v1_2 ... .v1_2),
            server: self.fixture.serverContext(versions: .v1_3 ... .v1_3)
        )
        let (client, server) = wire.failures()
        #expect(server?.message.hasPrefix("peer offers no TLS version of ours") == true)
        #expect(client?.code == .alert(70))
    }

    @Test(arguments: [
        ("GET / HTTP/1.1\r\nHost: a\r\n\r\n", "plain HTTP"), ("POST /3/device/00 HTTP/1.1\r\n", "plain HTTP"),
        ("DELETE /v1 HTTP/1.1\r\n", "plain HTTP"), ("CONNECT a:1 HTTP/1.1\r\n", "plain HTTP"),
        ("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "plain HTTP/2"), ("SSH-2.0-OpenSSH_9.2\r\n", "something else"),
    ])
    func `a peer that does not speak TLS is told apart`(text: String, name: String) throws {
        for step in [1, text.utf8.count] {
            let session = try TLSSession.server(self.fixture.serverContext())
            let error = try #require(throws: TLSError.self) {
                for start in stride(from: 0, to: text.utf8.count, by: step) {
                    try session.receive(Array(text.utf8.dropFirst(start).prefix(step)).span)
                }
            }
            #expect(error.code == .notTLS)
            #expect(error.message == "peer speaks \(name) on a TLS port")
            #expect(session.state == .closed)
            #expect(throws: error) { try session.receive([22].span) }
        }
    }

    @Test func `a server that answers in plain text is told to the client`() throws {
        let session = try TLSSession.client(self.fixture.clientContext(), serverName: "localhost")
        let error = #expect(throws: TLSError.self) { try session.receive(Array("HTTP/1.1 400 Bad".utf8).span) }
        #expect(error?.message == "peer speaks plain HTTP on a TLS port")
    }

    @Test func `a connection that ends during the handshake is truncated`() throws {
        let session = try TLSSession.server(self.fixture.serverContext())
        let hello = try TLSSession.client(self.fixture.clientContext(), serverName: "localhost").drainAll()
        try session.receive(Array(hello.prefix(20)).span)
        let error = #expect(throws: TLSError.self) { try session.receiveEnd() }
        #expect(error?.code == .truncated)
        #expect(error?.message == "peer ended the connection without close_notify during the handshake")
    }
}
