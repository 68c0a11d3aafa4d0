import Foundation
import FreshetClient
import TestSupport
import Testing

/// The dashboard page in a browser, on a real gateway.
@Suite struct DashboardTests {
    /// The views of an empty gateway, and of any.
    private static let views = [
        "now", "instances", "hosts", "pushes", "senders", "apps", "upstreams", "forecast", "system",
    ]
    /// Where the pictures of each run are kept.
    private static let pictures = "\(TestGateway.root)/.build/dashboard"

    private static func browser(
        _ gateway: TestGateway,
        _ job: [String],
        shots: String? = nil,
        token: String? = nil
    ) throws -> Command {
        let token = (token ?? gateway.operatorToken).map { "#token=\($0)" } ?? ""
        let pictures = shots.map { ["--shots", "\(Self.pictures)/\($0)"] } ?? []
        return try Command(
            TestGateway.python,
            ["\(TestGateway.root)/Tests/EndToEndTests/Clients/dashboard.py", "--url", "\(gateway.opsURL)/\(token)"]
                + pictures + job
        )
    }

    private static func object(_ line: String) -> [String: Any]? {
        try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
    }

    /// The browser's reports, once it has ended well.
    static func reports(
        _ gateway: TestGateway,
        _ job: [String],
        shots: String? = nil,
        token: String? = nil
    ) async throws -> [[String: Any]] {
        let result = try await Self.browser(gateway, job, shots: shots, token: token).wait()
        try #require(result.status == 0, "\(result.errors.suffix(4000))")
        return result.output.split(separator: "\n").compactMap { Self.object(String($0)) }
    }

    static func complaints(_ reports: [[String: Any]], besides status: Int? = nil) -> [String] {
        let all = reports.flatMap { $0["complaints"] as? [String] ?? [] }
        // The one route that views use and a gateway need not have: it is asked for once.
        return all.filter { !($0.contains("status of 404") && $0.contains("/v1/config")) }
            .filter { text in status.map { !text.contains("status of \($0)") } ?? true }
    }

    /// Checks the rules that each view of a tour has to keep, whatever it shows.
    ///
    /// - Parameter status: The status that routes of other views may answer.
    static func check(_ reports: [[String: Any]], of views: [String], besides status: Int? = nil) throws {
        let tours = reports.filter { $0["view"] != nil }
        #expect(tours.count == views.count * 4)
        for tour in tours {
            let name = "\(tour["view"] ?? "") \(tour["size"] ?? "") \(tour["scheme"] ?? "")"
            #expect(tour["violations"] as? [String] == [], "\(name)")
            #expect((tour["contrasts"] as? Int ?? 0) > 5, "\(name): of too few texts the contrast was computed")
            #expect(tour["overflow"] as? Int == 0, "\(name) is wider than its window")
            guard let focus = tour["focus"] as? [String: Any] else { continue }
            #expect(focus["isInOrder"] as? Bool == true, "\(name): \(focus)")
            #expect(focus["unseen"] as? [String] == [], "\(name)")
        }
        #expect(Self.complaints(reports, besides: status) == [])
    }

    // MARK: A gateway with something to show

    /// Registers hosts by one import.
    private static func register(_ gateway: TestGateway, hosts: Int, bearer: String) async throws {
        let teams = ["seahawks", "bears", "jets", "rams"]
        let lines = (1...hosts).map { number in
            TestGateway.registration(number, teams: [teams[number % 4]], token: TestGateway.token(number))
        }
        let answer = try await gateway.curl(
            "POST",
            "\(gateway.hostURL)/v1/apps/\(TestGateway.app)/hosts",
            bearer: bearer,
            headers: ["content-type: application/x-ndjson"],
            body: lines.joined(separator: "\n")
        )
        try #require(answer.status == 200, "\(answer.body)")
    }

    private static func push(
        _ gateway: TestGateway,
        _ team: String,
        bearer: String,
        priority: Priority = .immediate
    ) async throws -> String {
        let target = Target.kind("scores", matching: ["team": .equals(team)])
        return try await gateway.sender(bearer).push(Push(priority: priority), to: target).id.uuidString.lowercased()
    }

    /// Reports that hosts show the entries that were brought to them, as people see them.
    private static func showAll(_ gateway: TestGateway, hosts: ClosedRange<Int>, bearer: String) async throws {
        for number in hosts {
            let host = try gateway.host(number, bearer)
            let outstanding = try await host.state().outstanding
            try await host.send(outstanding.map { .entryShown($0.id, date: $0.issuedAt) })
        }
    }

    @Test func `every view works under load, light and dark, wide and on a phone`() async throws {
        let gateway = try await TestGateway.start(partitions: 2, extra: DashboardScan.apps)
        let bearer = try await gateway.providerToken()
        try await Self.register(gateway, hosts: 400, bearer: bearer)
        try await DashboardScan.register(gateway, bearer: bearer)
        try await Self.showAll(gateway, hosts: 1...4, bearer: bearer)
        let first = try await Self.push(gateway, "seahawks", bearer: bearer)
        try await Self.showAll(gateway, hosts: 1...4, bearer: bearer)
        let body = "\(gateway.folder)/push.json"
        try #"{"aps":{"content-changed":true},"freshet":{"kind":"scores","match":{"team":["bears"]}}}"#
            .write(toFile: body, atomically: true, encoding: .utf8)
        // For most of the tour.
        let load = try Command(
            "h2load",
            [
                "--clients=2", "--rps=4", "--duration=120", "--data=\(body)",
                "--header=authorization: bearer \(bearer)", "--header=content-type: application/json",
                "\(gateway.pushURL)/v1/apps/\(TestGateway.app)/pushes",
            ]
        )
        let views =
            Self.views + [
                "instances/com.example.scores%2Fhost-1:scores-0", "hosts/com.example.scores/host-1", "pushes/\(first)",
                "apps?app=com.example.scores&kind=scores",
            ]
        let reports = try await Self.reports(gateway, ["tour"] + views, shots: "busy")
        load.terminate()
        _ = await load.wait()
        try Self.check(reports, of: views)
        try DashboardScan.check(reports)
        let stats = try await gateway.curl("GET", "\(gateway.opsURL)/v1/stats")
        #expect((stats.json["pushes"] as? [String: Any])?["balanced"] as? Bool == true)
        await gateway.stop()
    }

    @Test func `an empty gateway has views that say so`() async throws {
        let gateway = try await TestGateway.start()
        let reports = try await Self.reports(gateway, ["tour"] + Self.views, shots: "empty")
        try Self.check(reports, of: Self.views)
        await gateway.stop()
    }

    @Test func `without hosts the page says what to do first, with the command for each`() async throws {
        let gateway = try await TestGateway.start()
        let bearer = try await gateway.providerToken()
        func steps() async throws -> (text: String, reports: [[String: Any]]) {
            let reports = try await Self.reports(gateway, ["texts", "now"])
            #expect(Self.complaints(reports) == [])
            #expect(reports.allSatisfy { $0["violations"] as? [String] ?? [] == [] })
            return (reports.compactMap { $0["text"] as? String }.joined(), reports)
        }
        let empty = try await steps().text
        #expect(empty.contains("First steps") && empty.contains("No widget is registered, so none can be behind."))
        #expect(empty.contains("/widgets") && empty.contains("freshet send ") && empty.contains(TestGateway.app))
        // A thing that is there already needs no command.
        #expect(!empty.contains("freshet certs"))
        _ = try await gateway.register(1, teams: ["seahawks"], bearer: bearer)
        let registered = try await steps().text
        #expect(!registered.contains("First steps"))
        await gateway.stop()
    }

    @Test func `the headline says what is behind and why, and leads to those`() async throws {
        let gateway = try await TestGateway.start(partitions: 2)
        let bearer = try await gateway.providerToken()
        try await Self.register(gateway, hosts: 6, bearer: bearer)
        let reports = try await Self.reports(
            gateway,
            [
                // Ages are by the gateway's clock.
                "--ahead", "7200", "texts", "now", "instances?state=behind", "instances?state=behind&olderThan=15m",
                "instances/com.example.scores%2Fhost-6:scores-0",
            ]
        )
        #expect(Self.complaints(reports) == [])
        #expect(reports.allSatisfy { $0["violations"] as? [String] ?? [] == [] })
        let texts = reports.compactMap { $0["text"] as? String }
        try #require(texts.count == 4)
        #expect(texts[0].contains("12 of 12 widgets are behind, none for more than 15 min."), "\(texts[0])")
        #expect(texts[0].contains("Catching up") && texts[0].contains("12 are on hosts that are away."))
        #expect(texts[0].contains("Kinds") && texts[0].contains("6 of 6 behind"))
        #expect(texts[1].contains("is on a host that is away") && texts[1].contains("host-6:scores-0"))
        #expect(!texts[1].contains("for 1 h") && !texts[1].contains("for 2 h"), "\(texts[1])")
        #expect(texts[2].contains("No widget matches."))
        #expect(texts[3].contains("It is on a host that is away."), "\(texts[3])")
        for number in 1...6 {
            try await gateway.acknowledge(try await gateway.outstanding(number, bearer: bearer), bearer: bearer)
        }
        let quiet = try await Self.reports(gateway, ["texts", "now"])
        // On a quiet day, all but the age of data is seen without scrolling.
        let end = try #require(quiet.compactMap { $0["outcomesEnd"] as? Double }.first)
        #expect((500...900).contains(end), "\(end)")
        let after = quiet.compactMap { $0["text"] as? String }.joined()
        #expect(after.contains("None of the 12 widgets waits for newer data.") && after.contains("none behind"))
        await gateway.stop()
    }

    // MARK: Numbers

    /// The values of a metric, summed over the partitions, by the value of its only other label; of one without by "".
    private static func values(_ metrics: String, _ name: String) throws -> [String: Int] {
        var values: [String: Int] = [:]
        for line in metrics.split(separator: "\n") where line.hasPrefix("\(name) ") || line.hasPrefix("\(name){") {
            let labels = line.matches(of: /(\w+)="([^"]*)"/).filter { $0.1 != "partition" }
            let value = try #require(line.split(separator: " ").last.flatMap { Int($0) }, "\(line)")
            values[labels.first.map { String($0.2) } ?? "", default: 0] += value
        }
        return values
    }

    @Test func `page, JSON, metrics and ledgers tell the same, and add up`() async throws {
        let gateway = try await TestGateway.start(partitions: 2)
        let bearer = try await gateway.providerToken()
        try await Self.register(gateway, hosts: 40, bearer: bearer)
        for number in 1...40 {
            try await gateway.acknowledge(try await gateway.outstanding(number, bearer: bearer), bearer: bearer)
        }
        var ids: [String] = []
        for team in ["seahawks", "bears", "seahawks", "jets", "seahawks"] {
            ids.append(
                try await Self.push(gateway, team, bearer: bearer, priority: team == "jets" ? .powerAware : .immediate)
            )
        }
        for number in 1...20 {
            try await gateway.acknowledge(try await gateway.outstanding(number, bearer: bearer), bearer: bearer)
        }
        let stats = try await gateway.eventually("every push is applied") {
            let stats = try await gateway.curl("GET", "\(gateway.opsURL)/v1/stats").json
            let pushes = stats["pushes"] as? [String: Any]
            let lag = (stats["partitions"] as? [[String: Any]] ?? []).reduce(0) { $0 + ($1["lag"] as? Int ?? 0) }
            return lag == 0 && pushes?["matched"] as? Int == 50 ? stats : nil
        }
        let reports = try await Self.reports(gateway, ["numbers"] + ids)
        #expect(Self.complaints(reports) == [])

        // The page and the totals.
        let pushes = try #require(stats["pushes"] as? [String: Any])
        let outcomes = try #require(pushes["outcomes"] as? [String: Int])
        let page = try #require(reports.first)
        #expect(page["matched"] as? Int == 50)
        #expect((page["outcomes"] as? [String: Int])?.filter { $0.value > 0 } == outcomes)
        #expect(outcomes.values.reduce(0, +) == 50)
        #expect(outcomes["issued"] != nil && outcomes["reloaded"] != nil && outcomes["deferred"] != nil)

        // The metrics and the totals.
        let metrics = try await gateway.curl("GET", "\(gateway.opsURL)/metrics").body
        func metric(_ name: String) throws -> Int? { try Self.values(metrics, name)[""] }
        func member(_ section: String, _ name: String) -> Any? { (stats[section] as? [String: Any])?[name] }
        #expect(try metric("freshet_matches_total") == 50)
        let final = outcomes.filter { !["deferred", "issued"].contains($0.key) }
        #expect(try Self.values(metrics, "freshet_outcomes_total").filter { $0.value > 0 } == final)
        #expect(try metric("freshet_deferred") == outcomes["deferred"])
        #expect(try metric("freshet_issued") == outcomes["issued"])
        let received = try Self.values(metrics, "freshet_pushes_received_total")
        #expect(received == ["accepted": 5, "unavailable": 0, "tooManyMatched": 0])
        #expect(try metric("freshet_hosts") == member("registry", "hosts") as? Int)
        #expect(try metric("freshet_instances") == member("registry", "instances") as? Int)
        #expect(try metric("freshet_reloads_charged_total") == member("reloads", "charged") as? Int)
        #expect(try metric("freshet_reloads_outstanding") == member("reloads", "outstanding") as? Int)
        let causes = try Self.values(metrics, "freshet_reloads_total").filter { $0.value > 0 }
        #expect(causes == member("reloads", "byCause") as? [String: Int])
        let exempt = try Self.values(metrics, "freshet_reloads_exempt_total").filter { $0.value > 0 }
        #expect(exempt == member("reloads", "exempt") as? [String: Int])

        // Each push on its page and in JSON, and all of them and the totals.
        var sums: [String: Int] = [:]
        for (id, report) in zip(ids, reports.dropFirst()) {
            let push = try await gateway.curl("GET", "\(gateway.opsURL)/v1/pushes/\(id)").json
            let own = try #require(push["outcomes"] as? [String: Int])
            #expect(report["push"] as? String == id)
            #expect(report["matched"] as? Int == push["matched"] as? Int)
            #expect(report["outcomes"] as? [String: Int] == own)
            sums.merge(own) { $0 + $1 }
        }
        #expect(sums == outcomes)

        // The senders' accounts and the instances' ledgers.
        let senders = try await gateway.curl("GET", "\(gateway.opsURL)/v1/senders").json
        let accounts = senders["senders"] as? [[String: Any]] ?? []
        #expect(accounts.map { $0["pushes"] as? Int } == [5])
        #expect(accounts.map { $0["matched"] as? Int } == [50])
        var charged = 0
        for number in 1...40 {
            let id = "\(TestGateway.app)/host-\(number):scores-0"
            let instance = try await gateway.curl("GET", "\(gateway.opsURL)/v1/instances/\(id)").json
            // Of the last 24 hours: a window of a host may have ended meanwhile, and its budget is of the present one.
            let ledger = try #require(instance["ledger"] as? [String: Any])
            let entries = try #require(ledger["entries"] as? [[String: Any]])
            charged += entries.count { $0["charged"] as? Bool == true && $0["cause"] as? String == "push" }
        }
        #expect(accounts.first?["reloadsCharged"] as? Int == charged)
        await gateway.stop()
    }

    @Test func `the page tries a push out`() async throws {
        let gateway = try await TestGateway.start()
        let bearer = try await gateway.providerToken()
        try await Self.register(gateway, hosts: 8, bearer: bearer)
        let found = try await Self.reports(gateway, ["dry-run", TestGateway.app, #"{"team":["bears"]}"#])
        #expect(found.first?["matched"] as? String == "2")
        #expect(found.first?["fault"] as? String == "")
        #expect(Self.complaints(found) == [])
        let stats = try await gateway.curl("GET", "\(gateway.opsURL)/v1/stats").json
        #expect((stats["pushes"] as? [String: Any])?["accepted"] as? Int == 0)
        // A pattern that cannot be is answered at its place.
        let wrong = try await gateway.curl(
            "POST",
            "\(gateway.opsURL)/v1/apps/\(TestGateway.app)/dry-runs",
            body: #"{"freshet":{"kind":"scores","match":{"colour":["red"]}}}"#
        )
        #expect(wrong.status == 400 && wrong.reason == "bad-pattern")
        for (body, reason) in [
            (#"{"freshet":{"kind":"weather"}}"#, "unknown-kind"), (#"{"freshet":{"macth":{}}}"#, "bad-request"),
            (#"{"priority":7}"#, "bad-request"), (#"{"freshet":1}"#, "bad-request"),
        ] {
            let answer = try await gateway.curl(
                "POST",
                "\(gateway.opsURL)/v1/apps/\(TestGateway.app)/dry-runs",
                body: body
            )
            #expect(answer.status == 400 && answer.reason == reason, "\(body): \(answer.body)")
        }
        let unknown = try await gateway.curl("POST", "\(gateway.opsURL)/v1/apps/com.example.none/dry-runs", body: "{}")
        #expect(unknown.status == 404)
        await gateway.stop()
    }

    /// Fills a gateway's data directory up to a level by one file, and gives the texts of its views Now and System.
    private static func texts(_ gateway: TestGateway, mebibytes: Int, _ level: String) async throws -> [String] {
        // It has that size and takes nothing.
        let file = "\(gateway.folder)/data/filling"
        let made = try await Command.run("truncate", ["--size=\(mebibytes)M", file])
        try #require(made.status == 0, "\(made.errors)")
        _ = try await gateway.eventually("the disk is \(level)") {
            let stats = try await gateway.curl("GET", "\(gateway.opsURL)/v1/stats")
            return (stats.json["storage"] as? [String: Any])?["level"] as? String == level ? true : nil
        }
        let reports = try await Self.reports(gateway, ["texts", "now", "system"])
        #expect(Self.complaints(reports) == [])
        #expect(reports.allSatisfy { $0["violations"] as? [String] ?? [] == [] })
        return reports.compactMap { $0["text"] as? String }
    }

    @Test func `the page says how full the disk is, and what to do`() async throws {
        // 64 MiB beside the reserve.
        let gateway = try await TestGateway.start(extra: "storage: {maxBytes: 128MiB, minFree: 0%}")
        let ample = try await Self.texts(gateway, mebibytes: 1, "ample")
        #expect(!ample[0].contains("The disk"))
        #expect(ample[1].contains("enough room"))
        #expect(ample[1].contains("64 MiB"))
        let filling = try await Self.texts(gateway, mebibytes: 54, "filling")
        #expect(filling[0].contains("The disk fills up: "))
        #expect(filling[0].contains("storage.maxBytes"))
        #expect(filling[1].contains("fills up"))
        let full = try await Self.texts(gateway, mebibytes: 66, "full")
        #expect(full[0].contains("The disk is full: "))
        #expect(full[0].contains("The gateway then continues by itself"))
        #expect(full[1].contains("full: nothing new is accepted"))
        await gateway.stop()
    }

    @Test func `the page says that the memory is full, who has how much, and what to do`() async throws {
        // Less than any process takes.
        let gateway = try await TestGateway.start(extra: "storage: {memoryMax: 16MiB}")
        let reports = try await Self.reports(gateway, ["texts", "now", "system"])
        #expect(Self.complaints(reports) == [])
        let texts = reports.compactMap { $0["text"] as? String }
        #expect(texts[0].contains("The memory is full: "))
        #expect(texts[0].contains("storage.memoryMax"))
        #expect(texts[1].contains("full: no host is added"))
        #expect(texts[1].contains(TestGateway.team))
        await gateway.stop()
    }

    // MARK: Finding

    @Test func `one box finds hosts, tokens, widgets, pushes, kinds and views, by keyboard`() async throws {
        let gateway = try await TestGateway.start(partitions: 2)
        let bearer = try await gateway.providerToken()
        try await Self.register(gateway, hosts: 8, bearer: bearer)
        let push = try await Self.push(gateway, "seahawks", bearer: bearer)
        let app = TestGateway.app
        let wanted =
            [
                ("host-7", "Host", "#/hosts/\(app)/host-7"),
                (TestGateway.token(3), "Host", "#/hosts/\(app)/host-3"),
                ("host-5:scores-0", "Widget", "#/instances/\(app)/host-5:scores-0"),
                ("\(app)/host-5:scores-0", "Widget", "#/instances/\(app)/host-5:scores-0"),
                (push, "Push", "#/pushes/\(push)"),
                ("score", "App", "#/apps?app=\(app)"),
                ("syst", "View", "#/system"),
                ("no-such-thing", nil, nil),
            ] as [(String, String?, String?)]
        let reports = try await Self.reports(gateway, ["find"] + wanted.map(\.0))
        #expect(Self.complaints(reports) == [])
        for (text, type, address) in wanted {
            let report = try #require(reports.first { $0["text"] as? String == text })
            #expect((report["found"] as? [[String]])?.first?.first == type, "\(report)")
            #expect(report["led"] as? String == address, "\(report)")
            #expect(report["violations"] as? [String] == [], "\(report)")
        }
        let kinds = try #require(reports.first { $0["text"] as? String == "score" }?["found"] as? [[String]])
        #expect(kinds.contains { $0.first == "Kind" && $0.dropFirst().first == "scores" })
        await gateway.stop()
    }

    @Test func `lists are filtered by what there is to choose from, and the keyboard stays`() async throws {
        let gateway = try await TestGateway.start(partitions: 2)
        let bearer = try await gateway.providerToken()
        try await Self.register(gateway, hosts: 8, bearer: bearer)
        _ = try await Self.push(gateway, "seahawks", bearer: bearer)
        let pushes = try await Self.reports(
            gateway,
            [
                "filter", "pushes", "app=\(TestGateway.app)", "kind=scores", "sender=\(TestGateway.team)",
                "outcome=expired",
            ]
        )
        #expect(Self.complaints(pushes) == [])
        let steps = pushes.filter { $0["filter"] != nil }
        #expect(steps.map { $0["rows"] as? Int } == [1, 1, 1, 0])
        #expect(steps.map { $0["kept"] as? String } == ["app", "kind", "sender", "outcome"].map { "filter-\($0)" })
        #expect((steps.last?["text"] as? String)?.contains("No listed push matches.") == true)
        #expect((steps.last?["address"] as? String)?.contains("app=\(TestGateway.app)") == true)
        let widgets = try await Self.reports(gateway, ["filter", "instances", "kind=scores", "state=exhausted"])
        let rows = widgets.filter { $0["filter"] != nil }
        #expect(rows.first?["rows"] as? Int ?? 0 > 7)
        #expect(rows.last?["rows"] as? Int == 0)
        #expect((rows.last?["text"] as? String)?.contains("No widget matches.") == true)
        await gateway.stop()
    }

    @Test func `a list that has not looked at everything does not say that there is nothing`() async throws {
        let gateway = try await TestGateway.start()
        let reports = try await Self.reports(gateway, ["looking"])
        #expect(Self.complaints(reports) == [])
        let meanwhile = try #require(reports.compactMap { $0["meanwhile"] as? String }.first)
        #expect(meanwhile.contains("Still searching: 0 found so far.") && !meanwhile.contains("No widget matches."))
        let after = try #require(reports.compactMap { $0["after"] as? String }.first)
        #expect(after.contains("No widget matches.") && !after.contains("Still searching"))
        await gateway.stop()
    }

    // MARK: Changing something

    @Test func `an order says what it will do, does it after the yes, and is shown`() async throws {
        let gateway = try await TestGateway.start()
        let bearer = try await gateway.providerToken()
        try await Self.register(gateway, hosts: 4, bearer: bearer)
        let view = "apps?app=\(TestGateway.app)&kind=scores"
        func orders() async throws -> [[String: Any]] {
            try await gateway.curl("GET", "\(gateway.opsURL)/v1/orders").json["orders"] as? [[String: Any]] ?? []
        }
        let paused = try await Self.reports(gateway, ["act", view, "Pause", "For=900"], shots: "actions")
        #expect(Self.complaints(paused) == [])
        let told = try #require(paused.first)
        let text = try #require(told["told"] as? String)
        #expect(text.contains("Pause scores of \(TestGateway.app)") && text.contains("POST /v1/orders"), "\(text)")
        #expect(text.contains("Pushes are accepted and wait") && text.contains("It ends by itself at "), "\(text)")
        #expect(told["inside"] as? Bool == true && told["violations"] as? [String] == [], "\(told)")
        #expect(
            paused.contains {
                ($0["result"] as? String)?.hasPrefix("Paused: ") == true && $0["level"] as? String == "good"
            }
        )
        let after = try #require(paused.first { $0["paused"] != nil })
        #expect((after["paused"] as? String)?.contains("Paused: scores of \(TestGateway.app)") == true, "\(after)")
        #expect((after["marks"] as? String)?.contains("Paused scores of \(TestGateway.app)") == true, "\(after)")
        #expect(try await orders().count == 1)

        let resumed = try await Self.reports(gateway, ["act", view, "Resume"])
        #expect(resumed.contains { ($0["result"] as? String)?.hasPrefix("Resumed: ") == true })
        #expect(try await orders().isEmpty)

        func allowance() async throws -> Int {
            let instance = "\(gateway.opsURL)/v1/instances/\(TestGateway.app)/host-1:scores-0"
            let budget = try await gateway.curl("GET", instance).json["budget"] as? [String: Any]
            return try #require(budget?["allowance"] as? Int)
        }
        let before = try await allowance()
        let granted = try await Self.reports(gateway, ["act", view, "Grant", "Reloads each=7"])
        #expect((granted.first?["told"] as? String)?.contains("7 more times") == true)
        #expect(granted.contains { ($0["result"] as? String)?.hasPrefix("Granted to ") == true })
        #expect(try await allowance() == before + 7)

        let asked = try await Self.reports(gateway, ["act", view, "Reload now"])
        #expect((asked.first?["told"] as? String)?.contains("as if the app had asked for it") == true, "\(asked)")
        #expect(asked.contains { ($0["result"] as? String)?.hasPrefix("Asked for: ") == true }, "\(asked)")

        let levels = try await Self.reports(gateway, ["act", "system", "http", "Level=debug"])
        #expect(levels.contains { $0["result"] as? String == "Set: http writes from debug on." })
        let read = try await Self.reports(gateway, ["act", "system", "Read the configuration"])
        #expect((read.first?["told"] as? String)?.contains("If the configuration has a fault, nothing changes") == true)
        #expect(read.contains { ($0["result"] as? String)?.hasPrefix("Read: loaded.") == true }, "\(read)")
        await gateway.stop()
    }

    @Test func `who may only read is told why there are no actions`() async throws {
        let token = "a-token-that-may-read-only"
        let gateway = try await TestGateway.start(environment: ["FRESHET_OPS_TOKENS": "\(token) read night"])
        let reports = try await Self.reports(gateway, ["act", "apps?app=\(TestGateway.app)", "Pause"], token: token)
        let refused = reports.compactMap { $0["refused"] as? String }.joined()
        #expect(
            refused.contains(
                "You need the scope write to pause, cancel waiting pushes, grant reloads, reload now; night has read."
            ),
            "\(reports)"
        )
        await gateway.stop()
    }

    // MARK: Being told

    @Test func `the page is told what happens, and asks little`() async throws {
        let gateway = try await TestGateway.start()
        let bearer = try await gateway.providerToken()
        try await Self.register(gateway, hosts: 4, bearer: bearer)
        let browser = try Self.browser(gateway, ["follow"])
        var lines: [String] = []
        for await line in browser.lines {
            lines.append(line)
            if Self.object(line)?["step"] as? String == "ready" {
                _ = try await Self.push(gateway, "bears", bearer: bearer)
            }
        }
        #expect(await browser.wait().status == 0, "\(lines.suffix(20))")
        let told = try #require(lines.compactMap { Self.object($0) }.first { $0["told"] != nil })
        #expect(told["history"] as? Int == 0, "seconds come as events")
        let asked = try await Self.reports(gateway, ["asks"]).compactMap { $0["asked"] as? [String] }.joined()
        #expect(!asked.isEmpty && asked.count <= 24, "in twenty seconds: \(asked)")
        #expect(!asked.contains { $0.contains("step=second") })
        await gateway.stop()
    }

    // MARK: When something is missing

    @Test func `the page says when the gateway is away, and goes on when it is back`() async throws {
        // Nothing else is given this port by the system while the gateway is away.
        let port = try LonePort.find()
        let options = ["--set", "listeners.ops.port=\(port)"]
        let gateway = try await TestGateway.start(options: options)
        let browser = try Self.browser(gateway, ["away"], shots: "away")
        var back: TestGateway?
        var lines: [String] = []
        for await line in browser.lines {
            lines.append(line)
            let report = Self.object(line) ?? [:]
            if report["step"] as? String == "lose" { await gateway.crash() }
            if report["step"] as? String == "return" {
                back = try await TestGateway.start(in: gateway.folder, options: options)
            }
        }
        #expect(await browser.wait().status == 0, "\(lines.suffix(20))")
        let reports = lines.compactMap { Self.object($0) }
        #expect(Self.complaints(reports) == [])
        let away = try #require(reports.first { $0["banner"] != nil })
        #expect((away["banner"] as? String)?.contains("does not answer") == true)
        #expect(away["status"] as? String == "Away")
        #expect(away["stillShown"] as? Int ?? 0 > 3, "what was known stays, marked as old")
        #expect(away["violations"] as? [String] == [])
        #expect(reports.contains { $0["back"] as? Bool == true })
        await back?.stop()
    }

    @Test func `operators' tokens are asked for once and kept out of addresses`() async throws {
        let token = "an-operator-token-of-a-test"
        let gateway = try await TestGateway.start(environment: ["FRESHET_OPS_TOKENS": token])
        let reports = try await Self.reports(gateway, ["locked", "not-the-token-of-this-gateway", token])
        #expect(reports.first?["found"] as? [String] == [])
        let live = try #require(reports.first { $0["live"] != nil })
        #expect(live["live"] as? String == "Live")
        #expect((live["address"] as? String)?.contains(token) == false)
        #expect(live["kept"] as? Int == 1 && live["stored"] as? Int == 0 && live["cookies"] as? String == "")
        #expect(reports.first { $0["refused"] != nil }?["kept"] as? Int == 0, "a token that is wrong is forgotten")
        // The browser itself logs the 401s: one without a token and one for the wrong token, since the page asks who it is before it asks for
        // more.
        let complaints = Self.complaints(reports)
        #expect(complaints.count == 2)
        #expect(complaints.filter { !$0.contains("status of 401") || !$0.hasSuffix("/v1/session") } == [])
        let page = try await gateway.curl("GET", "\(gateway.opsURL)/")
        #expect(page.status == 200 && !page.body.contains(token))
        #expect(try await gateway.curl("GET", "\(gateway.opsURL)/v1/stats").status == 401)
        await gateway.stop()
    }

    @Test func `an address brings the token along, once`() async throws {
        let gateway = try await TestGateway.start()
        let token = try #require(gateway.operatorToken)
        let reports = try await Self.reports(gateway, ["arrival"])
        // The page may ask between the loss of its token and the address that brings it again.
        #expect(Self.complaints(reports).filter { !$0.contains("status of 401") } == [])
        let arrived = try #require(reports.first)
        #expect((arrived["address"] as? String)?.hasPrefix("\(gateway.opsURL)/") == true)
        #expect(arrived["kept"] as? Int == 1 && arrived["stored"] as? Int == 0 && arrived["cookies"] as? String == "")
        for address in reports.compactMap({ $0["address"] ?? $0["again"] }) {
            #expect((address as? String)?.contains(token) == false, "\(address)")
        }
        await gateway.stop()
    }

    @Test func `a browser opens the page without a warning once its user trusts the development CA`() async throws {
        let gateway = try await TestGateway.start()
        let home = try TestGateway.makeFolder()
        func trust(_ more: [String], path: String? = nil) async throws -> Command.Result {
            let variables = ["HOME=\(home)"] + (path.map { ["PATH=\($0)"] } ?? [])
            let verb = [TestGateway.program, "trust", "\(gateway.folder)/certs/ca.pem"] + more
            return try await Command.run("/usr/bin/env", variables + verb)
        }
        func isOpened(within seconds: Int) async throws -> Bool {
            let script = "\(TestGateway.root)/Tests/EndToEndTests/Clients/dashboard.py"
            let token = try #require(gateway.operatorToken)
            let ask = [
                "HOME=\(home)", TestGateway.python, script, "--strict", "--seconds", "\(seconds)", "--url",
                "\(gateway.opsURL)/#token=\(token)",
            ]
            return try await Command.run("env", ask + ["arrival"]).status == 0
        }
        let without = try await trust([], path: home)
        #expect(without.status == 1 && without.errors.contains("install libnss3-tools"), "\(without)")
        #expect(try await !isOpened(within: 2))
        // Twice changes nothing.
        for _ in 1...2 {
            let told = try await trust([])
            #expect(told.status == 0, "\(told)")
        }
        #expect(try await isOpened(within: 600))
        #expect(try await trust(["--remove"]).status == 0)
        #expect(try await !isOpened(within: 2))
        #expect(try await trust(["--remove"]).status == 1)
        await gateway.stop()
    }

    @Test func `without the chart library the page shows tables`() async throws {
        let gateway = try await TestGateway.start(
            environment: ["FRESHET_OPS_DASHBOARD_CHART_SCRIPT": "/nowhere/chart.js"]
        )
        let reports = try await Self.reports(gateway, ["tables"])
        for report in reports where report["view"] != nil {
            #expect(report["canvases"] as? Int == 0, "\(report)")
            #expect(report["violations"] as? [String] == [], "\(report)")
        }
        #expect(Self.complaints(reports) == [])
        await gateway.stop()
    }

    @Test func `the page's files are cached for good, the page is not, and nothing else may be loaded`() async throws {
        let gateway = try await TestGateway.start()
        let page = try await gateway.curl("GET", "\(gateway.opsURL)/")
        #expect(page.status == 200)
        #expect(page.headers["content-type"] == "text/html; charset=utf-8")
        #expect(page.headers["cache-control"] == "no-cache")
        let policy = try #require(page.headers["content-security-policy"])
        #expect(policy.contains("default-src 'none'") && !policy.contains("unsafe"))
        let tag = try #require(page.headers["etag"])
        let again = try await gateway.curl("GET", "\(gateway.opsURL)/", headers: ["if-none-match: W/\(tag), \"x\""])
        #expect(again.status == 304 && again.body.isEmpty)
        let script = try #require(page.body.split(separator: "\"").first { $0.hasSuffix("/main.js") })
        for http in ["--http1.1", "--http2"] {
            let file = try await gateway.curl("GET", "\(gateway.opsURL)/\(script)", options: [http])
            #expect(file.status == 200)
            #expect(file.headers["content-type"] == "text/javascript; charset=utf-8")
            #expect(file.headers["cache-control"] == "public, max-age=31536000, immutable")
            #expect(file.headers["x-content-type-options"] == "nosniff")
        }
        let other = script.replacing("main.js", with: "..%2Ffreshet.yaml")
        for path in [other, "dashboard/0000000000000000/main.js", "dashboard/main.js", "dashboard"] {
            #expect(try await gateway.curl("GET", "\(gateway.opsURL)/\(path)").status == 404, "\(path)")
        }
        #expect(try await gateway.curl("POST", "\(gateway.opsURL)/").status == 405)
        await gateway.stop()
        let off = try await TestGateway.start(environment: ["FRESHET_OPS_DASHBOARD_ENABLED": "false"])
        #expect(try await off.curl("GET", "\(off.opsURL)/").status == 404)
        await off.stop()
    }
}
