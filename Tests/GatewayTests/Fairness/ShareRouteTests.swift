import Engine
import Gateway
import Journaling
import TestSupport
import Testing
import WidgetModel

/// What hosts and back ends are told when their team has its share in the log, and that only its own requests are refused.
@Suite struct ShareRouteTests {
    private static func scene(pushMax: Interval? = nil) async throws -> RouteScene {
        let scene = try await OwnerScene.started(partitions: 2)
        return try RouteScene(scene, apps: Sports.served(charging: scene.work, pushMax: pushMax))
    }

    /// A second of work that no partition will ever apply.
    private static func fill(_ work: WorkAdmission, of team: TeamID) -> WorkCharges {
        var charges = WorkCharges()
        for part in work.partitions { charges.add(2 * part.pace, to: work.work(of: team), in: part.partition) }
        work.begin(charges)
        return charges
    }

    private static func appPath(_ rest: String) -> String { "/v1/apps/\(Sports.app)/\(rest)" }

    @Test func `while its team has its share what adds work is refused, removals and others' are not`() async throws {
        let scene = try await Self.scene()
        try await scene.register("phone")
        try await scene.scene.settle()
        let work = scene.scene.work
        let charges = Self.fill(work, of: Sports.team)
        let phone = Sports.token("phone")
        let (host, team) = (try scene.key.hostCredential(phone, of: "phone"), try scene.key.providerToken())
        let refused = [
            ("PUT", RouteScene.path(phone), host, RouteScene.body(#""host":"phone""#)),
            ("POST", Self.appPath("reload"), team, ""),
            ("POST", Self.appPath("invalidate-relevance"), team, ""),
            ("POST", RouteScene.path(phone, "signals"), host, #"{"signal":"appForeground"}"#),
        ]
        let before = try await scene.scene.digests()
        for (method, target, credential, body) in refused {
            let answer = try await scene.send(method, target, credential, body)
            #expect(answer.place == ["503", "over-share"], "\(method) \(target): \(answer.body)")
            #expect(answer.body.contains("retryAfter"))
        }
        #expect(try await scene.scene.digests() == before)
        // Once for each partition that has no room for it.
        #expect(work.work(of: Sports.team).refused >= refused.count)
        // Another team's are taken.
        let other = try await scene.send(
            "POST",
            "/v1/apps/\(Sports.otherApp)/reload",
            try scene.otherKey.providerToken(),
            ""
        )
        #expect(other.status < 300, "\(other.body)")
        work.end(charges)
        for (method, target, credential, body) in refused {
            let answer = try await scene.send(method, target, credential, body)
            #expect(answer.status < 300, "\(method) \(target): \(answer.body)")
        }
        // A removal ends work.
        _ = Self.fill(work, of: Sports.team)
        let removal = try await scene.send("DELETE", RouteScene.path(phone), host)
        #expect(removal.status < 300, "\(removal.body)")
    }

    @Test func `a request for a whole app counts all of its widgets`() async throws {
        let scene = try await Self.scene(pushMax: .zero)
        let refused = try await scene.send("POST", Self.appPath("reload"), try scene.key.providerToken())
        #expect(refused.place == ["409", "too-much-work"], "\(refused.body)")
        for number in 0..<8 { try await scene.register("phone-\(number)") }
        try await scene.scene.settle()
        let audience = scene.scene.work.partitions.map { $0.audience(of: Sports.app, nil) }
        #expect(audience.reduce(0, +) == 8)
        let other = scene.scene.work.partitions.map { $0.audience(of: Sports.app, WidgetKind("another")) }
        #expect(other == [0, 0])
        let again = try await scene.send("POST", Self.appPath("reload"), try scene.key.providerToken())
        #expect(again.body.contains(#""units":\#((audience.max() ?? 0) + WorkUnits.record)"#), "\(again.body)")
    }

    @Test func `nothing is left undecided once all is applied`() async throws {
        let scene = try await Self.scene()
        for number in 0..<8 { try await scene.register("phone-\(number)") }
        _ = try await scene.send("POST", Self.appPath("reload"), try scene.key.providerToken())
        try await scene.scene.settle()
        // What is told of a turn comes right behind its answers.
        let work = scene.scene.work
        for owner in scene.scene.owners { _ = try await owner.progress() }
        #expect(work.work(of: Sports.team).undecided == 0)
        #expect(work.partitions.map(\.activeTeams) == [0, 0])
    }

    @Test func `what operators order is charged and never refused`() async throws {
        let scene = try await OwnerScene.started(partitions: 2)
        let apps = LiveApps(Sports.served(charging: scene.work, pushMax: .zero))
        _ = Self.fill(scene.work, of: Sports.team)
        let log = scene.log.charged(to: scene.work, apps, refuses: false)
        let answers = try await log.appendToAll(.order(OperatorOrder(.pause(until: nil), .app(Sports.app))))
        #expect(answers.count == 2)
    }
}
