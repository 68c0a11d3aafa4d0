import Foundation
import ScriptedServer
import Testing

/// Incidents of upstreams, webhooks and timeline providers. The clock is moved, so that half a minute need not pass.
enum TargetDrills {
    private static let provided = "com.example.panels"

    static func run() async throws -> [String] {
        let folder = try TestGateway.makeFolder()
        try await TestGateway.makeCertificates(in: folder, ["--topic", TestGateway.topic])
        try "a secret of the webhook".write(toFile: "\(folder)/secret", atomically: true, encoding: .utf8)
        let upstream = try await FakeTarget(in: folder, .answer(200))
        let webhook = try await FakeTarget(in: folder, .answer(200))
        let provider = try await ExampleProvider(in: folder)
        let settings = """
            \(upstream.asUpstream(key: "\(folder)/certs/provider-key.p8"))
                webhook: {url: "\(webhook.url)/hook", secretFile: \(folder)/secret, ca: \(webhook.ca)}
            """
        let panels = """
              - bundleID: \(Self.provided)
                team: \(TestGateway.team)
                developerMode: true
                kinds:
                  - kind: scores
                    timelineProvider: {url: "\(provider.url)", timeout: 10m}
                    parameters: [{name: team, type: string, required: true}]
            deliveries: {connect: 1h, handshake: 1h, request: 1h, pingAnswer: 1h, allowedNetworks: [127.0.0.0/8, "::1"]}
            \(Drilling.settings)
            """
        let gateway = try await TestGateway.start(
            in: folder,
            extra: panels,
            appSettings: "    developerMode: true\n" + settings,
            options: ["--in-memory", "--movable-clock"]
        )
        let prometheus = try await Prometheus.start(watching: gateway)
        let bearer = try await gateway.providerToken()
        try await Drilling.register(gateway, 1, by: "apns", bearer: bearer)
        try await Drilling.register(gateway, 2, by: "webhook", bearer: bearer)
        try await Drilling.register(gateway, 3, app: Self.provided, bearer: bearer)
        var done: [String] = []

        /// Pushes, long enough after the last that nothing holds it back.
        func push(_ number: Int, _ app: String = TestGateway.app) async throws {
            try await Drilling.advance(gateway, seconds: 60)
            try await Drilling.push(gateway, to: number, app: app, bearer: bearer)
        }

        /// Pushes, and moves the clock on until the failing target is in trouble.
        func fail(_ number: Int, _ list: String, _ app: String = TestGateway.app) async throws {
            try await push(number, app)
            try await Drilling.wait(for: ["failing", "inTrouble"], of: list, app, gateway)
            try await Drilling.advance(gateway, seconds: 31)
            try await Drilling.wait(for: ["inTrouble"], of: list, app, gateway)
        }

        /// One that is mended is tried at once, as the book says.
        func finish(_ drill: Drill, _ list: String, _ app: String = TestGateway.app) async throws {
            var drill = drill
            // Again, if a try from before it was mended fails only now.
            try await Drilling.wait(for: ["well"], of: list, app, gateway) { try await Drilling.tryNow(gateway) }
            try await drill.isOver(gateway)
            done.append(drill.incident.title)
        }

        try await push(1)
        try await Drilling.wait(for: ["well"], of: "upstreams", TestGateway.app, gateway)
        var down = try await Drill("An upstream answers 503", gateway, prometheus)
        upstream.steps.set(.answer(503, [:], #"{"reason":"ServiceUnavailable"}"#))
        try await fail(1, "upstreams")
        try await down.isSeen(by: gateway)
        upstream.steps.set(.answer(200))
        try await finish(down, "upstreams")

        var refused = try await Drill("An upstream answers 403", gateway, prometheus)
        upstream.steps.set(.answer(403, [:], #"{"reason":"InvalidProviderToken"}"#))
        try await push(1)
        try await Drilling.wait(for: ["inTrouble"], of: "upstreams", TestGateway.app, gateway)
        try await refused.isSeen(by: gateway)
        upstream.steps.set(.answer(200))
        try await finish(refused, "upstreams")

        var gone = try await Drill("APNs takes push tokens back", gateway, prometheus)
        let tomorrow = Int(Date().timeIntervalSince1970 + 86_400) * 1000
        upstream.steps.set(.answer(410, [:], #"{"reason":"Unregistered","timestamp":\#(tomorrow)}"#))
        try await push(1)
        try await gone.isSeen(by: gateway)
        upstream.steps.set(.answer(200))
        try await Drilling.register(gateway, 4, by: "apns", bearer: bearer)
        try await gone.isOver(gateway, staysToDo: true, again: { try await push(4) })
        done.append(gone.incident.title)

        var hook = try await Drill("A webhook's target is down", gateway, prometheus)
        webhook.steps.set(.answer(500))
        try await fail(2, "webhooks")
        try await hook.isSeen(by: gateway)
        webhook.steps.set(.answer(200))
        try await finish(hook, "webhooks")

        try await Drilling.wait(for: ["well"], of: "providers", Self.provided, gateway)
        var away = try await Drill("A timeline provider is down", gateway, prometheus)
        await provider.stop()
        try await fail(3, "providers", Self.provided)
        try await away.isSeen(by: gateway)
        let port = try #require(provider.url.split(separator: ":").last.flatMap { Int($0.prefix(while: \.isNumber)) })
        let again = try await ExampleProvider(in: folder, port: port)
        try await finish(away, "providers", Self.provided)
        await again.stop()
        await gateway.stop()
        await upstream.server.stop()
        await webhook.server.stop()
        return done
    }
}
