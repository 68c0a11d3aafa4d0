import Foundation
import ScriptedServer
import Testing

/// Receipts for senders, told by the program: whatever is killed, each push's end is told.
@Suite struct ReceiptTests {
    /// Such pushes are over at once.
    private static let nobody = #"{"kind":"scores","match":{"team":["kraken"]}}"#

    private static func folder() async throws -> String {
        let folder = try TestGateway.makeFolder()
        try await TestGateway.makeCertificates(in: folder, ["--topic", TestGateway.topic])
        try "a secret of receipts".write(toFile: "\(folder)/secret", atomically: true, encoding: .utf8)
        return folder
    }

    private static func start(
        in folder: String,
        _ target: FakeTarget,
        options: [String] = []
    ) async throws -> TestGateway {
        try await TestGateway.start(
            in: folder,
            partitions: 4,
            extra: """
                deliveries: {connect: 1h, handshake: 1h, request: 1h, pingAnswer: 1h, receiptInterval: 10ms, minRetry: 10ms,
                  maxRetry: 100ms, allowedNetworks: [127.0.0.0/8, "::1"]}
                """,
            appSettings: """
                    developerMode: true
                    receipts: {url: "\(target.url)/receipts", secretFile: \(folder)/secret, ca: \(target.ca)}
                """,
            options: options
        )
    }

    /// The receipts that were told by now, by push, each time that one was. It asks the gateway something first, which
    /// takes its time.
    ///
    /// - Parameter first: The number of the first request that counts.
    private static func told(
        _ target: FakeTarget,
        _ gateway: TestGateway,
        from first: Int = 0
    ) async throws -> [String: [[String: Any]]] {
        _ = try await gateway.curl("GET", "\(gateway.opsURL)/livez")
        var told: [String: [[String: Any]]] = [:]
        for request in target.server.requests.dropFirst(first) {
            let body = try? JSONSerialization.jsonObject(with: Data(request.text.utf8)) as? [String: Any]
            for receipt in body?["receipts"] as? [[String: Any]] ?? [] {
                told[receipt["id"] as? String ?? "", default: []].append(receipt)
            }
        }
        return told
    }

    /// Sends targeted pushes; their ids.
    private static func push(_ gateway: TestGateway, _ count: Int, to whom: String, bearer: String) async throws
        -> [String]
    {
        var ids: [String] = []
        for _ in 0..<count {
            let id = UUID().uuidString.lowercased()
            let answer = try await gateway.curl(
                "POST",
                "\(gateway.pushURL)/v1/apps/\(TestGateway.app)/pushes",
                bearer: bearer,
                headers: ["apns-id: \(id)"],
                body: #"{"aps":{"content-changed":true},"freshet":\#(whom)}"#
            )
            try #require(answer.status == 200, "\(answer.body)")
            ids.append(id)
        }
        return ids
    }

    @Test(.oneGateway("it starts again"))
    func `after a kill -9 each push is told that was not, with what all partitions made of it`() async throws {
        let folder = try await Self.folder()
        let target = try await FakeTarget(in: folder, .answer(200))
        var gateway = try await Self.start(in: folder, target)
        let bearer = try await gateway.providerToken()
        for number in 1...8 { _ = try await gateway.register(number, teams: ["rams"], bearer: bearer) }
        let first = try await Self.push(gateway, 3, to: Self.nobody, bearer: bearer)
        let before = try await gateway.eventually("the first are told") {
            let told = try await Self.told(target, gateway)
            return first.allSatisfy { told[$0] != nil } ? told : nil
        }
        #expect(first.allSatisfy { before[$0]?.first?["matched"] as? Int == 0 })

        target.steps.set(.answer(503))
        let second = try await Self.push(gateway, 3, to: Self.nobody, bearer: bearer)
        let waiting = try await Self.push(gateway, 1, to: #"{"kind":"scores"}"#, bearer: bearer)
        _ = try await gateway.eventually("the second are tried") { try await Self.told(target, gateway)[second[0]] }
        await gateway.crash()
        let tried = target.server.requests.count
        target.steps.set(.answer(200))
        gateway = try await Self.start(in: folder, target)
        let after = try await gateway.eventually("the second are told") {
            let told = try await Self.told(target, gateway, from: tried)
            return second.allSatisfy { told[$0] != nil } ? told : nil
        }
        #expect(after[waiting[0]] == nil, "it is not over")
        let cancelled = try await gateway.curl("DELETE", "\(gateway.hostURL)/v1/pushes/\(waiting[0])", bearer: bearer)
        #expect(cancelled.status == 200)
        for number in 1...8 {
            let reloads = try await gateway.outstanding(number, bearer: bearer)
            if !reloads.isEmpty { try await gateway.acknowledge(reloads, bearer: bearer) }
        }
        let last = try await gateway.eventually("the push to all is told") {
            try await Self.told(target, gateway)[waiting[0]]?.first
        }
        #expect(last["matched"] as? Int == 8, "\(last)")
        #expect((last["outcomes"] as? [String: Int])?.values.reduce(0, +) == 8)
        #expect(last["completedAt"] is String && last["team"] as? String == TestGateway.team)
        let list = try await gateway.curl("GET", "\(gateway.opsURL)/v1/upstreams").json["receipts"] as? [[String: Any]]
        #expect(list?.first?["app"] as? String == TestGateway.app && list?.first?["gaps"] as? Int == 0)
        await gateway.stop()
        await target.server.stop()
    }

    @Test(.oneGateway("its log is in memory"))
    func `a receiver that takes nothing is told of, and tried now`() async throws {
        let folder = try await Self.folder()
        let target = try await FakeTarget(in: folder, .answer(404))
        let gateway = try await Self.start(in: folder, target, options: ["--in-memory", "--movable-clock"])
        let bearer = try await gateway.providerToken()
        func state() async throws -> String? {
            let answer = try await gateway.curl("GET", "\(gateway.opsURL)/v1/upstreams")
            let health = (answer.json["receipts"] as? [[String: Any]])?.first?["health"] as? [String: Any]
            return health?["state"] as? String
        }
        #expect(try await state() == "untried", "it has begun before the gateway is ready")
        #expect(try await Alerts.firing("FreshetReceiptsTrouble", gateway, afterMinutes: 3) == 0)
        let ids = try await Self.push(gateway, 1, to: Self.nobody, bearer: bearer)
        _ = try await gateway.eventually("it fails") { try await state() == "untried" ? nil : true }
        _ = try await gateway.curl("POST", "\(gateway.opsURL)/v1/clock", body: #"{"advance":31}"#)
        _ = try await gateway.eventually("it is in trouble") { try await state() == "inTrouble" ? true : nil }
        #expect(try await Alerts.firing("FreshetReceiptsTrouble", gateway, afterMinutes: 3) == 1)
        target.steps.set(.answer(204))
        let tried = try await gateway.curl(
            "POST",
            "\(gateway.opsURL)/v1/try-now",
            body: #"{"app":"\#(TestGateway.app)"}"#
        )
        #expect(((tried.json["tried"] as? [[String: Any]])?.first?["target"] as? String) == "receipts", "\(tried.body)")
        _ = try await gateway.eventually("it is well") { try await state() == "well" ? true : nil }
        #expect(try await Self.told(target, gateway)[ids[0]] != nil)
        #expect(try await Alerts.firing("FreshetReceiptsTrouble", gateway, afterMinutes: 3) == 0)
        let metrics = try await gateway.curl("GET", "\(gateway.opsURL)/metrics").body
        #expect(metrics.contains("freshet_receipts_told_total{app=\"\(TestGateway.app)\"} 1\n"))
        await gateway.stop()
        await target.server.stop()
    }
}
