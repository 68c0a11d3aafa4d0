import Foundation
import FreshetClient
import Testing

/// The errors that URLSession's failures become.
@Suite struct URLSessionTransportTests {
    /// A host whose gateway is not there.
    private static func host() throws -> WidgetHost {
        let nowhere = try ScriptedTransport.url("https://127.0.0.1:9")
        return WidgetHost(app: "a", token: "0a1b2c3d", at: Endpoint(nowhere, token: .fixed("secret")))
    }

    @Test func `a failure says why, and holds neither push token nor credential`() async throws {
        let error = await #expect(throws: FreshetError.self) { try await Self.host().state() }
        let text = error.map { "\($0)" } ?? ""
        #expect(
            error?.isTransient == true && text.hasPrefix("the gateway does not answer: ") && text.contains("connect")
        )
        #expect(!text.contains("0a1b2c3d") && !text.contains("secret"), "\(text)")
    }

    @Test func `a task that is cancelled does not wait for a gateway any longer`() async throws {
        let host = try Self.host()
        // Some are cancelled before their request begins, some as it does, and some later.
        for pauses in 0..<100 {
            let reading = Task {
                for try await _ in host.events() {}
            }
            for _ in 0..<pauses { await Task.yield() }
            reading.cancel()
            await #expect(throws: CancellationError.self) { try await reading.value }
        }
    }
}
