import Foundation
import TestSupport
import Testing

/// The example page that is a host: a person sees a push land. Its pictures stay in `.build/host-web`.
@Suite struct HostPageTests {
    /// Serves the example page.
    private struct Site {
        let origin: String
        private let command: Command

        init() async throws {
            self.command = try Command(
                "python3",
                [
                    "-u", "-m", "http.server", "0", "--bind", "127.0.0.1", "--directory",
                    "\(TestGateway.root)/docs/examples/host-web",
                ]
            )
            var port: String?
            for await line in self.command.lines {
                guard let range = line.range(of: #"port \d+"#, options: .regularExpression) else { continue }
                port = String(line[range].dropFirst(5))
                break
            }
            self.origin = "http://127.0.0.1:\(try #require(port))"
        }

        func stop() async {
            self.command.terminate()
            _ = await self.command.wait()
        }
    }

    /// A gateway that a page of this origin may be a host of.
    private static func gateway(
        in folder: String,
        for site: Site,
        provider: ExampleProvider
    ) async throws -> TestGateway {
        try await TestGateway.start(
            in: folder,
            appSettings: "    developerMode: true\n    origins: [\"\(site.origin)\"]",
            timelineProvider: provider.url
        )
    }

    /// Opens the page, lets the score change once it shows the old one, and pictures it with the new one.
    private static func watch(
        _ site: Site,
        of gateway: TestGateway,
        token: String,
        pictures: String,
        change: () async throws -> Void
    ) async throws {
        let credential = try await gateway.hostCredential(token)
        let browser = try Command(
            TestGateway.python,
            [
                Self.browser, "--url",
                "\(site.origin)/#gateway=\(gateway.hostURL)&app=\(TestGateway.app)&token=\(token)"
                    + "&credential=\(credential)",
                "--wait", "document.querySelector('#widget-seahawks [data-score=\"14-10\"]') !== null",
                "--wait", "document.querySelector('#widget-panda [data-health=\"40\"]') !== null",
                "--wait", "document.querySelector('#widget-seahawks [data-score=\"21-10\"]') !== null",
                "--shots", pictures,
            ]
        )
        var seen: [String] = []
        for await line in browser.lines {
            seen.append(line)
            guard line == "seen 1" else { continue }
            try await change()
        }
        #expect(await browser.wait().status == 0, "\(seen)")
        #expect(seen.contains("seen 2"), "\(seen)")
        for name in ["wide-light", "wide-dark", "phone-light", "phone-dark"] {
            let size = try FileManager.default.attributesOfItem(atPath: "\(pictures)/\(name).png")[.size] as? Int
            #expect(size ?? 0 > 10_000, "\(name)")
        }
    }

    @Test func `a page in a browser shows the score that a push brings`() async throws {
        let folder = try TestGateway.makeFolder()
        let provider = try await ExampleProvider(in: folder)
        try provider.set(us: 14, them: 10)
        let site = try await Site()
        let gateway = try await Self.gateway(in: folder, for: site, provider: provider)
        let token = TestGateway.token(7)
        let bearer = try await gateway.providerToken()
        let pictures = "\(TestGateway.root)/.build/host-web"
        try await Self.watch(site, of: gateway, token: token, pictures: pictures) {
            try provider.set(us: 21, them: 10)
            _ = try await gateway.pushScore(bearer)
        }
        // A page of another origin is not let in.
        let other = try await gateway.curl(
            "OPTIONS",
            "\(gateway.hostURL)/v1/hosts/\(token)/widgets",
            headers: ["origin: https://evil.example", "access-control-request-method: PUT"]
        )
        #expect(other.status == 403 && other.headers["access-control-allow-origin"] == nil)
        await site.stop()
        await provider.stop()
        await gateway.stop()
    }

    private static let browser = "\(TestGateway.root)/Tests/EndToEndTests/Clients/browser.py"

    /// That the page says a text of its own state.
    private static func says(_ text: String) -> String {
        "document.getElementById('status')?.textContent.includes('\(text)') === true"
    }

    @Test func `a page that is told nothing says what its address lacks`() async throws {
        let site = try await Site()
        for (rest, text) in [
            ("", "no gateway, app, token, credential"), ("#gateway=https://localhost&app=a&token=0a", "no credential"),
        ] {
            let options = ["--url", "\(site.origin)/\(rest)", "--wait", Self.says(text)]
            let seen = try await Command.run(TestGateway.python, [Self.browser] + options)
            #expect(seen.status == 0, "\(seen.output)\(seen.errors)")
        }
        await site.stop()
    }

    @Test(.oneGateway("its port is known before it starts"))
    func `a page that is there before the gateway goes on trying`() async throws {
        let folder = try TestGateway.makeFolder()
        try await TestGateway.makeCertificates(in: folder)
        let site = try await Site()
        let (port, token) = (try LonePort.find(), TestGateway.token(7))
        let minted = try await Command.run(
            TestGateway.program,
            ["token", "host", "--key", "\(folder)/certs/provider-key.p8", "--kid", TestGateway.kid]
                + ["--team", TestGateway.team, "--app", TestGateway.app, "--push-token", token]
        )
        let credential = minted.output.trimmingCharacters(in: .newlines)
        let browser = try Command(
            TestGateway.python,
            [
                Self.browser, "--wait", Self.says("Waiting for the gateway"), "--wait", Self.says("Live"), "--url",
                "\(site.origin)/#gateway=https://localhost:\(port)&app=\(TestGateway.app)&token=\(token)"
                    + "&credential=\(credential)",
            ]
        )
        var gateway: TestGateway?
        var seen: [String] = []
        for await line in browser.lines {
            seen.append(line)
            guard line == "seen 0" else { continue }
            gateway = try await TestGateway.start(
                in: folder,
                appSettings: "    origins: [\"\(site.origin)\"]",
                options: ["--set", "listeners.host.port=\(port)"]
            )
        }
        #expect(await browser.wait().status == 0, "\(seen)")
        await site.stop()
        await gateway?.stop()
    }

    @Test func `the score changes though the push goes by a second gateway, in APNs' place, and its provider`()
        async throws
    {
        let folder = try TestGateway.makeFolder()
        let provider = try await ExampleProvider(in: folder)
        try provider.set(us: 14, them: 10)
        let site = try await Site()
        let far = try await Self.gateway(in: folder, for: site, provider: provider)
        let near = try await TestGateway.start(before: far)
        let token = TestGateway.token(7)
        // The sender's gateway knows the widget's configuration; the one in APNs' place only the device.
        let instance = #"{"id":"s","kind":"scores","family":"systemSmall","configuration":{"team":"seahawks"}}"#
        let bearer = try await near.providerToken()
        let registered = try await near.curl(
            "PUT",
            "\(near.hostURL)/v1/hosts/\(token)/widgets",
            bearer: bearer,
            body: #"{"app":"\#(TestGateway.app)","host":"phone","delivery":"apns","instances":[\#(instance)]}"#
        )
        try #require(registered.status == 200, "\(registered.body)")
        let pictures = "\(TestGateway.root)/.build/host-web/upstream"
        try await Self.watch(site, of: far, token: token, pictures: pictures) {
            try provider.set(us: 21, them: 10)
            let settled = try await near.settled(try await near.pushScore(bearer))
            #expect(settled.json["matched"] as? Int == 1)
            // Late if 15 s have not passed since the widget was added, but reloaded.
            let outcomes = settled.json["outcomes"] as? [String: Int] ?? [:]
            #expect((outcomes["exempt"] ?? 0) + (outcomes["deferred"] ?? 0) == 1, "\(outcomes)")
        }
        await site.stop()
        await provider.stop()
        await near.stop()
        await far.stop()
    }
}
