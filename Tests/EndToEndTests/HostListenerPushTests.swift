import Foundation
import Testing

/// Targeted pushes on the host listener: for senders whose HTTP client cannot do HTTP/2.
@Suite struct HostListenerPushTests {
    private static let body = #"{"aps":{"content-changed":true},"freshet":{"kind":"scores","match":{"team":["rams"]}}}"#
    private static let path = "/v1/apps/\(TestGateway.app)/pushes"

    private static func push(
        _ gateway: TestGateway,
        _ version: String,
        bearer: String? = nil,
        query: String = "",
        headers: [String] = [],
        body: String = Self.body,
        options: [String] = []
    ) async throws -> TestGateway.Answer {
        try await gateway.curl(
            "POST",
            "\(gateway.hostURL)\(Self.path)\(query)",
            bearer: bearer,
            headers: headers,
            body: body,
            options: [version] + options
        )
    }

    @Test(arguments: ["--http1.1", "--http2"])
    func `a push to an app is the same as on the push listener`(version: String) async throws {
        let gateway = try await TestGateway.start(partitions: 2)
        let bearer = try await gateway.providerToken()
        _ = try await gateway.register(1, teams: ["seahawks", "rams"], bearer: bearer)
        let id = UUID().uuidString.lowercased()
        for _ in 0..<2 {
            let answer = try await Self.push(gateway, version, bearer: bearer, headers: ["apns-id: \(id)"])
            #expect(answer.status == 200 && answer.headers["apns-id"] == id && answer.body.isEmpty, "\(answer)")
        }
        // The same push once more, where others send it.
        let again = try await gateway.curl(
            "POST",
            "\(gateway.pushURL)\(Self.path)",
            bearer: bearer,
            headers: ["apns-id: \(id)"],
            body: Self.body
        )
        #expect(again.status == 200)
        let became = try await gateway.eventually("all partitions have applied it") {
            let answer = try await gateway.curl("GET", "\(gateway.hostURL)/v1/pushes/\(id)", bearer: bearer)
            return answer.json["appliedBy"] as? Int == 2 && answer.json["repeats"] as? Int == 2 ? answer : nil
        }
        #expect(became.json["matched"] as? Int == 1, "\(became.body)")

        let dry = try await Self.push(gateway, version, bearer: bearer, query: "?dry-run=true")
        #expect(dry.status == 200 && dry.json["dryRun"] as? Bool == true && dry.json["matched"] as? Int == 1)
        let slip = try await Self.push(gateway, version, bearer: bearer, query: "?dry-run=1")
        #expect(slip.status == 404 && slip.reason == "BadPath" && slip.body.contains("dry-run=true"), "\(slip)")
        let bounded = #"{"aps":{"content-changed":true},"freshet":{"all":true,"maxMatched":1}}"#
        let many = try await Self.push(gateway, version, bearer: bearer, body: bounded)
        #expect(many.status == 409 && many.json["matched"] as? Int == 3, "\(many)")
        let plain = #"{"aps":{"content-changed":true}}"#
        let missing = try await Self.push(gateway, version, bearer: bearer, body: plain)
        #expect(missing.status == 400 && missing.reason == "BadPayload", "\(missing)")
        let stranger = try await Self.push(gateway, version)
        #expect(stranger.status == 403 && stranger.reason == "MissingProviderToken", "\(stranger)")
        let long = String(repeating: " ", count: 20_000) + Self.body
        let large = try await Self.push(gateway, version, bearer: bearer, body: long)
        #expect(large.status == 413 && large.reason == "PayloadTooLarge", "\(large)")
        let host = try await Self.push(gateway, version, bearer: try await gateway.hostCredential(TestGateway.token(1)))
        #expect(host.status == 403 && host.reason == "InvalidProviderToken", "\(host)")
        await gateway.stop()
    }

    @Test(arguments: ["--http1.1", "--http2"])
    func `a bulk is taken on both listeners, and answered line by line`(version: String) async throws {
        let gateway = try await TestGateway.start(partitions: 2)
        let bearer = try await gateway.providerToken()
        _ = try await gateway.register(1, teams: ["seahawks", "rams"], bearer: bearer)
        let ids = (0..<3).map { _ in UUID().uuidString.lowercased() }
        let lines = ids.map { #"{"apns-id":"\#($0)","payload":\#(Self.body)}"# } + ["{}"]
        for (url, option) in [(gateway.hostURL, version), (gateway.pushURL, "--http2")] {
            let answer = try await gateway.curl(
                "POST",
                "\(url)\(Self.path)/bulk",
                bearer: bearer,
                headers: ["content-type: application/x-ndjson"],
                body: lines.joined(separator: "\n"),
                options: [option]
            )
            let answers = answer.body.split(separator: "\n")
            #expect(answer.status == 200 && answers.count == 4, "\(answer)")
            for (id, line) in zip(ids, answers) { #expect(line.contains(id) && line.contains("200"), "\(line)") }
            #expect(answers.last?.contains("payload") == true, "\(answer)")
        }
        _ = try await gateway.eventually("all partitions have applied them twice") {
            let answer = try await gateway.curl("GET", "\(gateway.hostURL)/v1/pushes/\(ids[2])", bearer: bearer)
            return answer.json["appliedBy"] as? Int == 2 && answer.json["repeats"] as? Int == 1 ? answer : nil
        }
        let page = try await gateway.curl(
            "POST",
            "\(gateway.hostURL)\(Self.path)/bulk",
            bearer: bearer,
            headers: ["origin: https://example.com"],
            body: lines[0],
            options: [version]
        )
        #expect(page.status >= 400, "\(page)")
        await gateway.stop()
    }

    /// Browsers show a client certificate for any page, and send some requests of a page without asking before.
    @Test func `a web page pushes nothing, whatever its browser shows`() async throws {
        let settings = "    allowedClientCertificates: [{userID: scores-back-end}]"
        let folder = try TestGateway.makeFolder()
        try await TestGateway.makeCertificates(in: folder, ["--user-id", "scores-back-end"])
        let gateway = try await TestGateway.start(in: folder, appSettings: settings)
        let certificate = ["--cert", "\(folder)/certs/client.pem", "--key", "\(folder)/certs/client.key"]
        let own = try await Self.push(gateway, "--http1.1", options: certificate)
        #expect(own.status == 200, "\(own)")
        for bearer in [nil, try await gateway.providerToken()] {
            let page = try await Self.push(
                gateway,
                "--http1.1",
                bearer: bearer,
                headers: ["origin: https://page.example", "content-type: text/plain"],
                options: certificate
            )
            #expect(page.status == 404, "\(page)")
        }
        let stats = try await gateway.curl("GET", "\(gateway.opsURL)/v1/stats").json
        #expect((stats["http"] as? [String: Any])?["accepted"] as? Int == 1)
        await gateway.stop()
    }
}
