import Foundation
import Testing

/// One port for senders, channels and hosts (`listeners.merged`).
@Suite struct MergedListenerTests {
    private static func status(
        _ gateway: TestGateway,
        _ method: String,
        _ path: String,
        _ bearer: String,
        _ headers: [String] = [],
        _ body: String? = nil
    ) async throws -> TestGateway.Answer {
        try await gateway.curl(method, "\(gateway.pushURL)\(path)", bearer: bearer, headers: headers, body: body)
    }

    @Test func `one port takes a registration, pushes to a token and to an app, and channels`() async throws {
        let gateway = try await TestGateway.start(options: ["--set", "listeners.merged=true"])
        let bearer = try await gateway.providerToken()
        let app = "/v1/apps/\(TestGateway.app)"
        let aps = #"{"aps":{"content-changed":true}}"#
        let topic = ["apns-push-type: widgets", "apns-topic: \(TestGateway.topic)"]
        let registered = try await Self.status(
            gateway,
            "PUT",
            "/v1/hosts/\(TestGateway.token(1))/widgets",
            bearer,
            [],
            TestGateway.registration(1, teams: ["rams"])
        )
        #expect(registered.status == 200, "\(registered.body)")
        let device = "/3/device/\(TestGateway.token(1))"
        #expect(try await Self.status(gateway, "POST", device, bearer, topic, aps).status == 200)
        let all = #"{"aps":{"content-changed":true},"freshet":{"kind":"scores"}}"#
        #expect(try await Self.status(gateway, "POST", "\(app)/pushes", bearer, [], all).status == 200)
        let channels = "/1/apps/\(TestGateway.app)/channels"
        let channel = #"{"message-storage-policy":1,"push-type":"widgets","freshet":{"kind":"scores"}}"#
        #expect(try await Self.status(gateway, "POST", channels, bearer, [], channel).status == 201)
        #expect(try await Self.status(gateway, "GET", "/v1/hosts/\(TestGateway.token(1))/state", bearer).status == 200)
        let http1 = try await Command.run(
            "curl",
            [
                "--silent", "--http1.1", "--cacert", gateway.ca, "-H", "authorization: bearer \(bearer)",
                "-o", "/dev/null", "-w", "%{http_version} %{http_code}",
                "\(gateway.pushURL)/v1/hosts/\(TestGateway.token(1))/widgets",
            ]
        )
        #expect(http1.output == "1.1 200", "\(http1.output)\(http1.errors)")
        await gateway.stop()
    }

    @Test(
        arguments: [
            ("GET", "/3/device/00", 405, "POST"), ("PATCH", "/v1/apps/a/pushes", 405, "POST"),
            ("PATCH", "/v1/hosts/00/widgets", 405, "PUT, GET, HEAD, DELETE"),
            ("PUT", "/v1/pushes/x", 405, "GET, HEAD, DELETE"), ("GET", "/nothing", 404, nil),
            ("POST", "/v1/nothing", 404, nil), ("POST", "/3/nothing", 404, nil),
        ] as [(String, String, Int, String?)]
    )
    func `404 and 405 are told across all routes`(method: String, path: String, status: Int, allow: String?)
        async throws
    {
        let gateway = try await TestGateway.start(options: ["--set", "listeners.merged=true"])
        let bearer = try await gateway.providerToken()
        let answer = try await Self.status(gateway, method, path, bearer)
        #expect(answer.status == status, "\(answer.body)")
        #expect(answer.headers["allow"] == allow, "\(answer.headers)")
        await gateway.stop()
    }
}
