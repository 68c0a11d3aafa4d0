import Foundation
import HTTPTransport
import NIOCore
import NIOPosix
import Synchronization
import TLS
import Testing

/// Kill -9 in the middle of a storm of pushes: pushes that were answered 200 are accounted for, charged once, and add
/// up.
@Suite struct CrashTests {
    private static let pushes = 20_000
    private static let hosts = 200
    private static let body = Array(#"{"aps":{"content-changed":true}}"#.utf8)

    @Test func `nothing answered 200 is lost and nothing is charged twice`() async throws {
        let folder = try TestGateway.makeFolder()
        // The distance of two charged reloads is longer than any machine takes, so that each instance has one.
        let first = try await TestGateway.start(
            in: folder,
            partitions: 2,
            appSettings: "    budget: {preset: widgetkit, name: rare, minimumInterval: 24h}\n"
        )
        let bearer = try await first.providerToken()
        let lines = (0..<Self.hosts).map {
            TestGateway.registration($0, teams: ["seahawks"], token: TestGateway.token($0))
        }
        let registered = try await first.curl(
            "POST",
            "\(first.hostURL)/v1/apps/\(TestGateway.app)/hosts",
            bearer: bearer,
            body: lines.joined(separator: "\n")
        )
        try #require(registered.status == 200, "\(registered.body)")

        let ids = (0..<Self.pushes).map { _ in UUID().uuidString.lowercased() }
        let accepted = Mutex<Set<Int>>([])
        // The gateway dies as soon as a third of the pushes has been answered; the rest of them finds no gateway.
        await self.send(Array(ids.indices), ids, to: first, bearer, accepted, killAfter: Self.pushes / 3)
        let before = accepted.withLock { $0 }
        #expect(before.count >= Self.pushes / 3 && before.count < Self.pushes)

        let second = try await TestGateway.start(in: folder, partitions: 2)
        // Every push again, also those that were answered: a sender that is not sure repeats with the same id.
        await self.send(Array(ids.indices), ids, to: second, bearer, accepted, killAfter: nil)
        #expect(accepted.withLock { $0.count } == Self.pushes)

        let stats = try await second.eventually("every push is applied") {
            let stats = try await second.curl("GET", "\(second.opsURL)/v1/stats").json
            let pushes = stats["pushes"] as? [String: Any]
            return pushes?["accepted"] as? Int == Self.pushes ? stats : nil
        }
        let pushes = try #require(stats["pushes"] as? [String: Any])
        #expect(pushes["balanced"] as? Bool == true)
        // Each push matches the two widgets of its host, once, however often it was sent.
        #expect(pushes["matched"] as? Int == 2 * Self.pushes)
        #expect((pushes["repeated"] as? Int ?? 0) >= before.count)
        // Within a day of its last charged reload an instance is not charged again: at most one charge each.
        let reloads = try #require(stats["reloads"] as? [String: Any])
        #expect(reloads["charged"] as? Int == 2 * Self.hosts)

        // Each push that was answered before the crash is known by its id, and its outcomes add up.
        try await self.check(before.sorted().map { ids[$0] }, at: second)
        await second.stop()
    }

    /// Sends pushes, 400 at a time over four connections.
    private func send(
        _ indices: [Int],
        _ ids: [String],
        to gateway: TestGateway,
        _ bearer: String,
        _ accepted: borrowing Mutex<Set<Int>>,
        killAfter: Int?
    ) async {
        let answered = Answered()
        await withTaskGroup(of: [Int].self) { group in
            let chunk = (indices.count + 3) / 4
            for start in stride(from: 0, to: indices.count, by: chunk) {
                let own = Array(indices[start..<min(start + chunk, indices.count)])
                group.addTask { await Self.send(own, ids, to: gateway, bearer, answered, killAfter) }
            }
            for await done in group { accepted.withLock { $0.formUnion(done) } }
        }
        if killAfter != nil { await gateway.crash() }
    }

    private static func send(
        _ indices: [Int],
        _ ids: [String],
        to gateway: TestGateway,
        _ bearer: String,
        _ answered: Answered,
        _ killAfter: Int?
    ) async -> [Int] {
        guard let connection = try? await Self.connect(gateway.pushPort, gateway.ca) else { return [] }
        var done: [Int] = []
        await withTaskGroup(of: Int?.self) { group in
            var rest = indices[...]
            var isAlive = true
            func start() {
                guard isAlive, let index = rest.popFirst() else { return }
                group.addTask {
                    let request = HTTPClientRequest(
                        method: "POST",
                        path: "/3/device/\(TestGateway.token(index % Self.hosts))",
                        headers: [
                            "authorization": "bearer \(bearer)", "apns-topic": TestGateway.topic,
                            "apns-push-type": "widgets", "apns-priority": "10", "apns-id": ids[index],
                        ],
                        body: Self.body,
                        timeout: .hours(1)
                    )
                    do {
                        let answer = try await connection.send(request)
                        if answer.status == 200 { return index }
                        Issue.record("\(answer.status) \(answer.text)")
                    } catch {
                        // An error is expected when the gateway is killed.
                        if killAfter == nil { Issue.record(error) }
                    }
                    return nil
                }
            }
            for _ in 0..<100 { start() }
            for await index in group {
                if let index {
                    done.append(index)
                    if await answered.add() == killAfter { kill(gateway.pid, SIGKILL) }
                } else {
                    isAlive = false
                }
                start()
            }
        }
        await connection.close()
        return done
    }

    private static func connect(_ port: Int, _ ca: String) async throws -> HTTP2ClientConnection {
        let tls = try TLSContext.client(TLSClientConfiguration(trust: .roots(.file(ca)), alpn: ["h2"]))
        var configuration = HTTP2ClientConfiguration()
        configuration.handshakeTimeout = .hours(1)
        configuration.pingTimeout = .hours(1)
        return try await HTTP2ClientConnection.connect(
            host: "localhost",
            port: port,
            tls: tls,
            on: MultiThreadedEventLoopGroup.singleton,
            configuration: configuration
        )
    }

    private func check(_ ids: [String], at gateway: TestGateway) async throws {
        let connection = try await Self.connect(gateway.opsPort, gateway.ca)
        let headers: HTTPFields = ["authorization": "bearer \(try #require(gateway.operatorToken))"]
        for start in stride(from: 0, to: ids.count, by: 200) {
            let wrong = try await withThrowingTaskGroup(of: String?.self) { group in
                for id in ids[start..<min(start + 200, ids.count)] {
                    group.addTask {
                        let answer = try await connection.send(
                            HTTPClientRequest(
                                method: "GET",
                                path: "/v1/pushes/\(id)",
                                headers: headers,
                                timeout: .hours(1)
                            )
                        )
                        guard answer.status == 200,
                            let push = try JSONSerialization.jsonObject(with: Data(answer.body)) as? [String: Any],
                            let matched = push["matched"] as? Int, let outcomes = push["outcomes"] as? [String: Int]
                        else { return "\(id): \(answer.status) \(answer.text)" }
                        return matched == 2 && outcomes.values.reduce(0, +) == 2 ? nil : "\(id): \(answer.text)"
                    }
                }
                var wrong: [String] = []
                for try await problem in group { if let problem { wrong.append(problem) } }
                return wrong
            }
            #expect(wrong.isEmpty, "\(wrong.prefix(3))")
        }
        await connection.close()
    }

    private actor Answered {
        private var count = 0
        func add() -> Int {
            self.count += 1
            return self.count
        }
    }
}
