import Foundation
import Testing

/// Bounds, certificates and timeline providers that change while the gateway runs.
@Suite struct LiveLimitTests {
    /// Puts a section in front of the configuration, in place of the one before.
    private static func use(_ gateway: TestGateway, _ section: String) async throws {
        let file = "\(gateway.folder)/freshet.yaml"
        let mark = "# changed while it ran\n"
        let text = try String(contentsOfFile: file, encoding: .utf8)
        let rest = text.components(separatedBy: mark).last ?? text
        try "\(section)\n\(mark)\(rest)".write(toFile: file, atomically: true, encoding: .utf8)
        let answer = try await gateway.curl("POST", "\(gateway.opsURL)/v1/config/reload")
        try #require(answer.status == 200, "\(answer.body)")
        #expect(answer.json["restartNeeded"] as? [String] == [], "\(section)")
    }

    private static func push(
        _ gateway: TestGateway,
        _ bearer: String,
        bytes: Int = 31
    ) async throws -> TestGateway.Answer {
        let plain = #"{"aps":{"content-changed":true}}"#
        let padding = String(repeating: " ", count: max(0, bytes - plain.utf8.count))
        return try await gateway.push(to: 1, bearer: bearer, body: plain + padding)
    }

    /// Reads until there is an event of a name.
    private static func reads(
        _ event: String,
        _ lines: inout AsyncStream<String>.Iterator,
        isolation: isolated (any Actor)? = #isolation
    ) async -> Bool {
        while let line = await lines.next(isolation: isolation) { if line == "event: \(event)" { return true } }
        return false
    }

    @Test func `limits of requests, rates and streams are in force at once`() async throws {
        let gateway = try await TestGateway.start()
        let bearer = try await gateway.providerToken()
        _ = try await gateway.register(1, teams: ["seahawks"], bearer: bearer)
        #expect(try await Self.push(gateway, bearer, bytes: 513).status == 200)
        try await Self.use(gateway, "limits: {maxDeviceBodyBytes: 512}")
        #expect(try await Self.push(gateway, bearer, bytes: 512).status == 200)
        #expect(try await Self.push(gateway, bearer, bytes: 513).status == 413)

        try await Self.use(gateway, "rateLimits: {perToken: {rate: 1/h, burst: 1}}")
        #expect(try await Self.push(gateway, bearer, bytes: 513).status == 200)
        #expect(try await Self.push(gateway, bearer).status == 429)
        // Another change lets no sender push again.
        try await Self.use(gateway, "rateLimits: {perToken: {rate: 1/h, burst: 1}}\nstreams: {maxPerHost: 1}")
        #expect(try await Self.push(gateway, bearer).status == 429)

        let events = "\(gateway.hostURL)/v1/hosts/\(TestGateway.token(1))/events"
        let stream = try Command(
            "curl",
            ["--silent", "--no-buffer", "--cacert", gateway.ca, "--header", "authorization: bearer \(bearer)", events]
        )
        var lines = stream.lines.makeAsyncIterator()
        _ = await lines.next()
        #expect(try await gateway.curl("GET", events, bearer: bearer).status == 429)
        stream.terminate()
        _ = await stream.wait()

        try await Self.use(gateway, "http2: {maxHeaderFields: 8}")
        let fields = (0..<12).map { "x-field-\($0): 1" }
        let full = try await gateway.curl("GET", "\(gateway.opsURL)/v1/stats", headers: fields)
        #expect(full.status == 431)
        try await Self.use(gateway, "")
        #expect(try await gateway.curl("GET", "\(gateway.opsURL)/v1/stats", headers: fields).status == 200)
        await gateway.stop()
    }

    @Test func `a listener shows the certificate that the configuration names now`() async throws {
        let gateway = try await TestGateway.start()
        func fingerprint() async throws -> String? {
            let stats = try await gateway.curl("GET", "\(gateway.opsURL)/v1/stats")
            let tls = stats.json["tls"] as? [[String: Any]]
            return tls?.first { $0["listener"] as? String == "push" }?["fingerprint"] as? String
        }
        let before = try await fingerprint()
        let other = try await TestGateway.makeCertificates(named: "other", in: gateway.folder, [])
        let file = "\(gateway.folder)/freshet.yaml"
        let text = try String(contentsOfFile: file, encoding: .utf8)
        let tls = "tls: {certificate: \(other)/server.pem, key: \(other)/server.key}"
        let changed = text.replacing("  push: {port: 0}", with: "  push: {port: 0, \(tls)}")
        try #require(changed != text)
        try changed.write(toFile: file, atomically: true, encoding: .utf8)
        let answer = try await gateway.curl("POST", "\(gateway.opsURL)/v1/config/reload")
        #expect(answer.json["restartNeeded"] as? [String] == [])
        let after = try await fingerprint()
        #expect(after != nil && after != before)
        await gateway.stop()
    }

    @Test
    func `a kind that gets a timeline provider is asked about what is out, and one that loses it tells its hosts`()
        async throws
    {
        let folder = try TestGateway.makeFolder()
        let provider = try await ExampleProvider(.python, in: folder)
        try provider.set(us: 14, them: 10)
        let gateway = try await TestGateway.start(in: folder, appSettings: "    developerMode: true")
        let bearer = try await gateway.providerToken()
        _ = try await gateway.register(1, teams: ["seahawks"], bearer: bearer)
        let file = "\(folder)/freshet.yaml"
        let plain = try String(contentsOfFile: file, encoding: .utf8)
        let kind = "      - kind: scores\n"
        let setting = "        timelineProvider: {url: \"\(provider.url)\"}\n"
        let provided = plain.replacing(kind, with: kind + setting)
        try #require(provided != plain)

        let events = "\(gateway.hostURL)/v1/hosts/\(TestGateway.token(1))/events"
        let stream = try Command(
            "curl",
            ["--silent", "--no-buffer", "--cacert", gateway.ca, "--header", "authorization: bearer \(bearer)", events]
        )
        var lines = stream.lines.makeAsyncIterator()
        #expect(await Self.reads("reload", &lines))
        func use(_ text: String) async throws {
            try text.write(toFile: file, atomically: true, encoding: .utf8)
            let answer = try await gateway.curl("POST", "\(gateway.opsURL)/v1/config/reload")
            #expect(answer.json["restartNeeded"] as? [String] == [])
        }
        // The widget's first reload is out: the provider of its timelines is asked about it.
        try await use(provided)
        #expect(await Self.reads("entry", &lines))
        try await use(plain)
        _ = try await gateway.pushScore(bearer)
        #expect(await Self.reads("reload", &lines))
        stream.terminate()
        _ = await stream.wait()
        await gateway.stop()
    }
}
