import Foundation
import Testing

/// Limits and ends of a sender's connection, as clients that are not ours see them.
@Suite struct ConnectionTests {
    @Test func `one stream is allowed before the first good token where APNs' limit is asked for`() async throws {
        let gateway = try await TestGateway.start(
            extra: "limits: {maxStreamsBeforeToken: 1}",
            appSettings: "    unknownTokens: accept"
        )
        let bearer = try await gateway.providerToken()
        let good = try Probe(gateway, push: true, bearer: bearer, options: ["--close-after", "response"])
        let seen = await good.all()
        #expect(seen.filter { $0.hasPrefix("settings") } == ["settings 1", "settings 1000"], "\(seen)")
        #expect(seen.contains("response 200"))
        let bad = try Probe(gateway, push: true, bearer: "a.b.c", options: ["--close-after", "response"])
        let refused = await bad.all()
        #expect(refused.filter { $0.hasPrefix("settings") } == ["settings 1"], "\(refused)")
        #expect(refused.contains("body InvalidProviderToken"))
        await gateway.stop()
    }

    @Test func `where an app asks for APNs' limit, a refused push brings it back until one is accepted`() async throws {
        let gateway = try await TestGateway.start(appSettings: "    streamLimit: apns")
        let bearer = try await gateway.providerToken()
        _ = try await gateway.register(1, teams: ["seahawks"], bearer: bearer)
        _ = try await gateway.register(2, teams: ["seahawks"], bearer: bearer)
        let gone = try await gateway.curl(
            "DELETE",
            "\(gateway.hostURL)/v1/hosts/\(TestGateway.token(2))/widgets",
            bearer: bearer
        )
        #expect(gone.status == 204)
        // Good; removed, which costs nothing; unknown; removed, which lifts nothing either; good.
        let probe = try Probe(
            gateway,
            push: true,
            bearer: bearer,
            options: [2, 99, 2, 1].flatMap { ["--token", TestGateway.token($0)] } + ["--close-after", "response"]
        )
        let seen = await probe.all().filter { $0.hasPrefix("settings") || $0.hasPrefix("response") }
        #expect(
            seen == [
                "settings 1", "settings 1000", "response 200", "response 410", "settings 1", "response 400",
                "response 410", "settings 1000", "response 200",
            ]
        )
        await gateway.stop()
    }

    @Test func `an idle client is told so`() async throws {
        let gateway = try await TestGateway.start(extra: "timeouts: {idle: 5s}")
        let probe = try Probe(gateway)
        let seen = await probe.all()
        #expect(
            seen == [
                "tls TLSv1.3 h2", "settings 1000", #"goaway 0 last 0 {"reason":"IdleTimeout"}"#, "closed",
            ]
        )
        await gateway.stop()
    }

    @Test func `a silent client is asked by a PING, and stays if it answers`() async throws {
        let gateway = try await TestGateway.start(extra: "timeouts: {keepAlive: 1s, keepAliveAnswer: 60s}")
        let probe = try Probe(gateway)
        for _ in 0..<3 { #expect(await probe.wait(for: "ping") == "ping") }
        probe.stop()
        await gateway.stop()
    }

    @Test func `a drain says GOAWAY twice and why`() async throws {
        let gateway = try await TestGateway.start()
        let probe = try Probe(gateway)
        #expect(await probe.wait(for: "settings") == "settings 1000")
        gateway.sendTerminate()
        let seen = await probe.all()
        #expect(
            seen.filter { $0.hasPrefix("goaway") } == [
                "goaway 0 last 2147483647 ", #"goaway 0 last 0 {"reason":"Shutdown"}"#,
            ]
        )
        #expect(await gateway.exitStatus() == 0)
        try FileManager.default.removeItem(atPath: gateway.folder)
    }

    @Test(arguments: [true, false])
    func `a client without ALPN is taken where that is configured`(isTaken: Bool) async throws {
        let gateway = try await TestGateway.start(
            appSettings: "    unknownTokens: accept",
            environment: ["FRESHET_LISTENERS_PUSH_PRIOR_KNOWLEDGE": "\(isTaken)"]
        )
        let bearer = try await gateway.providerToken()
        let probe = try Probe(gateway, push: true, bearer: bearer, options: ["--no-alpn", "--close-after", "response"])
        let seen = await probe.all()
        if isTaken {
            #expect(seen.first == "tls TLSv1.3 none", "\(seen)")
            #expect(seen.contains("response 200"), "\(seen)")
        } else {
            #expect(!seen.contains { $0.hasPrefix("tls") })
            #expect(seen.contains { $0.contains("NO_APPLICATION_PROTOCOL") || $0.contains("no application protocol") })
        }
        await gateway.stop()
    }

    @Test(arguments: [["--http1.1"], ["--http1.1", "--no-alpn"]])
    func `a client of HTTP/1_1 reads that HTTP/2 is wanted`(options: [String]) async throws {
        let gateway = try await TestGateway.start()
        let answer = try await gateway.curl("POST", "\(gateway.pushURL)/3/device/00", body: "{}", options: options)
        #expect(answer.status == 505)
        #expect(answer.headers["content-type"] == "application/problem+json")
        #expect(
            answer.json["detail"] as? String == "this listener speaks HTTP/2 only; offer h2 by ALPN (curl: --http2)"
        )
        await gateway.stop()
    }
}
