import Foundation
import Testing

/// A forgotten pause: the verb lists it, and the alert fires.
@Suite struct OrderTests {
    private static func orders(_ gateway: TestGateway, _ more: [String] = []) async throws -> Command.Result {
        try await Command.run(TestGateway.program, ["orders"] + gateway.access() + more)
    }

    private static func order(_ gateway: TestGateway, _ body: String) async throws -> TestGateway.Answer {
        try await gateway.curl("POST", "\(gateway.opsURL)/v1/orders", body: body)
    }

    @Test func `a forgotten pause is listed by freshet orders, and the alert fires`() async throws {
        let gateway = try await TestGateway.start()
        let before = try await Self.orders(gateway)
        #expect(before.status == 0 && before.output == "Nothing is paused.\n", "\(before.errors)")
        #expect(try await Alerts.firing("FreshetPaused", gateway, afterMinutes: 20) == 0)
        let of = #""of":{"app":"\#(TestGateway.app)"}"#
        try #require(try await Self.order(gateway, #"{"action":"pause",\#(of)}"#).status == 200)
        let lines = try await Self.orders(gateway)
        #expect(lines.output.contains("\n\(TestGateway.app)  20"), "\(lines.output)")
        #expect(lines.output.contains("  it is resumed  operator-token  127.0.0.1"), "\(lines.output)")
        let json = try await Self.orders(gateway, ["--json"])
        #expect(json.output.contains(#""of":{"app":"\#(TestGateway.app)"}"#), "\(json.output)")
        #expect(try await Alerts.firing("FreshetPaused", gateway, afterMinutes: 20) == 1)
        #expect(try await Alerts.firing("FreshetPaused", gateway, afterMinutes: 10) == 0)
        try #require(try await Self.order(gateway, #"{"action":"resume",\#(of)}"#).status == 200)
        #expect(try await Self.orders(gateway).output == "Nothing is paused.\n")
        await gateway.stop()
    }
}
