import APNSWire
import Engine
import HTTPTransport
import IntentMatching
import Journaling
import OperatorAPI
import Partitions
import Serving
import TestSupport
import Testing
import WidgetModel

/// The lists that operators page through, over two partitions.
@Suite struct OperatorListTests {
    private static func rows(_ value: JSONValue?) -> [JSONValue] {
        guard case .array(let rows) = value else { return [] }
        return rows
    }

    private static let apps = "com.example.other, com.example.scores"

    private static func text(_ value: JSONValue?) -> String {
        guard case .string(let text) = value else { return "" }
        return text
    }

    private static func settled(hosts: Int = 12) async throws -> OperatorScene {
        let scene = try await OperatorScene()
        for number in 0..<hosts { try await scene.scene.register("host-\(number)") }
        try await scene.acknowledgeAll()
        scene.scene.time.pass(.hours(1))
        return scene
    }

    private static func push(_ number: UInt64) -> PushRecord {
        var push = Sports.push(number, to: "")
        push.target = .app(Sports.app)
        return push
    }

    /// All rows of a list, page after page.
    private static func all(_ scene: OperatorScene, _ path: String, _ member: String, limit: Int) async throws
        -> [JSONValue]
    {
        var found: [JSONValue] = []
        var cursor = ""
        repeat {
            let joint = path.contains("?") ? "&" : "?"
            let page = try await scene.send("GET", "\(path)\(joint)limit=\(limit)\(cursor)")
            #expect(page.status == 200)
            #expect(Self.rows(page.json[member]).count <= limit)
            found += Self.rows(page.json[member])
            cursor = Self.text(page.json["next"])
            if !cursor.isEmpty { cursor = "&cursor=\(cursor)" }
        } while !cursor.isEmpty
        return found
    }

    @Test func `instances of all partitions are listed once`() async throws {
        let scene = try await Self.settled()
        let wanted = Set((0..<12).map { "com.example.scores/host-\($0):a0" })
        for limit in [1, 5, 100] {
            let rows = try await Self.all(scene, "/v1/instances", "instances", limit: limit)
            #expect(rows.count == 12)
            #expect(Set(rows.map { Self.text($0["id"]) }) == wanted)
        }
        let one = try await scene.send("GET", "/v1/instances?app=com.example.scores&host=host-3").json
        #expect(Self.rows(one["instances"]).map { Self.text($0["id"]) } == ["com.example.scores/host-3:a0"])
        #expect(one["asOf"] != nil)
        #expect(Self.rows(one["positions"]).count == 2)
    }

    /// A place in a list that no page has ever named.
    @Test func `a cursor that is none is 400, and one behind the end is a page without rows`() async throws {
        let scene = try await Self.settled(hosts: 2)
        let push = Self.push(1)
        _ = try await scene.scene.log.appendToAll(.push(push))
        let lists = ["/v1/instances", "/v1/hosts", "/v1/pushes", "/v1/pushes/\(push.id)/decisions"]
        for list in lists {
            for wrong in [
                "0.18446744073709551615", "0.4611686018427387904", "18446744073709551615.0", "0.18446744073709551616",
                "0.-1",
            ] {
                let answer = try await scene.send("GET", "\(list)?cursor=\(wrong)")
                #expect(answer.status == 400, "\(list) \(wrong)")
                #expect(Self.text(answer.json["path"]) == "cursor")
            }
            let isOfPushes = list == "/v1/pushes"
            #expect(try await scene.send("GET", "\(list)?cursor=2.0").status == (isOfPushes ? 200 : 400))
            #expect(try await scene.send("GET", "\(list)?cursor=1.4294967295").status == 200)
        }
        #expect(try await scene.send("GET", "/v1/instances?cursor=1.4294967296").status == 400)
        let last = try await scene.send("GET", "\(lists[3])?cursor=1.4611686018427387903")
        #expect(Self.rows(last.json["decisions"]).isEmpty && last.json["next"] == nil)
    }

    @Test(arguments: [
        "/v1/instances?limit=0", "/v1/instances?limit=1001", "/v1/instances?cursor=1", "/v1/instances?cursor=a.b",
        "/v1/instances?state=asleep", "/v1/instances?host=host-3", "/v1/hosts?connected=maybe",
        "/v1/pushes?cursor=1.2.3", "/v1/pushes?outcome=lost",
        "/v1/history?step=day", "/v1/history?after=yesterday", "/v1/events?types=gossip",
        "/v1/instances/com.example.scores/host-1:a0?decisions=0",
    ])
    func `what a list does not understand is 400 and says where`(_ target: String) async throws {
        let scene = try await OperatorScene()
        let answer = try await scene.send("GET", target)
        #expect(answer.status == 400)
        #expect(Self.text(answer.json["code"]) == "bad-request")
        #expect(answer.json["path"] != nil)
    }

    @Test(arguments: [
        ("instances?app=com.nope", "app", "there is no app \"com.nope\"; known are: \(Self.apps)"),
        ("hosts?app=com.nope", "app", "there is no app \"com.nope\"; known are: \(Self.apps)"),
        ("pushes?app=com.nope&kind=scores", "app", "there is no app \"com.nope\"; known are: \(Self.apps)"),
        ("budget?app=", "app", "there is no app \"\"; known are: \(Self.apps)"),
        ("instances?kind=charakter", "kind", "no app has a kind \"charakter\"; known are: scores, secret"),
        ("pushes?kind=secrt", "kind", "no app has a kind \"secrt\"; known are: secret, scores"),
        ("budget?kind=nope", "kind", "no app has a kind \"nope\"; known are: scores, secret"),
        (
            "pushes?app=com.example.scores&kind=secret", "kind",
            "the app com.example.scores has no kind \"secret\"; known are: scores"
        ),
        ("pushes?sender=NOPE", "sender", "there is no sender \"NOPE\"; known are: ABCDE12345"),
    ])
    func `a filter that names what there is not is 404 with the names that there are`(
        target: String,
        path: String,
        detail: String
    ) async throws {
        let scene = try await OperatorScene()
        try await scene.scene.register("host-1")
        _ = try await scene.scene.log.appendToAll(.push(Self.push(1)))
        let answer = try await scene.send("GET", "/v1/\(target)")
        #expect(answer.status == 404 && Self.text(answer.json["code"]) == "not-found", "\(answer)")
        #expect(Self.text(answer.json["path"]) == path && Self.text(answer.json["detail"]) == detail, "\(answer)")
    }

    @Test func `a filter may name an app that the configuration has no more, as long as it has widgets`() async throws {
        let scene = try await OperatorScene(apps: Sports.served.filter { $0.bundle != Sports.app })
        try await scene.scene.register("host-1")
        #expect(try await scene.send("GET", "/v1/instances?kind=scores").status == 404)
        try await scene.watch.surveys.renew()
        let found = try await scene.send("GET", "/v1/instances?app=com.example.scores&kind=scores")
        #expect(found.status == 200 && Self.rows(found.json["instances"]).count == 1, "\(found)")
    }

    @Test func `hosts say whether their stream is open`() async throws {
        let scene = try await Self.settled(hosts: 3)
        let subscription = try scene.scene.streams.subscribe(.host(HostKey("host-1")))
        defer { scene.scene.streams.cancel(subscription) }
        let connected = try await Self.all(scene, "/v1/hosts?connected=true", "hosts", limit: 2)
        #expect(connected.map { Self.text($0["host"]) } == ["host-1"])
        #expect(connected.map { $0["streams"] } == [.int(1)])
        #expect(connected.map { $0["reached"] } == [.bool(true)])
        let others = try await Self.all(scene, "/v1/hosts?connected=false", "hosts", limit: 2)
        #expect(others.map { $0["reached"] } == [.bool(false), .bool(false)])
        #expect(try await Self.all(scene, "/v1/hosts?app=com.example.other", "hosts", limit: 2) == [])
        #expect(
            try await scene.send("GET", "/v1/hosts/com.example.scores/host-1").json["outstandingReloads"] == .int(0)
        )
        #expect(try await scene.send("GET", "/v1/hosts/com.example.scores/host-9").status == 404)
    }

    @Test func `a stream of the app reaches hosts that have none of their own`() async throws {
        let scene = try await Self.settled(hosts: 2)
        let one = "/v1/hosts/com.example.scores/host-1"
        #expect(try await scene.send("GET", one).json["reached"] == .bool(false))
        let subscription = try scene.scene.streams.subscribe(.app(Sports.app))
        defer { scene.scene.streams.cancel(subscription) }
        #expect(try await scene.send("GET", one).json["reached"] == .bool(true))
        let hosts = try await Self.all(scene, "/v1/hosts", "hosts", limit: 2)
        #expect(hosts.map { $0["reached"] } == [.bool(true), .bool(true)])
        #expect(
            hosts.map { [$0["connected"], $0["streams"]] } == [[.bool(false), .int(0)], [.bool(false), .int(0)]]
        )
    }

    @Test func `a push for an app is listed once, with the sums of all partitions`() async throws {
        let scene = try await Self.settled()
        var ids: [String] = []
        for number in 1...5 {
            let push = Self.push(UInt64(number))
            ids.append(push.id.description)
            _ = try await scene.scene.log.appendToAll(.push(push))
            scene.scene.time.pass(.seconds(1))
        }
        for number in 6...8 {
            let push = Sports.push(UInt64(number), to: "host-\(number)")
            ids.append(push.id.description)
            _ = try await scene.scene.log.append(.push(push), for: HostKey("host-\(number)"))
            scene.scene.time.pass(.seconds(1))
        }
        for limit in [1, 3, 100] {
            let rows = try await Self.all(scene, "/v1/pushes", "pushes", limit: limit)
            #expect(rows.map { Self.text($0["id"]) } == ids.reversed(), "limit \(limit)")
            #expect(rows.map { $0["matched"] } == [1, 1, 1, 12, 12, 12, 12, 12].map { .int($0) })
        }
        let waiting = try await Self.all(scene, "/v1/pushes?outcome=issued", "pushes", limit: 100)
        #expect(waiting.map { Self.text($0["id"]) } == [ids[0]])
        let decisions = try await Self.all(scene, "/v1/pushes/\(ids[0])/decisions", "decisions", limit: 5)
        #expect(Set(decisions.map { Self.text($0["instance"]) }).count == 12)
        #expect(Set(decisions.map { Self.text($0["outcome"]) }) == ["issued"])
        let nobody = "/v1/pushes/8F7A2C1E-0B44-4B7C-9D53-6A1F0E2D3C4B/decisions"
        #expect(try await scene.send("GET", nobody).status == 404)
    }

    @Test func `budget, kinds, apps and partitions add up with the totals`() async throws {
        let scene = try await Self.settled()
        _ = try await scene.scene.log.appendToAll(.push(Self.push(1)))
        try await scene.watch.surveys.renew()
        let budget = try await scene.send("GET", "/v1/budget").json
        #expect(budget["instances"] == .int(12))
        #expect(Self.rows(budget["left"]).count == 10)
        #expect(Self.rows(budget["forecast"]).count == 25)
        #expect(Self.rows(budget["kinds"]).map { $0["charged"] } == [.int(12)])
        let none = try await scene.send("GET", "/v1/budget?app=com.example.other").json
        #expect(none["instances"] == .int(0))
        let partitions = Self.rows(try await scene.send("GET", "/v1/partitions").json["partitions"])
        #expect(partitions.count == 2)
        let stats = try await scene.send("GET", "/v1/stats").json
        let instances = partitions.reduce(into: Int64(0)) { sum, row in
            if case .int(let count) = row["instances"] { sum += count }
        }
        #expect(stats["registry"]?["instances"] == .int(instances), "\(instances)")
        #expect(stats["ready"] == .bool(false))
        let forecast = try await scene.send("GET", "/v1/forecast").json
        #expect(Self.rows(forecast["buckets"]).count == 360)
        for path in ["apps", "kinds", "providers", "upstreams", "senders", "history"] {
            #expect(try await scene.send("GET", "/v1/\(path)").status == 200)
        }
    }

    @Test func `samples tell what happened between two totals`() {
        let history = GatewayHistory()
        var totals = GatewayTotals(at: Sports.start)
        #expect(history.add(totals) == nil)
        for second in 1...70 {
            totals.at = Sports.start + .seconds(Int64(second))
            totals.accepted += 10
            totals.matched += 30
            totals.outcomes[.reloaded] += 20
            totals.outcomes[.deferred] += 10
            totals.freshness.record(.seconds(second <= 60 ? 1 : 5))
            history.add(totals)
        }
        let seconds = history.samples(.second, limit: 600)
        #expect(seconds.count == 70)
        #expect(seconds.last?.accepted == 10)
        #expect(seconds.last?.outcomes[.reloaded] == 20)
        #expect(seconds.last?.outcomes[.deferred] == 700)
        let minutes = history.samples(.minute, limit: 10)
        #expect(minutes.map(\.accepted) == [600])
        #expect(minutes.map(\.freshness.count) == [60])
        #expect(history.samples(.second, after: Sports.start + .seconds(68), limit: 600).count == 2)
        #expect(history.recentFreshness()?.freshness.count == 70)
        for second in 71...2000 {
            totals.at = Sports.start + .seconds(Int64(second))
            history.add(totals)
        }
        #expect(history.samples(.second, limit: 600).count == 600)
        #expect(history.samples(.minute, limit: 1440).count == 33)
        #expect((history.recentFreshness()?.length ?? .zero) <= .minutes(6))
    }

    @Test func `a host is found by its id and by its token`() async throws {
        let scene = try await Self.settled()
        func found(_ query: String) async throws -> [String] {
            let answer = try await scene.send("GET", "/v1/hosts?\(query)")
            #expect(answer.status == 200 && answer.json["next"] == nil)
            return Self.rows(answer.json["hosts"]).map { Self.text($0["host"]) }
        }
        #expect(try await found("host=host-7") == ["host-7"])
        #expect(try await found("host=host-7&app=\(Sports.app)") == ["host-7"])
        #expect(try await scene.send("GET", "/v1/hosts?host=host-7&app=com.example.none").status == 404)
        #expect(try await found("host=host-99") == [])
        let key = HostKey(app: Sports.app, id: HostID("host-7"))
        let tokens = try await scene.scene.log.ask(HostQuestion(key))?.tokens ?? []
        let token = try #require(tokens.first).hex
        #expect(try await found("token=\(token)") == ["host-7"])
        #expect(try await found("token=\(token)&host=host-8") == [])
        #expect(try await found("token=ff") == [])
        #expect(try await scene.send("GET", "/v1/hosts?token=xyz").status == 400)
    }

    /// A history that has taken so many minutes of ten pushes each, from an instant on.
    private static func history(_ archive: MemoryArchive, from: Instant, minutes: Int) -> GatewayHistory {
        let history = GatewayHistory(archive: archive, now: from)
        var totals = GatewayTotals(at: from)
        history.add(totals)
        for _ in 0..<minutes {
            totals.at = totals.at + .minutes(1)
            totals.accepted += 10
            totals.outcomes[.reloaded] += 3
            totals.outcomes[.deferred] += 1
            totals.freshness.record(.seconds(2))
            history.add(totals)
        }
        history.write()
        return history
    }

    @Test func `minutes and hours outlive the process, as far as charts reach`() {
        let archive = MemoryArchive()
        let start = Instant(milliseconds: 3_600_000 * 400_000)
        let before = Self.history(archive, from: start, minutes: 150)
        let hours = before.samples(.hour, limit: 720)
        #expect(hours.map(\.accepted) == [600, 600, 300])
        #expect(hours.map { $0.outcomes[.reloaded] } == [180, 180, 90])
        // The waiting matches are those at the end.
        #expect(hours.map { $0.outcomes[.deferred] } == [60, 120, 150])
        #expect(hours.map(\.freshness.count) == [60, 60, 30])

        let again = GatewayHistory(archive: archive, now: start + .minutes(151))
        #expect(again.samples(.second, limit: 600).isEmpty)
        #expect(again.samples(.minute, limit: 1440) == before.samples(.minute, limit: 1440))
        #expect(again.samples(.hour, limit: 720) == hours)
        // The hour that was not over goes on.
        let later = Self.history(archive, from: start + .minutes(170), minutes: 20)
        #expect(later.samples(.hour, limit: 720).map(\.accepted) == [600, 600, 400, 100])

        let nextDay = GatewayHistory(archive: archive, now: start + .hours(26))
        #expect(nextDay.samples(.minute, limit: 1440).count == 51)
        #expect(nextDay.samples(.hour, limit: 720).count == 4)
        let nextMonth = GatewayHistory(archive: archive, now: start + .days(31))
        #expect(nextMonth.samples(.minute, limit: 1440).isEmpty && nextMonth.samples(.hour, limit: 720).isEmpty)
        // A clock that was set back knows of no later day.
        #expect(GatewayHistory(archive: archive, now: start).samples(.minute, limit: 1440).isEmpty)
    }

    @Test func `of a sample that is damaged nothing is taken`() throws {
        let sample = GatewaySample(from: GatewayTotals(at: Sports.start), to: GatewayTotals(at: Sports.start))
        #expect(try GatewaySample(bytes: sample.bytes) == sample)
        for length in 0..<sample.bytes.count {
            #expect(throws: ByteError.self) { try GatewaySample(bytes: Array(sample.bytes.prefix(length))) }
        }
    }
}
