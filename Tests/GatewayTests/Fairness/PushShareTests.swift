import Engine
import HTTPTransport
import IntentMatching
import Journaling
import Ownership
import Partitions
import Serving
import Testing
import WidgetModel

/// Answers to senders whose team has its share of undecided work, and the charges of their pushes.
@Suite(.timeLimit(.minutes(60))) struct PushShareTests {
    private static let narrow = #""match":{"team":["rams"]}"#

    /// One request of each way in which a push is taken.
    private static func requests(_ channel: String) -> [PushScene.Request] {
        [
            .device(Sports.token("phone")), .app(), .app("a push with a pattern", Self.narrow),
            .app("a push with maxMatched", #""all":true,"maxMatched":100"#), .app("a dry run", query: "?dry-run=true"),
            .broadcast(channel), .broadcast(channel, #""maxMatched":100"#),
        ]
    }

    /// More work than any share, which no partition will ever apply.
    private static func fill(_ work: WorkAdmission) -> WorkCharges {
        work.charge(work.partitions.map { 10 * $0.pace }, to: work.work(of: Sports.team))
    }

    @Test(arguments: [1, 2])
    func `over its share every push of a team is 503, and no other's`(partitions: Int) async throws {
        try await PushScene.with(partitions: partitions) { scene in
            try await scene.scene.register("phone")
            let channel = try await scene.makeChannel()
            await scene.decide()
            let filled = Self.fill(scene.work)
            let before = try await scene.scene.digests()
            for request in Self.requests(channel) {
                let answer = try await scene.send(request)
                #expect(answer.status == 503, "\(request): \(answer.text)")
                #expect(answer.text.contains(#""reason":"ServiceUnavailable""#), "\(request)")
                #expect(answer.headers["retry-after"].flatMap { Int($0) } ?? 0 > 0, "\(request)")
            }
            #expect(try await scene.scene.digests() == before)
            let count = Self.requests(channel).count
            // Once each, however many partitions have no room for it.
            #expect(scene.work.work(of: Sports.team).refused == count)
            #expect(scene.counters.unavailable == count)
            for request in [.app(of: Sports.otherApp), .app("a dry run", query: "?dry-run=true", of: Sports.otherApp)]
                as [PushScene.Request]
            {
                await scene.decide(of: Sports.otherTeam)
                let answer = try await scene.send(request, as: Sports.otherTeam)
                #expect(answer.status == 200, "\(request): \(answer.text)")
            }
            scene.work.end(filled)
            for request in Self.requests(channel) {
                await scene.decide()
                let answer = try await scene.send(request)
                #expect(answer.status == 200, "\(request): \(answer.text)")
            }
            await scene.decide()
            #expect(scene.work.work(of: Sports.team).refused == count)
            #expect(scene.work.work(of: Sports.otherTeam).refused == 0)
        }
    }

    @Test func `a push is charged with what it may match at most`() async throws {
        try await PushScene.with { scene in
            for number in 0..<5 { try await scene.scene.register("phone-\(number)") }
            let channel = try await scene.makeChannel()
            #expect(try await scene.charge(of: .device(Sports.token("phone-1"))) == [WorkUnits.record])
            #expect(try await scene.charge(of: .app()) == [WorkUnits.record + 5])
            #expect(try await scene.charge(of: .app("", #""kind":"scores""#)) == [WorkUnits.record + 5])
            #expect(try await scene.charge(of: .app("", Self.narrow)) == [WorkUnits.record + 5])
            #expect(try await scene.charge(of: .broadcast(channel)) == [WorkUnits.record + 5])
            await scene.decide()
            #expect(scene.work.partitions[0].undecided == 0)
        }
    }

    /// As many widgets as it takes for the index to be asked, of which a pattern finds some.
    @Test func `a push with a pattern is charged with what it matches, where all would be many`() async throws {
        try await PushScene.with { scene in
            for number in 0..<5 { try await scene.scene.register("phone-\(number)") }
            let channel = try await scene.makeChannel()
            try await scene.scene.settle()
            for (audience, isAsked) in [(WorkUnits.unaskedMax, false), (WorkUnits.unaskedMax + 1, true)] {
                scene.work.partitions[0].setAudiences([Sports.app: [Sports.scores.kind: audience]])
                func expected(_ matched: Int) -> [Int] { [WorkUnits.record + (isAsked ? matched : audience)] }
                #expect(try await scene.charge(of: .app("", Self.narrow)) == expected(0))
                #expect(try await scene.charge(of: .app("", #""match":{"team":["seahawks"]}"#)) == expected(5))
                #expect(try await scene.charge(of: .broadcast(channel)) == expected(5))
                #expect(try await scene.charge(of: .app()) == [WorkUnits.record + audience])
            }
            await scene.decide()
            #expect(scene.work.work(of: Sports.team).refused == 0)
        }
    }

    @Test func `a push or broadcast that is too much work alone is 409 with its units`() async throws {
        try await PushScene.with(pushMax: .zero) { scene in
            for number in 0..<5 { try await scene.scene.register("phone-\(number)") }
            let channel = try await scene.makeChannel()
            try await scene.scene.settle()
            let requests: [PushScene.Request] = [
                .app(), .app("", #""all":true,"maxMatched":100"#), .broadcast(channel),
            ]
            for request in requests {
                let answer = try await scene.send(request)
                #expect(answer.status == 409, "\(request): \(answer.text)")
                #expect(answer.text.contains(#""code":"too-much-work""#), "\(request)")
                #expect(answer.text.contains(#""units":9,"unitsMax":0"#), "\(request): \(answer.text)")
            }
            #expect(scene.work.tooLargeRequests == requests.count)
            #expect(scene.work.work(of: Sports.team).refused == 0)
            #expect(try await scene.send(.device(Sports.token("phone-1"))).status == 200)
        }
    }

    /// To find them would take longer than the push may, so that they are not looked for.
    @Test(arguments: ["", "?dry-run=true"])
    func `a pattern that is too much work to be looked for is 409 without asking`(query: String) async throws {
        try await PushScene.with { scene in
            try await scene.scene.register("phone")
            try await scene.scene.settle()
            scene.work.partitions[0].setAudiences([Sports.app: [Sports.scores.kind: 1_000_000_000]])
            let request = PushScene.Request.app("", #""match":{"team":[{"wildcard":"*a*b*c*"}]}"#, query: query)
            let answer = try await scene.send(request)
            #expect(answer.status == 409, "\(answer.text)")
            #expect(answer.text.contains(#""code":"too-much-work""#))
            #expect(scene.work.work(of: Sports.team).undecided == 0)
        }
    }

    @Test func `pushes to devices that come together are charged together, and no more than they are`() async throws {
        try await PushScene.with { scene in
            try await scene.scene.register("phone")
            await scene.decide()
            scene.scene.journal.hold()
            let team = scene.work.work(of: Sports.team)
            try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<200 { group.addTask { try await scene.send(.device(Sports.token("phone"))).status } }
                // Units that are reserved beyond that are given back when the turn ends.
                while team.undecided != 200 * WorkUnits.record || scene.scene.journal.waiting == 0 {
                    await Task.yield()
                }
                scene.scene.journal.release()
                for try await status in group { #expect(status == 200) }
            }
            await scene.decide()
        }
    }
}
