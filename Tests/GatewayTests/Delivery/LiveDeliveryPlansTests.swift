import Delivery
import FoundationEssentials
import HTTPTransport
import Ownership
import Settings
import TLS
import Testing
import WidgetModel

/// Upstreams and webhooks that are read again.
@Suite struct LiveDeliveryPlansTests {
    private static func folder() throws -> String {
        let folder = FileManager.default.temporaryDirectory.appending(path: "freshet-plans-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        return folder
    }

    private static func write(_ text: String, _ file: String) throws {
        try text.write(toFile: file, atomically: true, encoding: .utf8)
    }

    private static func configuration(_ folder: String) -> GatewayConfiguration {
        var app = GatewayConfiguration.App(bundleID: Sports.app, team: Sports.team)
        app.webhook = GatewayConfiguration.Webhook()
        app.webhook?.url = "https://hooks.example.com/a"
        app.webhook?.secretFile = "\(folder)/secret"
        app.upstream = GatewayConfiguration.Upstream()
        app.upstream?.keyID = KeyID("KEY1234567")
        app.upstream?.key = "\(folder)/key.p8"
        var configuration = GatewayConfiguration()
        configuration.apps = [app]
        return configuration
    }

    @Test func `a secret that was exchanged is used, and what has not changed goes on`() throws {
        let folder = try Self.folder()
        try Self.write("first-secret-of-16", "\(folder)/secret")
        try Self.write(try ES256PrivateKey.generate().pemRepresentation, "\(folder)/key.p8")
        let configuration = Self.configuration(folder)
        let live = LiveDeliveryPlans(try DeliveryPlans(configuration))
        let before = live.current
        try Self.write("second-secret-of-16", "\(folder)/secret")
        #expect(try live.replace(configuration) == [.webhook(Sports.app)])
        #expect(try live.replace(configuration) == [])
        let after = live.current
        #expect(after.webhooks[Sports.app]?.secret == Array("second-secret-of-16".utf8))
        let (old, new) = (try #require(before.upstreams[Sports.app]), try #require(after.upstreams[Sports.app]))
        #expect(new.tokens === old.tokens)
        #expect(new.target.isSameConnections(as: old.target))
        #expect(new.number == old.number)
        // Another key signs other tokens, over the same connections.
        try Self.write(try ES256PrivateKey.generate().pemRepresentation, "\(folder)/key.p8")
        #expect(try live.replace(configuration) == [.upstream(old.number)])
        #expect(live.current.upstreams[Sports.app]?.tokens !== old.tokens)
        // A file that is gone changes nothing.
        try FileManager.default.removeItem(atPath: "\(folder)/secret")
        #expect(throws: TLSError.self) { try live.replace(configuration) }
        #expect(live.current.webhooks[Sports.app]?.secret == Array("second-secret-of-16".utf8))
        try FileManager.default.removeItem(atPath: folder)
    }
}
