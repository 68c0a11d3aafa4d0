import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdHTTP2
import Logging

/// A push endpoint as a team would write it with Hummingbird: reads the body, answers 200 with an apns-id. It checks no
/// credential, decides nothing and keeps nothing. `HummingbirdServer CERTIFICATE KEY` prints its port.
@main struct HummingbirdServer {
    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 3 else { return print("usage: HummingbirdServer CERTIFICATE KEY") }
        let router = Router()
        router.post("3/device/{token}") { request, _ in
            _ = try await request.body.collect(upTo: 5120)
            return Response(status: .ok, headers: [.apnsID: "eabeae54-14a8-11e5-b60b-1697f925ec7b"])
        }
        let tls = TLSConfiguration.makeServerConfiguration(
            certificateChain: try NIOSSLCertificate.fromPEMFile(arguments[1]).map { .certificate($0) },
            privateKey: .privateKey(try NIOSSLPrivateKey(file: arguments[2], format: .pem))
        )
        var logger = Logger(label: "benchmark")
        logger.logLevel = .error
        let application = Application(
            router: router,
            server: try .http2Upgrade(tlsConfiguration: tls),
            configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { channel in
                FileHandle.standardOutput.write(Data("\(channel.localAddress?.port ?? 0)\n".utf8))
            },
            logger: logger
        )
        try await application.runService()
    }
}

extension HTTPField.Name {
    static let apnsID = Self("apns-id")!
}
