import ArgumentParser
import HTTPTransport
import NIOPosix
import TLS

/// Which server a verb talks to, and how it believes it.
struct ServerOptions: ParsableArguments {
    @Option(help: "The server's host name or address.") var host = "127.0.0.1"
    @Option(help: "The server's port.") var port = 2197
    @Option(help: "The CA that signed the server's certificate, a PEM file; the system's roots if not given.")
    var ca: String?
    @Option(help: "The name in the server's certificate, if it is not the host.") var serverName: String?
    @Option(help: "A client certificate, a PEM file.") var cert: String?
    @Option(help: "The client certificate's key, a PEM file.") var certKey: String?

    /// A connection, closed again whatever happens.
    func withConnection<Result: Sendable>(
        _ body: (HTTP2ClientConnection) async throws -> Result
    ) async throws -> Result {
        let connection = try await HTTP2ClientConnection.connect(
            host: self.host,
            port: self.port,
            tls: try self.context(),
            serverName: self.serverName,
            on: MultiThreadedEventLoopGroup.singleton
        )
        do {
            let result = try await body(connection)
            await connection.close()
            return result
        } catch {
            await connection.close()
            throw error
        }
    }

    private func context() throws -> TLSContext {
        var identity: TLSIdentity?
        if let cert = self.cert, let key = self.certKey {
            identity = TLSIdentity(certificateChain: .file(cert), privateKey: .file(key))
        } else if self.cert != nil || self.certKey != nil {
            throw ValidationError("--cert and --cert-key go together")
        }
        return try TLSContext.client(
            TLSClientConfiguration(
                trust: self.ca.map { .roots(.file($0)) } ?? .system,
                identity: identity,
                alpn: ["h2"]
            )
        )
    }
}

/// How a verb proves who it is: a ready token, or a key to mint one with.
struct CredentialOptions: ParsableArguments {
    @Option(help: "A provider token that was minted before.") var token: String?
    @Option(help: "The provider key, a .p8 file, to mint a token with.") var key: String?
    @Option(help: "The key's id.") var kid: String?
    @Option(help: "The team's id.") var team: String?

    /// The token to send, or nil if a client certificate speaks.
    func providerToken() throws -> String? {
        if let token = self.token { return token }
        guard let key = self.key else { return nil }
        guard let kid = self.kid, let team = self.team else {
            throw ValidationError("--key needs --kid and --team")
        }
        var signer = Token.Signer()
        signer.key = key
        signer.kid = kid
        signer.team = team
        return try ProviderTokenMint.mint(signer)
    }

    /// The token to send, where nothing else will do.
    func requiredProviderToken() throws -> String {
        guard let token = try self.providerToken() else {
            throw ValidationError("give --token, or --key with --kid and --team")
        }
        return token
    }
}
