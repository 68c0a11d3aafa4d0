import Engine
import HTTPTransport
import Partitions
import Serving
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
        let counts = try await log.askAll(TotalsQuestion()).map(\.instances)
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
    func `operators' dry runs decide as many matches as dryRun.decidedMax says, and count all`(max: Int) async throws {
        var bounds = ServingBounds()
        bounds.decidedMax = max
        let operators = try await OperatorScene(bounds: bounds)
        try await Self.register(operators.scene.log)
        let path = "/v1/apps/\(Sports.app)/dry-runs"
        let answer = try await operators.send("POST", path, #"{"freshet":{"kind":"scores"}}"#)
        #expect(answer.status == 200 && answer.json["dryRun"] == .bool(true))
        #expect(answer.json["matched"] == .int(5))
        #expect(answer.json["sampled"] == .bool(max < 5))
        #expect(answer.json["decided"] == .int(Int64(min(5, max))))
        #expect(answer.json["asOf"] != nil)
    }

    @Test(arguments: [1, 2, 4, 5, 6])
    func `a dry run decides so many over all partitions, and as many of a repeat`(max: Int) async throws {
        let scene = try await OwnerScene.started(partitions: 2)
        try await Self.register(scene.log)
        let push = Self.push(1)
        for _ in 0..<2 {
            let summary = try await scene.log.dryRun(push, decidedMax: max)
            #expect(summary.matched == 5)
            #expect(summary.decided == min(5, max))
            #expect(summary.rows.reduce(0) { $0 + $1.count } == min(5, max))
            _ = try await scene.log.appendToAll(.push(push))
        }
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
        let again = try await scene.log.matched(push, atMost: max)
        #expect(again.counts.reduce(0, +) == 5)
        #expect(again.limits?.reduce(0, +) == max)
    }

    /// Instances that register between the question and the record do not get past the bound.
    @Test func `a push matches no more than it may, whatever is registered since it was asked`() async throws {
        let scene = try await OwnerScene.started(partitions: 2)
        try await Self.register(scene.log)
        let push = Self.push(1)
        let limits = try #require(try await scene.log.matched(push, atMost: 6).limits)
        for host in 0..<20 {
            let registration = Sports.registration("late-\(host)", [Sports.instance("a")])
            _ = try await scene.log.append(.register(registration), for: HostKey("late-\(host)"))
        }
        for (partition, limit) in limits.enumerated() {
            var part = push
            part.matchedMax = limit
            let answer = try await scene.log.append(.push(part), to: PartitionID(UInt16(partition)))
            #expect(answer == .push(matched: 0, isRepeat: false))
        }
        let views = try await scene.log.askAll(PushesQuestion([push.id])).flatMap(\.self)
        #expect(views.map(\.failure) == [.tooMany, .tooMany])
        let json = try #require(Views.push(views, partitions: 2))
        #expect(json["failure"] == .string("tooMany") && json["isComplete"] == .bool(true))
        #expect(json["matched"] == .int(0))
    }
}
