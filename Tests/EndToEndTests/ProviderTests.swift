import Foundation
import Testing

/// Sender, gateway, timeline provider, host: a push changes what a widget shows.
@Suite struct ProviderTests {
    /// The score in the data of an `entry` event.
    private static func score(_ line: String) -> (score: String, reload: String, date: String)? {
        guard line.hasPrefix("data: "),
            let data = try? JSONSerialization.jsonObject(with: Data(line.dropFirst(6).utf8)) as? [String: Any],
            let content = data["content"] as? [String: Any], let us = content["us"] as? Int,
            let them = content["them"] as? Int, let reload = data["reload"] as? String,
            let date = data["date"] as? String
        else { return nil }
        return ("\(us)-\(them)", reload, date)
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
        let host = "\(gateway.hostURL)/v1/hosts/\(TestGateway.token(1))"
        _ = try await gateway.register(1, teams: ["seahawks"], bearer: bearer)
        let stream = try Command(
            "curl",
            [
                "--silent", "--no-buffer", "--http2", "--cacert", gateway.ca, "--header",
                "authorization: bearer \(bearer)",
                "\(host)/events",
            ]
        )
        var lines = stream.lines.makeAsyncIterator()
        var pushed: String?
        while let line = await lines.next() {
            #expect(line != "event: reload")
            guard let seen = Self.score(line) else { continue }
            if pushed == nil {
                #expect(seen.score == "14-10")
                try provider.set(us: 21, them: 10)
                pushed = try await gateway.pushScore(bearer)
            } else if seen.score == "21-10" {
                let shown = try await gateway.curl(
                    "POST",
                    "\(host)/signals",
                    bearer: bearer,
                    body: #"{"signal":"entryShown","reload":"\#(seen.reload)","date":"\#(seen.date)"}"#
                )
                #expect(shown.status == 204)
                break
            }
        }
        stream.terminate()
        _ = await stream.wait()
        let push = try await gateway.settled(try #require(pushed))
        #expect(push.json["outcomes"] as? [String: Int] == ["exempt": 1])

        let state = try await gateway.curl("GET", "\(host)/state", bearer: bearer)
        let entries = state.json["entries"] as? [[String: Any]] ?? []
        #expect(Set(entries.compactMap { $0["instance"] as? String }) == ["scores-0", "character"])
        let stats = try await gateway.curl("GET", "\(gateway.opsURL)/v1/stats")
        let reloads = stats.json["reloads"] as? [String: Any]
        #expect((reloads?["freshness"] as? [String: Any])?["shown"] as? Int == 1)
        #expect((reloads?["freshness"] as? [String: Any])?["p95Milliseconds"] is Int)

        let kinds = try await gateway.curl("GET", "\(gateway.opsURL)/v1/kinds/scores")
        let kind = (kinds.json["kinds"] as? [[String: Any]])?.first
        let provided = kind?["timelineProvider"] as? [String: Any]
        #expect(provided?["breaker"] as? String == "closed")
        #expect(provided?["answered"] as? Int == 2)
        #expect(kind?["findings"] is [String: Int])
        try await Self.gallery(gateway, bearer)

        // What is shown survives the process.
        await gateway.crash()
        let again = try await TestGateway.start(in: folder, timelineProvider: provider.url)
        let after = try await again.curl(
            "GET",
            "\(again.hostURL)/v1/hosts/\(TestGateway.token(1))/state",
            bearer: bearer
        )
        let kept = (after.json["entries"] as? [[String: Any]] ?? []).first { $0["instance"] as? String == "scores-0" }
        let content = (kept?["entries"] as? [[String: Any]])?.first?["content"] as? [String: Any]
        #expect(content?["us"] as? Int == 21)
        await provider.stop()
        await again.stop()
    }

    @Test func `a widget that is added is shown a placeholder before its timeline, however late that is`() async throws
    {
        let folder = try TestGateway.makeFolder()
        let provider = try await ExampleProvider(in: folder)
        try provider.breakScores()
        let gateway = try await TestGateway.start(in: folder, timelineProvider: provider.url)
        let bearer = try await gateway.providerToken()
        let host = "\(gateway.hostURL)/v1/hosts/\(TestGateway.token(1))"
        _ = try await gateway.register(1, teams: ["seahawks"], bearer: bearer)
        // Its timeline fails, and the placeholder is there.
        let kept = try await gateway.eventually("the state has the placeholder") {
            let state = try await gateway.curl("GET", "\(host)/state", bearer: bearer)
            let placeholders = state.json["placeholders"] as? [[String: Any]] ?? []
            return placeholders.first { $0["instance"] as? String == "scores-0" }
        }
        #expect((kept["content"] as? [String: Any])?["isPlaceholder"] as? Bool == true)

        let stream = try Command(
            "curl",
            [
                "--silent", "--no-buffer", "--http2", "--cacert", gateway.ca, "--header",
                "authorization: bearer \(bearer)", "\(host)/events",
            ]
        )
        var lines = stream.lines.makeAsyncIterator()
        var event = ""
        var seen: [String] = []
        while seen.count < 4, let line = await lines.next() {
            if line.hasPrefix("event: ") { event = String(line.dropFirst(7)) }
            guard line.hasPrefix("data: "),
                let data = try JSONSerialization.jsonObject(with: Data(line.dropFirst(6).utf8)) as? [String: Any],
                let instance = data["instance"] as? String, instance != "character"
            else { continue }
            seen.append("\(event) of \(instance)")
            let isPlaceholder = (data["content"] as? [String: Any])?["isPlaceholder"] as? Bool ?? false
            #expect(isPlaceholder == (event == "placeholder"))
            // One that is added while the stream is open; then both get their timelines.
            if seen.count == 1 {
                _ = try await gateway.register(1, teams: ["seahawks", "rams"], bearer: bearer, revision: 2)
            }
            if seen.count == 2 { try provider.set(us: 14, them: 10) }
        }
        stream.terminate()
        _ = await stream.wait()
        #expect(seen.prefix(2) == ["placeholder of scores-0", "placeholder of scores-1"])
        #expect(seen.dropFirst(2).sorted() == ["entry of scores-0", "entry of scores-1"])
        let state = try await gateway.curl("GET", "\(host)/state", bearer: bearer)
        #expect((state.json["placeholders"] as? [Any])?.count == 0)
        let instances = state.json["instances"] as? [[String: Any]] ?? []
        #expect(instances.count == 3)
        for instance in instances {
            let budget = instance["budget"] as? [String: Any]
            #expect(budget?["charged"] as? Int == 0, "\(instance)")
        }
        await provider.stop()
        await gateway.stop()
    }

    @Test func `what is relevant and not placed is suggested; a push lets it be asked anew`() async throws {
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
        let pushed = try await gateway.curl(
            "POST",
            "\(gateway.pushURL)/3/device/\(TestGateway.token(1))",
            bearer: bearer,
            headers: ["apns-push-type: widgets", "apns-topic: \(TestGateway.app).push-type.widgets"],
            body: #"{"aps":{"content-changed":true}}"#
        )
        #expect(pushed.status == 200, "\(pushed.body)")
        #expect(try await Self.suggestions(gateway, bearer) == [])
        await provider.stop()
        await gateway.stop()
    }

    /// The teams that are suggested to the first host, and what is said of them.
    private static func suggestions(_ gateway: TestGateway, _ bearer: String) async throws -> [String] {
        let url = "\(gateway.hostURL)/v1/hosts/\(TestGateway.token(1))/suggestions"
        let answer = try await gateway.curl("GET", url, bearer: bearer)
        let suggestions = try #require(answer.json["suggestions"] as? [[String: Any]], "\(answer.body)")
        return suggestions.map { suggestion in
            let configuration = suggestion["configuration"] as? [String: Any]
            return "\(configuration?["team"] ?? "?"): \(suggestion["description"] ?? "?")"
        }
    }

    @Test func `a provider on the network is believed by its authority and told the token`() async throws {
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

        // Both are right, and what failed is asked again.
        try "a-token-of-this-provider\n".write(toFile: "\(folder)/provider.token", atomically: true, encoding: .utf8)
        gateway = try await TestGateway.start(in: folder, timelineProvider: provider.url, providerSettings: settings)
        let shown = try await gateway.eventually("the timeline is there") {
            let state = try await gateway.curl(
                "GET",
                "\(gateway.hostURL)/v1/hosts/\(TestGateway.token(1))/state",
                bearer: bearer
            )
            let entries = state.json["entries"] as? [[String: Any]] ?? []
            let own = entries.first { $0["instance"] as? String == "scores-0" }?["entries"] as? [[String: Any]]
            return own?.first?["content"] as? [String: Any]
        }
        #expect(shown["us"] as? Int == 14)
        let requests = await provider.stop()
        #expect(Set(requests.dropFirst()) == ["HTTP/2 unknown", "HTTP/2 known"])
        await gateway.stop()
    }

    /// What went wrong last with the provider of scores.
    private static func fault(_ gateway: TestGateway) async throws -> String {
        try await gateway.eventually("the provider fails") {
            let kinds = try await gateway.curl("GET", "\(gateway.opsURL)/v1/kinds/scores").json
            let provided = (kinds["kinds"] as? [[String: Any]])?.first?["timelineProvider"] as? [String: Any]
            return (provided?["lastFault"] as? [String: Any])?["fault"] as? String
        }
    }

    /// What a gallery is told by the provider.
    private static func gallery(_ gateway: TestGateway, _ bearer: String) async throws {
        let kind = "\(gateway.hostURL)/v1/apps/\(TestGateway.app)/kinds/scores"
        let placeholder = try await gateway.curl("GET", "\(kind)/placeholder?family=systemMedium", bearer: bearer)
        let entry = placeholder.json["entry"] as? [String: Any]
        #expect((entry?["content"] as? [String: Any])?["isPlaceholder"] as? Bool == true)
        let snapshot = try await gateway.curl(
            "GET",
            "\(kind)/snapshot?preview=true&configuration=%7B%22team%22%3A%22seahawks%22%7D",
            bearer: bearer
        )
        let shown = (snapshot.json["entry"] as? [String: Any])?["content"] as? [String: Any]
        #expect(shown?["us"] as? Int == 21)
        let recommendations = try await gateway.curl("GET", "\(kind)/recommendations", bearer: bearer)
        #expect((recommendations.json["recommendations"] as? [Any])?.count == 3)
        let relevance = try await gateway.curl("GET", "\(kind)/relevance", bearer: bearer)
        #expect((relevance.json["relevance"] as? [Any])?.count == 1)
        let unknown = try await gateway.curl("GET", "\(kind)/timeline", bearer: bearer)
        #expect(unknown.status == 404)
        let bad = try await gateway.curl("GET", "\(kind)/snapshot?family=huge", bearer: bearer)
        #expect(bad.status == 400 && bad.json["path"] as? String == "family")
    }
}
