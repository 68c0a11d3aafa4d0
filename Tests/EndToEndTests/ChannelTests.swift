import Foundation
import Testing

/// Channels and broadcasts over real sockets, by clients that we did not write.
@Suite struct ChannelTests {
    private static let channels = "/1/apps/\(TestGateway.app)/channels"
    private static let broadcasts = "/4/broadcasts/apps/\(TestGateway.app)"

    /// A host with a widget that subscribes to a channel by its tag, and one that does not.
    private static func subscribe(_ gateway: TestGateway, _ channel: String, _ bearer: String) async throws {
        let instance = { (id: String, tags: String) in
            #"{"id":"\#(id)","kind":"scores","family":"systemSmall","configuration":{"team":"rams"},"tags":[\#(tags)]}"#
        }
        let answer = try await gateway.curl(
            "PUT",
            "\(gateway.hostURL)/v1/hosts/\(TestGateway.token(1))/widgets",
            bearer: bearer,
            body: """
                {"app":"\(TestGateway.app)","host":"host-1","instances":[
                \(instance("subscribed", "\"\(channel)\"")),\(instance("other", ""))]}
                """
        )
        try #require(answer.status == 200, "\(answer.body)")
    }

    private static func push(
        _ gateway: TestGateway,
        _ bearer: String,
        _ headers: [String],
        body: String = #"{"aps":{"event":"update","content-state":{}}}"#
    ) async throws -> TestGateway.Answer {
        try await gateway.curl(
            "POST",
            "\(gateway.pushURL)\(Self.broadcasts)",
            bearer: bearer,
            headers: headers,
            body: body
        )
    }

    @Test(.oneGateway("it starts again"))
    func `curl creates a channel, broadcasts on it, and finds it after a crash`() async throws {
        var gateway = try await TestGateway.start(partitions: 2)
        var bearer = try await gateway.providerToken()
        let requestID = UUID().uuidString
        let created = try await gateway.curl(
            "POST",
            "\(gateway.pushURL)\(Self.channels)",
            bearer: bearer,
            headers: ["apns-request-id: \(requestID)"],
            body: #"{"message-storage-policy":1,"push-type":"LiveActivity"}"#
        )
        #expect(created.status == 201)
        #expect(created.body == "")
        #expect(created.headers["apns-request-id"] == requestID)
        let channel = try #require(created.headers["apns-channel-id"])
        try await Self.subscribe(gateway, channel, bearer)

        await gateway.crash()
        gateway = try await TestGateway.start(in: gateway.folder, partitions: 2)
        bearer = try await gateway.providerToken()
        let headers = ["apns-channel-id: \(channel)", "apns-push-type: liveactivity", "apns-priority: 10"]
        let sent = try await Self.push(gateway, bearer, headers)
        #expect(sent.status == 200)
        #expect(sent.body == "")
        let id = try #require(sent.headers["apns-request-id"])
        let view = try await gateway.curl("GET", "\(gateway.pushURL)/v1/pushes/\(id)", bearer: bearer)
        #expect(view.json["matched"] as? Int == 1)
        let reloaded = try await gateway.eventually("a reload is out") {
            let state = "\(gateway.hostURL)/v1/hosts/\(TestGateway.token(1))/state"
            let answer = try await gateway.curl("GET", state, bearer: bearer)
            let reloads = answer.json["outstanding"] as? [[String: Any]] ?? []
            let pushed = reloads.filter { $0["push"] != nil }.compactMap { $0["instance"] as? String }
            return pushed.isEmpty ? nil : pushed
        }
        #expect(reloaded == ["subscribed"])
        let stats = try await gateway.curl("GET", "\(gateway.opsURL)/v1/stats")
        #expect((stats.json["registry"] as? [String: Any])?["channels"] as? Int == 1)
        await gateway.stop()
    }

    @Test func `reasons are Apple's, and what is known of the channel comes last`() async throws {
        let gateway = try await TestGateway.start(
            extra: "limits: {maxChannelsPerApp: 1}",
            appSettings: "    maxMatched: 1"
        )
        let bearer = try await gateway.providerToken()
        let create = { (body: String) in
            try await gateway.curl("POST", "\(gateway.pushURL)\(Self.channels)", bearer: bearer, body: body)
        }
        let created = try await create(#"{"message-storage-policy":0,"push-type":"LiveActivity","freshet":{}}"#)
        let channel = try #require(created.headers["apns-channel-id"])
        #expect(try await create(#"{"message-storage-policy":0}"#).reason == "CannotCreateChannelConfig")
        #expect(try await create(#"{"message-storage-policy":0,"freshet":{"kind":"x"}}"#).reason == "BadRequestParams")
        #expect(try await create("").reason == "PayloadEmpty")
        #expect(try await create(String(repeating: " ", count: 5121)).reason == "PayloadTooLarge")

        let known = "apns-channel-id: \(channel)"
        let type = "apns-push-type: liveactivity"
        #expect(
            try await Self.push(gateway, bearer, [known, type, "apns-expiration: 1"]).reason == "BadExpirationDate"
        )
        #expect(try await Self.push(gateway, bearer, ["apns-channel-id: AAAA", type]).reason == "ChannelNotRegistered")
        #expect(try await Self.push(gateway, bearer, [known, type], body: "{").reason == "BadRequestPayload")
        let unknown = try await Self.push(gateway, "a.b.c", ["apns-channel-id: !"])
        #expect(unknown.reason == "InvalidProviderToken")
        #expect(unknown.headers["apns-request-id"]?.count == 36)
        #expect(unknown.headers["apns-id"] == nil)
        // The app's guard against a match-all holds for broadcasts, too.
        _ = try await gateway.register(1, teams: ["rams"], bearer: bearer)
        let many = try await Self.push(gateway, bearer, [known, type])
        #expect(many.status == 409)
        #expect(many.json["matched"] as? Int == 2)
        await gateway.stop()
    }

    @Test(.oneGateway("of a rate each has its part"))
    func `an app without channels says so, and rates hold for channels, too`() async throws {
        let without = try await TestGateway.start(appSettings: "    channels: false")
        let bearer = try await without.providerToken()
        let list = "/1/apps/\(TestGateway.app)/all-channels"
        let refused = try await without.curl("GET", "\(without.pushURL)\(list)", bearer: bearer)
        #expect(refused.status == 400)
        #expect(refused.reason == "FeatureNotEnabled")
        await without.stop()

        let limited = try await TestGateway.start(extra: "rateLimits: {perKey: {rate: 1/h, burst: 2}}")
        let other = try await limited.providerToken()
        var statuses: [Int] = []
        for _ in 0..<3 {
            statuses.append(try await limited.curl("GET", "\(limited.pushURL)\(list)", bearer: other).status)
        }
        #expect(statuses == [200, 200, 429])
        await limited.stop()
    }

    @Test func `the port for managing channels manages channels only`() async throws {
        let gateway = try await TestGateway.start(managesChannels: true)
        let bearer = try await gateway.providerToken()
        let port = try #require(gateway.managePort)
        let url = "https://localhost:\(port)"
        let created = try await gateway.curl(
            "POST",
            "\(url)\(Self.channels)",
            bearer: bearer,
            body: #"{"message-storage-policy":1,"push-type":"LiveActivity"}"#
        )
        #expect(created.status == 201)
        let channel = try #require(created.headers["apns-channel-id"])
        let list = try await gateway.curl("GET", "\(gateway.pushURL)\(Self.channels)", bearer: bearer)
        for (path, allowed) in [
            (Self.channels, "GET, POST, DELETE"), ("\(Self.channels)/\(channel)", "GET, DELETE"),
            ("/1/apps/\(TestGateway.app)/all-channels", "GET"), (Self.broadcasts, "POST"),
        ] {
            let answer = try await gateway.curl("PUT", "\(gateway.pushURL)\(path)", bearer: bearer)
            #expect(answer.status == 405, "\(path)")
            #expect(answer.headers["allow"] == allowed)
        }
        #expect(list.body == #"{"channels":["\#(channel)"]}"#)
        for path in ["/3/device/\(TestGateway.token(1))", Self.broadcasts, "/v1/apps/\(TestGateway.app)/pushes"] {
            let answer = try await gateway.curl(
                "POST",
                "\(url)\(path)",
                bearer: bearer,
                headers: ["apns-channel-id: \(channel)", "apns-push-type: liveactivity"],
                body: #"{"aps":{}}"#
            )
            #expect(answer.status == 404)
            #expect(answer.reason == "BadPath")
        }
        #expect(try await gateway.curl("GET", "\(url)/v1/stats", bearer: bearer).status == 404)
        await gateway.stop()
    }

    @Test func `httpx manages channels and broadcasts in Apple's shapes and in APNSwift's`() async throws {
        let gateway = try await TestGateway.start()
        let bearer = try await gateway.providerToken()
        let result = try await Command.run(
            TestGateway.python,
            [
                "\(TestGateway.root)/Tests/EndToEndTests/Clients/channels_client.py", gateway.pushURL, gateway.ca,
                bearer,
                TestGateway.app,
            ]
        )
        #expect(result.status == 0, "\(result.errors)")
        #expect(
            result.output.split(separator: "\n") == [
                #"{"status": 201, "body": ""}"#,
                #"{"status": 200, "body": "{\"message-storage-policy\":1,\"push-type\":\"LiveActivity\"}"}"#,
                #"{"status": 200, "body": "{\"channels\":[\"ID\"]}"}"#,
                #"{"status": 200, "body": ""}"#,
                #"{"statuses": [200]}"#,
                #"{"status": 204, "body": ""}"#,
                #"{"status": 400, "body": "{\"reason\":\"ChannelNotRegistered\"}"}"#,
                #"{"status": 201, "policy": 0}"#,
                #"{"status": 200, "body": "{\"channel-id\":\"ID\",\"message-storage-policy\":0,\"push-type\":\"LiveActivity\"}"}"#,
                #"{"status": 200, "body": "{\"channels\":[\"ID\"]}"}"#,
                #"{"status": 200, "body": "{}"}"#,
            ],
            "\(result.errors)"
        )
        await gateway.stop()
    }
}
