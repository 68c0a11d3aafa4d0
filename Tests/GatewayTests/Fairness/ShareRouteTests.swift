import Engine
import IntentMatching
import Journaling
import Ownership
import Partitions
import Serving
import Settings
import TestSupport
import Testing
import WidgetModel

/// Answers to hosts and back ends whose team has its share in the log. Only that team's own requests are refused.
@Suite struct ShareRouteTests {
    private static func scene(pushMax: Interval? = nil) async throws -> RouteScene {
        let scene = try await OwnerScene.started(partitions: 2)
        return try RouteScene(scene, apps: Sports.served(charging: scene.work, pushMax: pushMax))
    }

    /// More work than a share, which no partition will ever apply.
    private static func fill(_ work: WorkAdmission, of team: TeamID) -> WorkCharges {
        work.charge(work.partitions.map { 2 * $0.pace }, to: work.work(of: team))
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
        #expect(work.work(of: Sports.team).refused == refused.count)
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
        // The work of a turn is told right behind its answers.
        let work = scene.scene.work
        for owner in scene.scene.owners { _ = try await owner.progress() }
        #expect(work.work(of: Sports.team).undecided == 0)
        #expect(work.partitions.map(\.undecided) == [0, 0])
    }

    @Test(arguments: [
        (OrderScope.app(Sports.app), 3), (.kind(Sports.app, Sports.scores.kind), 3), (.sender(Sports.team), 3),
        (.kind(Sports.app, WidgetKind("another")), 0), (.app(Sports.otherApp), 0), (.sender(Sports.otherTeam), 0),
    ])
    func `what operators order is charged to its team and never refused`(scope: OrderScope, audience: Int) async throws
    {
        let scene = try await OwnerScene.started()
        for number in 0..<3 { try await scene.register("phone-\(number)") }
        try await scene.settle()
        let work = scene.work
        let apps = LiveApps(Sports.served(charging: work, pushMax: .zero))
        let teams = [work.work(of: Sports.team), work.work(of: Sports.otherTeam)]
        let filled = [Self.fill(work, of: Sports.team), Self.fill(work, of: Sports.otherTeam)]
        let before = teams.map(\.undecided)
        let log = scene.log.charged(to: work, apps, refuses: false)
        // A record that waits for its commit is charged already.
        scene.journal.hold()
        async let answers = log.appendToAll(.order(OperatorOrder(.pause(until: nil), scope)))
        while scene.journal.waiting == 0 { await Task.yield() }
        let charged = zip(teams, before).map { $0.undecided - $1 }
        scene.journal.release()
        #expect(try await answers.count == 1)
        let isOther = [.app(Sports.otherApp), .sender(Sports.otherTeam)].contains(scope)
        #expect(charged == (isOther ? [0, WorkUnits.record] : [WorkUnits.record + audience, 0]))
        try await scene.settle()
        #expect(teams.map(\.undecided) == before)
        for charges in filled { work.end(charges) }
        #expect(teams.map(\.refused) == [0, 0])
    }

    @Test func `an order about a team that serves no app is charged to no team`() async throws {
        let scene = try await OwnerScene.started()
        let apps = LiveApps(Sports.served(charging: scene.work))
        let log = scene.log.charged(to: scene.work, apps, refuses: false)
        let order = OperatorOrder(.pause(until: nil), .sender(TeamID("STRANGER00")))
        #expect(try await log.appendToAll(.order(order)).count == 1)
        #expect(scene.work.allTeams.map(\.team) == [Sports.team, Sports.otherTeam])
    }

    @Test func `registrations of several transactions need no more of the share than one of them`() async throws {
        let scene = try await OwnerScene.started(submissionBytesMax: 16_384)
        var settings = GatewayConfiguration.Fairness()
        settings.undecided = .milliseconds(100)
        scene.work.applySettings(settings)
        let apps = LiveApps(Sports.served(charging: scene.work))
        let instances = (0..<128).map { Sports.instance("a\($0)") }
        let records = (0..<150).map { number in
            let registration = Sports.registration("host-\(number)", instances)
            return (record: Record.register(registration), host: registration.host)
        }
        let team = scene.work.work(of: Sports.team)
        #expect(150 * 128 * WorkUnits.instance > scene.work.share(of: team, in: PartitionID(0)))
        let log = scene.log.charged(to: scene.work, apps, refuses: true)
        #expect(try await log.append(records).count == records.count)
        try await scene.settle()
        #expect([team.undecided, team.refused] == [0, 0])
    }
}
