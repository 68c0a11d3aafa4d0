import Foundation
import FreshetClient
import Testing

/// Sender, gateway, timeline provider, host: a push changes what a widget shows.
@Suite struct ProviderTests {
    /// The score that an entry shows.
    private static func score(_ entry: Entry) -> String {
        "\(entry.content["us"]?.int ?? -1)-\(entry.content["them"]?.int ?? -1)"
    }

    @Test(arguments: ExampleProvider.Language.allCases)
    func `a push lets the gateway fetch a timeline, and the host shows its entry`(
        language: ExampleProvider.Language
    ) async throws {
        let folder = try TestGateway.makeFolder()
        let provider = try await ExampleProvider(language, in: folder)
        try provider.set(us: 14, them: 10)
        let gateway = try await TestGateway.start(
            in: folder,
            appSettings: "    developerMode: true",
            timelineProvider: provider.url
        )
        let bearer = try await gateway.providerToken()
        let host = try gateway.host(1, bearer)
        _ = try await gateway.register(1, teams: ["seahawks"], bearer: bearer)
        var pushed: String?
        for try await event in host.events() {
            if case .reload = event { Issue.record("\(event)") }
            guard case .entry(let entry) = event, entry.kind == "scores" else { continue }
            if pushed == nil {
                #expect(Self.score(entry) == "14-10")
                try provider.set(us: 21, them: 10)
                pushed = try await gateway.pushScore(bearer)
            } else if Self.score(entry) == "21-10" {
                try await host.send([.entryShown(entry.reload, date: entry.date)])
                break
            }
        }
        let push = try await gateway.settled(try #require(pushed))
        #expect(push.json["outcomes"] as? [String: Int] == ["exempt": 1])

        #expect(Set(try await host.state().entries.map(\.instance)) == ["scores-0", "character"])
        let stats = try await gateway.curl("GET", "\(gateway.opsURL)/v1/stats")
        let reloads = stats.json["reloads"] as? [String: Any]
        #expect((reloads?["freshness"] as? [String: Any])?["shown"] as? Int == 1)
        #expect((reloads?["freshness"] as? [String: Any])?["p95Milliseconds"] is Int)

        var answered = 0
        for url in gateway.opsURLs {
            let kinds = try await gateway.curl("GET", "\(url)/v1/kinds/scores")
            let kind = (kinds.json["kinds"] as? [[String: Any]])?.first
            let provided = kind?["timelineProvider"] as? [String: Any]
            #expect(provided?["breaker"] as? String == "closed")
            #expect(kind?["findings"] is [String: Int])
            answered += provided?["answered"] as? Int ?? 0
        }
        #expect(answered == 2)
        try await Self.gallery(gateway, bearer)
        await provider.stop()
        await gateway.stop()
    }

    @Test(.oneGateway("it starts again"))
    func `the shown entry survives the process`() async throws {
        let folder = try TestGateway.makeFolder()
        let provider = try await ExampleProvider(in: folder)
        try provider.set(us: 21, them: 10)
        var gateway = try await TestGateway.start(in: folder, timelineProvider: provider.url)
        let bearer = try await gateway.providerToken()
        _ = try await gateway.register(1, teams: ["seahawks"], bearer: bearer)
        func shown() async throws -> ContentEntry? {
            try await gateway.host(1, bearer).state().entries.first { $0.instance == "scores-0" }?.entries.first
        }
        _ = try await gateway.eventually("the entry is there") { try await shown() }
        await gateway.crash()
        await provider.stop()
        gateway = try await TestGateway.start(in: folder, timelineProvider: provider.url)
        #expect(try await shown()?.content["us"] == 21)
        await gateway.stop()
    }

    @Test(arguments: TestLog.present)
    func `a widget that is added is shown a placeholder before its timeline, however late that is`(
        log: TestLog
    ) async throws {
        let folder = try TestGateway.makeFolder()
        let provider = try await ExampleProvider(in: folder)
        try provider.breakScores()
        let gateway = try await TestGateway.start(
            on: log,
            in: folder,
            partitions: 4,
            timelineProvider: provider.url
        )
        let bearer = try await gateway.providerToken()
        let host = try gateway.host(1, bearer)
        _ = try await gateway.register(1, teams: ["seahawks"], bearer: bearer)
        // Its timeline fails, and the placeholder is there.
        let kept = try await gateway.eventually("the state has the placeholder") {
            try await host.state().placeholders.first { $0.instance == "scores-0" }
        }
        #expect(kept.content["isPlaceholder"] == true)

        // Each drawing once: a stream that begins anew draws again what is there.
        var seen: [String] = []
        for try await event in host.events() {
            let drawing: String
            switch event {
            case .placeholder(let placeholder) where placeholder.kind == "scores":
                #expect(placeholder.content["isPlaceholder"] == true)
                #expect(!seen.contains("entry of \(placeholder.instance)"))
                drawing = "placeholder of \(placeholder.instance)"
            case .entry(let entry) where entry.kind == "scores":
                #expect(entry.content["isPlaceholder"] == nil)
                drawing = "entry of \(entry.instance)"
            default: continue
            }
            guard !seen.contains(drawing) else { continue }
            seen.append(drawing)
            // One that is added while the stream is open; then both get their timelines.
            if seen.count == 1 {
                _ = try await gateway.register(1, teams: ["seahawks", "rams"], bearer: bearer, revision: 2)
            }
            if seen.count == 2 { try provider.set(us: 14, them: 10) }
            if seen.count == 4 { break }
        }
        #expect(seen.prefix(2) == ["placeholder of scores-0", "placeholder of scores-1"])
        #expect(seen.dropFirst(2).sorted() == ["entry of scores-0", "entry of scores-1"])
        let state = try await host.state()
        #expect(state.placeholders == [])
        #expect(state.instances.map(\.budget.charged) == [0, 0, 0])
        await provider.stop()
        await gateway.stop()
    }

    @Test(.oneGateway("each keeps what providers say of relevance"))
    func `what is relevant and not placed is suggested; a push lets it be asked anew`() async throws {
        let folder = try TestGateway.makeFolder()
        let provider = try await ExampleProvider(in: folder)
        try provider.set(us: 0, them: 0, team: "rams")
        let gateway = try await TestGateway.start(in: folder, timelineProvider: provider.url)
        let bearer = try await gateway.providerToken()
        _ = try await gateway.register(1, teams: ["seahawks"], bearer: bearer)
        #expect(try await Self.suggestions(gateway, bearer) == ["rams: Rams"])

        try provider.set(us: 0, them: 0, team: "bears")
        #expect(try await Self.suggestions(gateway, bearer) == ["rams: Rams"])
        _ = try await gateway.pushScore(bearer)
        #expect(try await Self.suggestions(gateway, bearer) == ["bears: Bears"])

        try provider.set(us: 0, them: 0, team: "seahawks")
        #expect(try await Self.suggestions(gateway, bearer) == ["bears: Bears"])
        try await gateway.sender(bearer).push(toDevice: TestGateway.token(1))
        #expect(try await Self.suggestions(gateway, bearer) == [])
        await provider.stop()
        await gateway.stop()
    }

    /// The teams that are suggested to the first host, and their descriptions.
    private static func suggestions(_ gateway: TestGateway, _ bearer: String) async throws -> [String] {
        try await gateway.host(1, bearer).suggestions().suggestions.map { suggestion in
            "\(suggestion.configuration["team"]?.string ?? "?"): \(suggestion.description ?? "?")"
        }
    }

    @Test(.oneGateway("it starts again"))
    func `a provider on the network is believed by its authority and told the token`() async throws {
        let folder = try TestGateway.makeFolder()
        try await TestGateway.makeCertificates(in: folder)
        try "not-the-token-of-it\n".write(toFile: "\(folder)/provider.token", atomically: true, encoding: .utf8)
        let provider = try await ExampleProvider(token: "a-token-of-this-provider", in: folder)
        try provider.set(us: 14, them: 10)

        // Its authority is none of the system's: nothing is told to it.
        var gateway = try await TestGateway.start(in: folder, timelineProvider: provider.url)
        let bearer = try await gateway.providerToken()
        _ = try await gateway.register(1, teams: ["seahawks"], bearer: bearer)
        let stranger = try await Self.fault(gateway)
        #expect(stranger.contains("certificate"), "\(stranger)")
        await gateway.crash()

        // It is believed, and does not know the token.
        let settings = "ca: certs/ca.pem, tokenFile: provider.token"
        gateway = try await TestGateway.start(in: folder, timelineProvider: provider.url, providerSettings: settings)
        let unknown = try await Self.fault(gateway)
        #expect(unknown.contains("401"), "\(unknown)")
        await gateway.crash()

        // Both are right, and the failed request is made again.
        try "a-token-of-this-provider\n".write(toFile: "\(folder)/provider.token", atomically: true, encoding: .utf8)
        gateway = try await TestGateway.start(in: folder, timelineProvider: provider.url, providerSettings: settings)
        let shown = try await gateway.eventually("the timeline is there") {
            try await gateway.host(1, bearer).state().entries.first { $0.instance == "scores-0" }?.entries.first
        }
        #expect(shown.content["us"] == 14)
        let requests = await provider.stop()
        #expect(Set(requests.dropFirst()) == ["HTTP/2 unknown", "HTTP/2 known"])
        await gateway.stop()
    }

    /// The last fault of the provider of scores.
    private static func fault(_ gateway: TestGateway) async throws -> String {
        try await gateway.eventually("the provider fails") {
            let kinds = try await gateway.curl("GET", "\(gateway.opsURL)/v1/kinds/scores").json
            let provided = (kinds["kinds"] as? [[String: Any]])?.first?["timelineProvider"] as? [String: Any]
            return (provided?["lastFault"] as? [String: Any])?["fault"] as? String
        }
    }

    /// The provider's answers to a gallery.
    private static func gallery(_ gateway: TestGateway, _ bearer: String) async throws {
        let host = try gateway.host(1, bearer)
        let placeholder = try await host.placeholder(of: "scores", family: .systemMedium)
        #expect(placeholder.entry["content"]?["isPlaceholder"] == true)
        let snapshot = try await host.snapshot(of: "scores", configuration: ["team": "seahawks"], isPreview: true)
        #expect(snapshot.entry["content"]?["us"] == 21)
        #expect(try await host.recommendations(of: "scores").count == 3)
        #expect(try await host.relevance(of: "scores").count == 1)
        let kind = "\(gateway.hostURL)/v1/apps/\(TestGateway.app)/kinds/scores"
        let unknown = try await gateway.curl("GET", "\(kind)/timeline", bearer: bearer)
        #expect(unknown.status == 404)
        let bad = try await gateway.curl("GET", "\(kind)/snapshot?family=huge", bearer: bearer)
        #expect(bad.status == 400 && bad.json["path"] as? String == "family")
    }
}
