import FreshetClient
import Synchronization
import Testing

/// How often a token is made.
@Suite struct TokenSourceTests {
    private struct NoKey: Error {}

    /// The tokens of some requests, one after the other.
    private static func tokens(_ source: TokenSource, of count: Int) async throws -> [String?] {
        let transport = ScriptedTransport(Array(repeating: .problem(404, "not-found"), count: count))
        let host = WidgetHost(app: "a", token: "ff", at: try transport.endpoint(token: source))
        for _ in 0..<count { _ = try? await host.state() }
        return transport.requests.map { $0.headers["authorization"] }
    }

    /// Makes `0`, `1` and so on, and fails at first if told so.
    private static func counting(every interval: Duration, failures: Int = 0) -> TokenSource {
        let made = Mutex(-failures)
        return .renewing(every: interval) {
            let number = made.withLock { made in
                defer { made += 1 }
                return made
            }
            guard number >= 0 else { throw NoKey() }
            return "\(number)"
        }
    }

    @Test func `a token is used for as long as it is told`() async throws {
        #expect(
            try await Self.tokens(Self.counting(every: .seconds(2_400)), of: 3) == ["bearer 0", "bearer 0", "bearer 0"]
        )
        #expect(try await Self.tokens(Self.counting(every: .zero), of: 3) == ["bearer 0", "bearer 1", "bearer 2"])
        #expect(try await Self.tokens(.none, of: 1) == [nil])
    }

    @Test func `a token that could not be made is made for the next request`() async throws {
        #expect(
            try await Self.tokens(Self.counting(every: .seconds(2_400), failures: 1), of: 3) == [
                "bearer 0", "bearer 0",
            ]
        )
    }

    @Test func `requests at the same time share a token`() async throws {
        let transport = ScriptedTransport(Array(repeating: .problem(404, "not-found"), count: 50))
        let endpoint = try transport.endpoint(token: Self.counting(every: .seconds(2_400)))
        await withTaskGroup { group in
            for _ in 0..<50 { group.addTask { _ = try? await WidgetHost(app: "a", token: "ff", at: endpoint).state() } }
        }
        #expect(transport.requests.count == 50)
        #expect(Set(transport.requests.map { $0.headers["authorization"] }) == ["bearer 0"])
    }
}
