import ArgumentParser
import Foundation
import HTTPTransport
import NIOPosix
import TLS

/// Which gateway a verb talks to, and how it believes it: the same options for every verb.
struct ConnectionOptions: ParsableArguments {
    @Option(
        help: """
            The listener, as in https://gateway.example.com:9443: the one for operators, but for senders in send and ping \
            (2197), for hosts in import and export (8443). Default: FRESHET_SERVER, of those verbs FRESHET_PUSH_SERVER and \
            FRESHET_HOST_SERVER, else the context's (freshet context), else the gateway on this machine.
            """
    )
    var server: String?
    @Option(help: "The context to use (freshet context list).") var context: String?
    @Option(help: "The CA that signed the gateway's certificate, a PEM file. Default: the system's CAs.") var ca:
        String?
    @Option(help: "The name in the gateway's certificate, if it differs from the one in --server.") var serverName:
        String?
    @Option(help: "A client certificate to present, a PEM file.") var cert: String?
    @Option(help: "The client certificate's key, a PEM file.") var certKey: String?

    /// The gateway's address and the credentials that it is shown.
    ///
    /// - Parameters:
    ///   - listener: The listener that is talked to.
    ///   - more: The verb's further options.
    /// - Throws: Exit code 78 if the file of contexts is faulty, 64 if the address is none.
    func access(
        _ listener: GatewayListener,
        _ more: [GatewaySetting: String?] = [:],
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws -> GatewayAccess {
        let named: [GatewaySetting: String?] = [
            listener.setting: self.server, .ca: self.ca, .serverName: self.serverName, .cert: self.cert,
            .certKey: self.certKey,
        ]
        let options = named.merging(more) { first, _ in first }.compactMapValues { $0 }
        do {
            return try GatewayAccess(listener, options: options, context: self.context, environment: environment)
        } catch let error as ContextFile.ReadError {
            Output.standardError("\(error)")
            throw ExitCode(78)
        } catch let error as ValidationError {
            throw Output.wrongUsage(error.message)
        }
    }
}

extension GatewayAccess {
    /// How the gateway is believed, and which certificate it is shown.
    ///
    /// - Throws: Exit code 64, if a certificate or key is missing or no such thing.
    func tlsContext() throws(ExitCode) -> TLSContext {
        var identity: TLSIdentity?
        switch (self.value(.cert), self.value(.certKey)) {
        case (let cert?, let key?):
            identity = TLSIdentity(certificateChain: .file(cert.text), privateKey: .file(key.text))
        case (nil, nil): break
        default: throw Output.wrongUsage("give --cert and --cert-key together")
        }
        do throws(TLSError) {
            return try TLSContext.client(
                TLSClientConfiguration(
                    trust: self.value(.ca).map { .roots(.file($0.text)) } ?? .system,
                    identity: identity,
                    alpn: ["h2"]
                )
            )
        } catch {
            throw Output.wrongUsage("\(error)")
        }
    }

    /// A connection, closed again whatever happens. Why there is none, or it broke, goes to standard error.
    ///
    /// - Throws: Exit code 1 if there is none or it broke; the errors of `body`.
    func withConnection<Result: Sendable>(
        _ body: (HTTP2ClientConnection) async throws -> Result
    ) async throws -> Result {
        let tls = try self.tlsContext()
        do {
            let connection = try await self.connect(tls)
            do {
                let result = try await body(connection)
                await connection.close()
                return result
            } catch {
                await connection.close()
                throw error
            }
        } catch let error as HTTPTransportError {
            Output.standardError("\(self.failure(error))")
            throw ExitCode(1)
        }
    }

    /// The longest answer that is read: a page of a thousand pushes with patterns has some megabytes.
    static let answerBytesMax = 67_108_864

    /// - Throws: ``HTTPTransportError``.
    func connect(_ tls: TLSContext) async throws -> HTTP2ClientConnection {
        var configuration = HTTP2ClientConfiguration()
        configuration.responseBodyBytesMax = Self.answerBytesMax
        return try await HTTP2ClientConnection.connect(
            host: self.host,
            port: self.port,
            tls: tls,
            serverName: self.value(.serverName)?.text,
            on: MultiThreadedEventLoopGroup.singleton,
            configuration: configuration
        )
    }

    /// Why the gateway does not answer, and what to do about it.
    func failure(_ error: any Error) -> String {
        let remedy: String? =
            switch (error as? HTTPTransportError)?.code {
            case .connect, .connectTimeout:
                "check that it runs there; the address comes from \(self.place), and --server, "
                    + "\(GatewaySetting.server.variable) or a context can give another one"
            case .tls: "give the CA with --ca, the name with --server-name"
            case .applicationProtocol: "check that this is the port of the right listener"
            case .timeout: "look at its log and at GET /readyz"
            default: nil
            }
        let sentence = "the gateway at \(self.url) does not answer: \(ConnectionFailure.sentence(error))"
        return remedy.map { "\(sentence)\n\($0)" } ?? sentence
    }
}
