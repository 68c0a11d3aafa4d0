import Delivery
import Engine
import IntentMatching
import Serving
import TestSupport
import Testing
import WidgetModel

/// A host says that it has done a reload whose timeline the gateway has not fetched yet.
@Suite struct EarlyAcknowledgementTests {
    private static let phone = Sports.token("phone")

    @Test func `a reload is not done before its provider has answered, by whichever route it is said`() async throws {
        let owners = try await OwnerScene.started(partitions: 2)
        let provider = try ProviderScene(owners)
        provider.reply { ProviderScene.answer($0, content: #""new""#) }
        let routes = try RouteScene(owners, providers: provider.providers)
        try await routes.register("phone")
        try await owners.settle()
        let id = try #require(try await provider.outstanding("phone").first)
        let host = try routes.key.hostCredential(Self.phone, of: "phone")
        let done = #"{"reload":"\#(id)"}"#
        let requests = [
            ("POST", RouteScene.path(Self.phone, "signals"), host, #"{"signal":"reloaded","reload":"\#(id)"}"#),
            (
                "POST", RouteScene.path(Self.phone, "signals"), host,
                #"{"signals":[{"signal":"appForeground"},"#
                    + #"{"signal":"entryShown","reload":"\#(id)","date":"2026-11-02T17:00:00Z"}]}"#
            ),
            ("PUT", RouteScene.path(Self.phone, "widgets/a/timeline"), host, done),
            ("POST", "/v1/apps/\(Sports.app)/acknowledgements", try routes.key.providerToken(), done),
        ]
        for (method, path, credential, body) in requests {
            let answer = try await routes.send(method, path, credential, body)
            #expect(answer.place == ["400", "not-supported", "reload"], "\(path): \(answer.body)")
        }
        #expect(try await provider.outstanding("phone") == [id])
        await provider.fetcher.fetch([id])
        try await provider.eventually("it is shown") { provider.shown == [#"phone:a "new""#] }
        let late = try await routes.send("POST", requests[0].1, host, requests[0].3)
        #expect(late.place == ["404", "unknown-reload"])
    }

    @Test func `a host may refuse a reload at any time, and one that fetches for itself may say that it is done`()
        async throws
    {
        let owners = try await OwnerScene.started(partitions: 2)
        // Its provider is another kind's.
        let other = KindKey(app: Sports.otherApp, kind: Sports.secret.kind)
        for (keys, signal) in [([ProviderScene.key], "refused"), ([other], "reloaded")] {
            let routes = try RouteScene(owners, providers: try ProviderScene(owners, keys: keys).providers)
            let name = signal
            try await routes.register(name)
            try await owners.settle()
            let id = try #require(
                try await owners.outstanding(HostKey(name)).first?.id
            )
            let answer = try await routes.send(
                "POST",
                RouteScene.path(Sports.token(name), "signals"),
                try routes.key.hostCredential(Sports.token(name), of: name),
                #"{"signal":"\#(signal)","reload":"\#(id)"}"#
            )
            #expect(answer.status == 204, "\(answer.body)")
        }
    }
}
