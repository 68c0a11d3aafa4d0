import APNSWire
import Engine
import Partitions
import Serving
import TestSupport
import Testing
import WidgetModel

@Suite struct ViewsTests {
    private static func text(_ value: JSONValue) -> String { String(decoding: value.jsonText, as: UTF8.self) }

    private static func sum(_ value: JSONValue?) -> Int64? {
        guard case .object(let members) = value else { return nil }
        return members.reduce(0) { sum, member in
            guard case .int(let count) = member.value else { return sum }
            return sum + count
        }
    }

    @Test func `a reload is what docs say that an event carries`() {
        #expect(
            Self.text(Views.reload(Sports.reload("phone-17", "scores-1", position: 42)))
                == #"{"id":"0-42-7-0000002a","app":"com.example.scores","host":"phone-17","#
                + #""instance":"scores-1","kind":"scores","family":"systemSmall","causes":["push"],"charged":true,"#
                + #""push":"00000000-0000-0007-0000-000000000001","pushes":1,"#
                + #""issuedAt":"2026-11-02T17:00:00Z","expiresAt":"2026-11-02T21:00:00Z"}"#
        )
    }

    @Test func `outcomes that do not occur are left out and all others add up`() {
        var counts = OutcomeCounts()
        for (index, outcome) in PushOutcome.allCases.enumerated() where index.isMultiple(of: 2) {
            counts[outcome] = index + 1
        }
        let value = Views.outcomes(counts)
        guard case .object(let members) = value else {
            Issue.record("no object")
            return
        }
        #expect(members.map(\.name) == PushOutcome.allCases.filter { counts[$0] > 0 }.map(\.name))
        #expect(Self.sum(value) == Int64(counts.total))
    }

    /// Three partitions, each with a part of the push's instances, in whatever state each is.
    @Test func `the outcomes of a push add up to what it matched, at every stage`() async throws {
        let scene = try await OwnerScene.started(partitions: 3)
        for number in 0..<12 { try await scene.register("host-\(number)", instances: 1 + number % 3) }
        var push = Sports.push(1, to: "")
        push.target = .app(Sports.app)
        _ = try await scene.log.appendToAll(.push(push))
        let id = push.id
        for stage in 0..<3 {
            let views = try await scene.log.askAll(PushesQuestion([id], of: Sports.team)).flatMap { $0 }
            let value = try #require(Views.push(views, partitions: 3))
            #expect(value["matched"] == .int(24), "stage \(stage)")
            #expect(Self.sum(value["outcomes"]) == 24, "stage \(stage): \(Self.text(value))")
            #expect(value["appliedBy"] == .int(3))
            #expect(value["partitions"] == .int(3))
            #expect(value["isComplete"] == .bool(stage == 2), "stage \(stage): \(Self.text(value))")
            if stage == 0 {
                let question = ReloadsQuestion(.app(Sports.app), limit: 1000)
                let outstanding = try await scene.log.askAll(question).flatMap(\.reloads)
                _ = try await scene.log.append(
                    outstanding.map {
                        (.delivery(DeliveryReport(host: $0.host, reload: $0.id, result: .acknowledged)), $0.host)
                    }
                )
            } else if stage == 1 {
                for number in 0..<12 {
                    let host = HostKey("host-\(number)")
                    _ = try await scene.log.append(.unregister(HostRemoval(host: host)), for: host)
                }
            }
        }
    }

    @Test func `a push to a device concerns one of several partitions`() async throws {
        let scene = try await OwnerScene.started(partitions: 3)
        try await scene.register("phone")
        let push = Sports.push(1, to: "phone")
        _ = try await scene.log.append(.push(push), for: HostKey("phone"))
        let views = try await scene.log.askAll(PushesQuestion([push.id], of: Sports.team)).flatMap { $0 }
        let value = try #require(Views.push(views, partitions: 3))
        #expect(value["appliedBy"] == .int(1))
        #expect(value["partitions"] == .int(1))
    }

    @Test func `an unknown push has no view`() {
        #expect(Views.push([], partitions: 3) == nil)
    }

    @Test func `a registration shows no whole token`() async throws {
        let scene = try await OwnerScene.started()
        try await scene.register("phone")
        let host = HostKey("phone")
        let view = try #require(try await scene.log.ask(HostQuestion(host)))
        let text = Self.text(Views.registration(view))
        #expect(text.contains(#""tokens":["746f6b65…"]"#))
        #expect(!text.contains(Sports.token("phone").hex))
    }
}
