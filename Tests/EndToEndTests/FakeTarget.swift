import Foundation
import ScriptedServer
import Synchronization
import TLS

/// Something that is told by HTTP and answers as a test says.
final class FakeTarget: Sendable {
    let server: ScriptedServer
    let steps: SharedSteps
    /// The authority of its certificate.
    let ca: String

    final class SharedSteps: Sendable {
        private let steps: Mutex<[ScriptedServer.Step]>
        init(_ steps: [ScriptedServer.Step]) { self.steps = Mutex(steps) }
        var value: [ScriptedServer.Step] { self.steps.withLock { $0 } }
        func set(_ steps: ScriptedServer.Step...) { self.steps.withLock { $0 = steps } }
    }

    /// - Parameter folder: Has certificates, as those of a gateway.
    init(in folder: String, _ steps: ScriptedServer.Step...) async throws {
        let steps = SharedSteps(steps)
        self.steps = steps
        self.ca = "\(folder)/certs/ca.pem"
        let identity = TLSIdentity(
            certificateChain: .file("\(folder)/certs/server.pem"),
            privateKey: .file("\(folder)/certs/server.key")
        )
        self.server = try await ScriptedServer.start(
            tls: try TLSContext.server(TLSServerConfiguration(identity: identity, alpn: ["h2"])),
            script: { _ in steps.value }
        )
    }

    var url: String { "https://localhost:\(self.server.port)" }

    /// The lines of an app whose upstream it is.
    func asUpstream(key: String) -> String {
        """
            upstream: {url: "\(self.url)", keyID: \(TestGateway.kid), key: \(key), ca: \(self.ca)}
        """
    }
}
