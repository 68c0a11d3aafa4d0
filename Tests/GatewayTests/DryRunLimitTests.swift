import Engine
import Gateway
import HTTPTransport
import TestSupport
import Testing
import WidgetModel

/// How many matches a dry run decides, and how many a push may have, over all partitions.
@Suite struct DryRunLimitTests {
    private static let hosts = ["phone", "tablet", "watch", "desk", "car"]

    /// Five widgets, of which every partition has some.
    private static func register(_ log: CommandLog) async throws {
        for host in Self.hosts {
            _ = try await log.append(.register(Sports.registration(host, [Sports.instance("a")])), for: HostKey(host))
        }
        let counts = try await log.askAll { $0.stats().instances }
        #expect(counts.allSatisfy { $0 > 0 } && counts.reduce(0, +) == Self.hosts.count)
    }

    private static func push(_ number: UInt64) -> PushRecord {
        PushRecord(
            id: PushID(high: 5, low: number),
            team: Sports.team,
            contentHash: number,
            priority: .high,
            target: .app(Sports.app)
        )
    }

    private static func problem<Value>(_ body: () async throws(Problem) -> Value) async -> Problem? {
        do throws(Problem) {
            _ = try await body()
            return nil
        } catch {
            return error
        }
    }

    @Test(arguments: [4, 5, 6])
    func `operators' dry runs decide as many matches as dryRun.decidedMax says`(max: Int) async throws {
        var bounds = ServingBounds()
        bounds.decidedMax = max
        let operators = try await OperatorScene(bounds: bounds)
        try await Self.register(operators.scene.log)
        let path = "/v1/apps/\(Sports.app)/dry-runs"
        let answer = try await operators.send("POST", path, #"{"freshet":{"kind":"scores"}}"#)
        #expect(answer.json["matched"] == .int(5))
        guard max < 5 else {
            #expect(answer.status == 200 && answer.json["dryRun"] == .bool(true))
            return
        }
        #expect(answer.status == 409)
        #expect(answer.json["code"] == .string("too-many-matched"))
        #expect(answer.json["matchedMax"] == .int(4))
        guard case .string(let detail) = answer.json["detail"] else {
            Issue.record("no detail")
            return
        }
        #expect(detail.contains("5 instances") && detail.contains("the 4 ") && detail.contains("dryRun.decidedMax"))
        let metrics = await operators.routes.respond(to: OperatorScene.request("GET", "/metrics"))
        guard case .bytes(let text) = metrics.body else {
            Issue.record("no metrics")
            return
        }
        #expect(
            String(decoding: text, as: UTF8.self).contains(
                #"freshet_problems_total{listener="ops",code="too-many-matched"} 1"#
            )
        )
    }

    @Test(arguments: [4, 5, 6])
    func `a dry run is refused with the sum over partitions, and a repeat as well`(max: Int) async throws {
        let scene = try await OwnerScene.started(partitions: 2)
        try await Self.register(scene.log)
        let push = Self.push(1)
        let expected: Problem? =
            max < 5
            ? Problem(
                .tooManyMatched,
                "the push matches 5 instances, more than the 4 that a dry run decides (dryRun.decidedMax); "
                    + "narrow freshet.match",
                matched: 5,
                matchedMax: 4
            ) : nil
        let refusal = await Self.problem { () throws(Problem) in try await scene.log.dryRun(push, decidedMax: max) }
        #expect(refusal == expected)
        _ = try await scene.log.appendToAll(.push(push))
        let again = await Self.problem { () throws(Problem) in try await scene.log.dryRun(push, decidedMax: max) }
        #expect(again == expected)
    }

    @Test(arguments: [4, 5, 6])
    func `a push may match so many over all partitions, and one that was accepted is no more refused`(
        max: Int
    ) async throws {
        let scene = try await OwnerScene.started(partitions: 2)
        try await Self.register(scene.log)
        let push = Self.push(1)
        let refusal = await Self.problem { () throws(Problem) in
            _ = try await scene.log.matched(push, atMost: max)
        }
        #expect(refusal?.code == (max < 5 ? .tooManyMatched : nil))
        #expect(refusal?.matched == (max < 5 ? 5 : nil))
        #expect(refusal?.matchedMax == (max < 5 ? 4 : nil))
        _ = try await scene.log.appendToAll(.push(push))
        #expect(try await scene.log.matched(push, atMost: max).reduce(0, +) == 5)
    }
}
