import Engine
import HTTPTransport
import Journaling
import Logging
import OperatorAPI
import Partitions
import Settings
import Synchronization
import TestSupport
import Testing
import WidgetModel

/// Changes and their callers: in the log before they are carried out, and told from there.
@Suite struct OperatorAuditTests {
    private static let tokens = [
        "reader-reader-reader read grafana", "writer-writer-writer write ci", "admin-admin-admin admin boss",
    ]
    private static let pause = #"{"action":"pause","of":{"app":"com.example.scores"}}"#

    private struct Unexpected: Error {}

    /// A request of the holder of a token, by the name in the lines above.
    private static func request(
        _ token: String,
        _ method: String,
        _ target: String,
        _ body: String = "",
        id: String? = nil
    ) -> HTTPRequest {
        var request = OperatorScene.request(method, target, body)
        request.headers.append("authorization", "bearer \(token)-\(token)-\(token)")
        request.remoteAddress = "203.0.113.7"
        if let id { request.headers.append("x-request-id", id) }
        return request
    }

    private static func said(_ entry: AuditTrail.Entry) -> String {
        "\(entry.source.caller) \(entry.source.request) \(entry.method) \(entry.path) \(entry.status.map(String.init) ?? "–")"
    }

    @Test func `every change has who asked for it, from where, by which request, and what came of it`() async throws {
        let logs = GatewayLogs(GatewayConfiguration.Log()) { _ in SwiftLogNoOpLogHandler() }
        let movable = MovableClock(monotonicNanoseconds: { 5_000_000_000 }, wall: { Sports.start })
        let scene = try await OperatorScene(tokens: Self.tokens, movable: movable, logs: logs)
        try await scene.scene.register("host-1")
        let wanted = [
            ("writer", "POST", "/v1/orders", Self.pause, 200),
            (
                "writer", "POST", "/v1/orders",
                #"{"action":"grant","count":2,"of":{"instance":"com.example.scores/host-1:a0"}}"#, 200
            ),
            ("writer", "PUT", "/v1/log-levels", #"{"levels":{"http":"debug"}}"#, 200),
            ("admin", "POST", "/v1/config/reload", "", 400),
            ("admin", "DELETE", "/v1/hosts/com.example.scores/host-1", "", 200),
            ("admin", "DELETE", "/v1/hosts/com.example.scores/host-1?history=false", "", 404),
            ("writer", "POST", "/v1/clock", #"{"advance":60}"#, 200),
        ]
        for (number, (token, method, target, body, status)) in wanted.enumerated() {
            let request = Self.request(token, method, target, body, id: "r-\(number)")
            let response = await scene.routes.respond(to: request)
            #expect(response.status == status, "\(method) \(target)")
            #expect(response.headers["x-request-id"] == "r-\(number)")
        }
        let entries = try await scene.scene.audit.newest()
        #expect(
            entries.map(Self.said) == [
                "ci r-6 POST /v1/clock 200",
                "boss r-5 DELETE /v1/hosts/com.example.scores/host-1?history=false 404",
                "boss r-4 DELETE /v1/hosts/com.example.scores/host-1 200",
                "boss r-3 POST /v1/config/reload 400", "ci r-2 PUT /v1/log-levels 200",
                "ci r-1 POST /v1/orders 200", "ci r-0 POST /v1/orders 200",
            ]
        )
        #expect(entries.map(\.body) == wanted.reversed().map(\.3))
        #expect(Set(entries.map(\.source.address)) == ["203.0.113.7"])
        #expect(!entries.contains { "\($0)".contains("writer-writer") })
        let shown = try await scene.send(Self.request("admin", "GET", "/v1/audit"))
        guard case .array(let requests) = shown.json["requests"] else { throw Unexpected() }
        #expect(requests.map { $0["status"] } == [200, 404, 200, 400, 200, 200, 200].map { .int($0) })
        #expect(requests.last?["body"] == .string(Self.pause))
    }

    @Test func `charts have marks of orders, for readers without the names of operators`() async throws {
        let movable = MovableClock(monotonicNanoseconds: { 5_000_000_000 }, wall: { Sports.start })
        let scene = try await OperatorScene(tokens: Self.tokens, movable: movable)
        try await scene.scene.register("host-1")
        for (token, method, target, body) in [
            ("writer", "POST", "/v1/orders", Self.pause),
            ("writer", "POST", "/v1/orders", #"{"action":"cancel","of":{"sender":"\#(Sports.team)"}}"#),
            ("writer", "POST", "/v1/orders", #"{"action":"reload","of":{"instance":"com.example.scores/host-1:a0"}}"#),
            ("admin", "POST", "/v1/config/reload", ""), ("writer", "POST", "/v1/clock", #"{"advance":60}"#),
            ("admin", "DELETE", "/v1/hosts/com.example.scores/host-2", ""),
            ("writer", "POST", "/v1/try-now", "{}"),
            ("admin", "DELETE", "/v1/teams/\(Sports.team)?dryRun=true", ""),
        ] {
            _ = await scene.routes.respond(to: Self.request(token, method, target, body))
        }
        let authors: [String?] = ["ci", "ci", "ci", "boss", "ci"]
        let nobody: [String?] = Array(repeating: nil, count: authors.count)
        for (token, by) in [("reader", nobody), ("writer", nobody), ("admin", authors)] {
            let answer = try await scene.send(Self.request(token, "GET", "/v1/history/marks"))
            guard case .array(let all) = answer.json["marks"] else { throw Unexpected() }
            let marks = all.filter { $0["kind"] == JSONValue.string("order") }
            let texts = [
                "Paused com.example.scores", "Cancelled pushes that wait for pushes of \(Sports.team)",
                "Asked for reloads of com.example.scores/host-1:a0",
                "DELETE /v1/hosts/com.example.scores/host-2, answered 404", "Tried now: all that had failed",
            ]
            #expect(marks.map { $0["text"] } == texts.map { JSONValue.string($0) }, "\(token)")
            #expect(marks.map { $0["by"] } == by.map { name in name.map { JSONValue.string($0) } }, "\(token)")
        }
    }

    @Test func `what is refused changes nothing and is in no audit`() async throws {
        let scene = try await OperatorScene(tokens: Self.tokens)
        for (token, method, target, body, status) in [
            ("reader", "POST", "/v1/orders", Self.pause, 403), ("nobody", "POST", "/v1/orders", Self.pause, 401),
            ("writer", "POST", "/v1/orders", #"{"action":"pause"}"#, 400),
            ("reader", "PUT", "/v1/log-levels", "{}", 403),
            ("writer", "PUT", "/v1/log-levels", "{}", 400), ("admin", "DELETE", "/v1/nothing", "", 404),
            ("admin", "DELETE", "/v1/stats", "", 405),
            ("admin", "GET", "/v1/orders", "", 200), ("reader", "GET", "/v1/stats", "", 200),
        ] {
            #expect(await scene.routes.respond(to: Self.request(token, method, target, body)).status == status)
        }
        #expect(try await scene.scene.audit.newest().isEmpty)
    }

    @Test func `a request without a name is given one of its own, in every process`() async throws {
        var names: Set<String> = []
        for _ in 0..<3 {
            let scene = try await OperatorScene()
            let answer = await scene.routes.respond(to: OperatorScene.request("POST", "/v1/orders", Self.pause))
            let name = try #require(answer.headers["x-request-id"])
            #expect(try await scene.scene.audit.newest().map(\.source.request) == [name])
            names.insert(name)
        }
        #expect(names.count == 3)
    }

    /// Clients that hang up at once: the task that serves the request is cancelled at whatever it has come to.
    @Test func `who hangs up has asked all the same, and what was carried out is in the audit`() async throws {
        let (scene, count) = (try await OperatorScene(), 100)
        try await scene.scene.register("host-1")
        let before = try await Self.allowance(scene.scene)
        let routes = scene.routes
        await withTaskGroup { group in
            for number in 0..<count {
                let body = #"{"action":"grant","count":1,"of":{"instance":"com.example.scores/host-1:a0"}}"#
                let request = Self.request("any", "POST", "/v1/orders", body, id: "grant-\(number)")
                group.addTask {
                    let serving = Task { await routes.respond(to: request).status }
                    serving.cancel()
                    #expect(await serving.value == 200)
                }
            }
        }
        #expect(try await Self.allowance(scene.scene) == before + count)
        let names = Set((0..<count).map { "grant-\($0)" })
        #expect(Set(try await scene.scene.audit.newest().map(\.source.request)) == names)
        let restarted = scene.scene.restarted()
        _ = try await restarted.start()
        #expect(try await Self.allowance(restarted) == before + count)
        #expect(Set(try await restarted.audit.newest().map(\.source.request)) == names)
    }

    private static func allowance(_ scene: OwnerScene) async throws -> Int {
        let host = HostKey("host-1")
        let address = InstanceAddress(host: host, instance: InstanceID("a0"))
        return try #require(try await scene.log.ask(InstanceQuestion(address))?.budget.allowance)
    }

    /// The store could not say whether it has the order, and it has.
    @Test func `an order in the log is carried out, and the audit says so, whatever who gave it was told`() async throws
    {
        let scene = try await OperatorScene()
        try await scene.scene.register("host-1")
        let before = try await Self.allowance(scene.scene)
        scene.scene.journal.failNextAppend(with: JournalError(.unknownOutcome, "sync failed"), isStored: true)
        let grant = #"{"action":"grant","count":5,"of":{"instance":"com.example.scores/host-1:a0"}}"#
        #expect(try await scene.send("POST", "/v1/orders", grant).status == 503)
        let restarted = scene.scene.restarted()
        _ = try await restarted.start()
        #expect(try await Self.allowance(restarted) == before + 5)
        #expect(try await restarted.audit.newest().map(\.status) == [200])
    }

    @Test func `what cannot be logged is not done`() async throws {
        let logs = GatewayLogs(GatewayConfiguration.Log()) { _ in SwiftLogNoOpLogHandler() }
        let movable = MovableClock(monotonicNanoseconds: { 5_000_000_000 }, wall: { Sports.start })
        let scene = try await OperatorScene(movable: movable, logs: logs)
        try await scene.scene.register("host-1")
        let before = try await scene.scene.digests()
        for (method, target, body) in [
            ("PUT", "/v1/log-levels", #"{"levels":{"http":"debug"}}"#), ("POST", "/v1/orders", Self.pause),
            ("POST", "/v1/clock", #"{"advance":60}"#), ("POST", "/v1/config/reload", ""),
            ("DELETE", "/v1/hosts/com.example.scores/host-1", ""),
            ("DELETE", "/v1/apps/com.example.scores/hosts", ""),
        ] {
            scene.scene.journal.failNextAppend(with: JournalError(.full, "no room"))
            #expect(try await scene.send(method, target, body).status == 503, "\(method) \(target)")
        }
        #expect(logs.views.map(\.level) == LogSubsystem.allCases.map { _ in .info })
        #expect(movable.ahead == .zero)
        #expect(try await scene.scene.digests() == before)
        #expect(try await scene.scene.audit.newest().isEmpty)
    }

    @Test(arguments: ["/v1/hosts/com.example.scores/host-1", "/v1/apps/com.example.scores/hosts"])
    func `where no history can go, no host goes either`(path: String) async throws {
        let scene = try await OperatorScene()
        try await scene.scene.register("host-1")
        let before = try await scene.scene.digests()
        let refused = try await scene.send("DELETE", "\(path)?history=true")
        #expect(refused.status == 400 && refused.json["code"] == .string("not-supported"))
        #expect(try await scene.scene.digests() == before)
        #expect(try await scene.send("DELETE", path).json["removed"] == .int(1))
    }

    /// A widget whose timelines ask to be reloaded for ever has a timer at least every quarter of an hour.
    @Test func `a move of the clock ends with the client that asked for it, and the audit says how`() async throws {
        let movable = MovableClock(monotonicNanoseconds: { 5_000_000_000 }, wall: { Sports.start })
        let scene = try await OperatorScene(movable: movable)
        try await scene.scene.register("host-1")
        let serving = Mutex<Task<Int, Never>?>(nil)
        scene.scene.tap { _ in
            // In the midst of it: a reload that was issued by a timer.
            if movable.ahead > .zero { serving.withLock { $0?.cancel() } }
        }
        let routes = scene.routes
        let request = OperatorScene.request("POST", "/v1/clock", #"{"advance":31536000}"#)
        let task = serving.withLock { serving in
            let task = Task { await routes.respond(to: request).status }
            serving = task
            return task
        }
        #expect(await task.value == 503)
        #expect(movable.ahead < .days(365))
        let entries = try await scene.scene.audit.newest()
        #expect(entries.map { "\($0.path) \($0.status ?? 0)" } == ["/v1/clock 503"])
        // The rest of that request does not keep the next one waiting.
        #expect(try await scene.send("POST", "/v1/clock", #"{"advance":0}"#).status == 200)
    }

    @Test func `the index is made anew from the log where it is missing, and goes on where it is not`() async throws {
        let (archive, logs) = (
            MemoryArchive(), GatewayLogs(GatewayConfiguration.Log()) { _ in SwiftLogNoOpLogHandler() }
        )
        let first = try await OperatorScene(logs: logs, auditArchive: archive)
        try await first.scene.register("host-1")
        for body in [Self.pause, #"{"action":"cancel","of":{"app":"com.example.scores","host":"host-1"}}"#] {
            #expect(try await first.send("POST", "/v1/orders", body).status == 200)
        }
        #expect(try await first.send("PUT", "/v1/log-levels", #"{"levels":{}}"#).status == 200)
        let known = try await first.scene.audit.newest()
        #expect(known.map(\.path) == ["/v1/log-levels", "/v1/orders", "/v1/orders"])
        await first.scene.audit.reach(first.scene.log)
        // Without the index, with the whole of it, and with one that was made of a longer log.
        for kept in [MemoryArchive(), archive] {
            let restarted = first.scene.restarted(auditArchive: kept)
            #expect(try await restarted.audit.newest() == known, "before the owners have come to it")
            _ = try await restarted.start()
            #expect(try await restarted.audit.newest() == known, "and after")
        }
        let other = try await OperatorScene(auditArchive: archive)
        #expect(try await other.scene.audit.newest().isEmpty, "another log has other requests")
    }

    @Test func `a damaged index is read past, and nothing is lost`() async throws {
        let archive = MemoryArchive()
        let first = try await OperatorScene(auditArchive: archive)
        for _ in 0..<3 { _ = try await first.send("POST", "/v1/orders", Self.pause) }
        let known = try await first.scene.audit.newest()
        await first.scene.audit.reach(first.scene.log)
        try archive.write([ArchivedRecord(number: 3, bytes: [2, 0xFF])], removing: [])
        let restarted = first.scene.restarted(auditArchive: archive)
        #expect(try await restarted.audit.newest() == known)
    }

    @Test func `while the log cannot be read the audit says so, and goes on when it can`() async throws {
        let scene = try await OperatorScene()
        #expect(try await scene.send("POST", "/v1/orders", Self.pause).status == 200)
        let journal = scene.scene.journal
        let attempts = Atomic(0)
        let audit = OperatorAudit(
            history: {
                guard attempts.add(1, ordering: .relaxed).newValue > 1 else { throw JournalError(.failing, "the disk") }
                return journal
            },
            feed: scene.scene.feed,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        )
        await #expect(throws: Problem.self) { try await audit.newest() }
        #expect(try await audit.newest().map(\.body) == [Self.pause])
        audit.close()
        #expect(try await audit.newest().map(\.body) == [Self.pause], "what was read is known")
    }

    @Test func `who asks why a widget reloads is not told who gave an order`() async throws {
        let scene = try await OperatorScene(tokens: Self.tokens)
        try await scene.scene.register("host-1")
        let grant = #"{"action":"grant","count":2,"of":{"instance":"com.example.scores/host-1:a0"}}"#
        let request = Self.request("writer", "POST", "/v1/orders", grant, id: "a-secret-name")
        #expect(await scene.routes.respond(to: request).status == 200)
        let question = "/v1/instances/com.example.scores/host-1:a0/why?since=1h"
        let why = await scene.routes.respond(to: Self.request("reader", "GET", question))
        guard case .bytes(let bytes) = why.body else { throw Unexpected() }
        let text = String(decoding: bytes, as: UTF8.self)
        #expect(why.status == 200 && text.contains("an operator granted 2 reloads"), "\(text)")
        for secret in ["a-secret-name", "203.0.113.7", #""ci""#] { #expect(!text.contains(secret), "\(text)") }
    }

    @Test func `orders are told live to administrators alone`() async throws {
        let scene = try await OperatorScene(tokens: Self.tokens)
        let following = try scene.scene.feed.subscribe(after: nil)
        for (token, types, status) in [
            ("reader", "?types=order", 403), ("writer", "?types=sample,order", 403), ("admin", "?types=order", 200),
            ("reader", "?types=sample,reload,configuration,partition", 200), ("reader", "", 200),
        ] {
            let request = Self.request(token, "GET", "/v1/events\(types)")
            #expect(await scene.routes.respond(to: request).status == status, "\(token) \(types)")
        }
        let order = Self.request("writer", "POST", "/v1/orders", Self.pause, id: "r-1")
        #expect(await scene.routes.respond(to: order).status == 200)
        var events = following.events.makeAsyncIterator()
        guard case .note(.order, let told)? = await events.next()?.event else { throw Unexpected() }
        #expect(told["caller"] == .string("ci") && told["request"] == .string("r-1"))
        #expect(OperatorFeed.Subject.allCases.filter { $0.scope > .read } == [.order])
    }
}
