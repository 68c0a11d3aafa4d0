import ArgumentParser
import WidgetModel

/// `freshet status`
struct Status: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract:
            "Show a gateway's state on one screen: readiness, waiting pushes, failures and pauses.",
        discussion: """
            To repeat it, use watch --color freshet status. freshet upstreams and freshet orders show more.

              freshet status --context production
              freshet status --json

            Exit codes: 0 ready, 1 not ready or it does not answer, 2 it refused.
            """
    )

    @OptionGroup var gateway: OperatorOptions
    @OptionGroup var answer: AnswerOptions

    func run() async throws {
        let reading = try await self.gateway.ask { client in
            StatusReading(
                url: client.access.url,
                place: client.access.place,
                readiness: try await client.ask("GET", "/readyz", good: [200, 503]).json,
                version: try await client.get("/version"),
                session: try await client.get("/v1/session"),
                stats: try await client.get("/v1/stats"),
                upstreams: try await client.get("/v1/upstreams"),
                providers: try await client.get("/v1/providers"),
                orders: try await client.get("/v1/orders")
            )
        }
        if self.answer.json {
            Output.line(reading.json.words)
        } else {
            for line in reading.lines(on: Screen.current) { Output.line(line) }
        }
        if !reading.isReady { throw ExitCode(1) }
    }
}

/// A gateway's own state at one time.
struct StatusReading {
    let url: String
    /// The source of its address.
    let place: String
    let readiness: JSONValue
    let version: JSONValue
    let session: JSONValue
    let stats: JSONValue
    let upstreams: JSONValue
    let providers: JSONValue
    let orders: JSONValue

    var isReady: Bool { self.readiness["ready"]?.isTrue == true }

    /// Each answer as it came, by its name.
    var json: JSONValue {
        .object(of: [
            ("readiness", self.readiness), ("version", self.version), ("session", self.session), ("stats", self.stats),
            ("upstreams", self.upstreams), ("providers", self.providers), ("orders", self.orders),
        ])
    }

    /// For people.
    func lines(on screen: Screen) -> [String] {
        let now = Moment.now(of: self.stats)
        var card = TextCard()
        card.add("gateway", "\(self.url) (\(self.place)), version \(self.version["version"]?.words ?? "–")")
        card.add("ready", self.ready)
        card.add("since", self.stats["startedAt"]?.text.map { Moment.text($0, now: now) })
        let scopes = self.session["scopes"]?.elements.map(\.words).joined(separator: ", ") ?? "–"
        card.add("you", "\(self.session["name"]?.words ?? "–"), may \(scopes)")
        card.add("freshness", self.freshness)
        for one in self.stats.at("freshness.missed")?.elements ?? [] {
            let name = [one["app"]?.text, one["kind"]?.text].compactMap(\.self).joined(separator: " ")
            card.add("goal missed", Cell("\(name): \(Self.behind(one))", .bad))
        }
        card.add("pushes", self.pushes)
        card.add("outcomes", self.stats.at("pushes.outcomes")?.counts)
        card.add("waiting", self.waiting)
        card.add("registry", self.registry)
        card.add("disk", self.fill("storage"))
        card.add("memory", self.fill("memory"))
        card.add("backup", self.stats.at("storage.lastBackup")?.text.map { Moment.text($0, now: now) })
        for team in self.stats.at("fairness.teams")?.elements ?? [] where team["refused"]?.whole ?? 0 > 0 {
            let refused = NumberText.grouped(team["refused"]?.whole ?? 0)
            card.add("over share", "\(team["team"]?.words ?? "–"): \(refused) answered 503")
        }
        for partition in self.stats["partitions"]?.elements ?? [] where partition["failed"]?.isTrue == true {
            card.add(
                "trouble",
                Cell("partition \(partition["partition"]?.words ?? "–") has stopped; look at the gateway's log", .bad)
            )
        }
        if self.stats.at("pushes.balanced") == .bool(false) {
            card.add(
                "trouble",
                Cell("outcomes do not add up (pushes.balanced in /v1/stats): please report this bug", .bad)
            )
        }
        for (listener, counters) in self.stats["listeners"]?.members.map({ ($0.name, $0.value) }) ?? [] {
            for cutOff in counters["cutOff"]?.members ?? [] { card.add("cut off", Self.cutOff(listener, cutOff)) }
        }
        if let bad = self.stats.at("http.badCredentials"), bad["keepComing"]?.isTrue == true {
            let count = NumberText.grouped(bad["withinMinute"]?.whole ?? 0)
            let peer = bad["peer"]?.words ?? "–"
            card.add(
                "trouble",
                Cell("bad credentials: \(count) pushes within a minute, the last from \(peer)", .warning)
            )
        }
        for certificate in self.stats["tls"]?.elements ?? [] { card.add("trouble", Self.trouble(certificate, now)) }
        for target in Target.all(self.upstreams, self.providers) { card.add("trouble", Target.trouble(target, now)) }
        for order in self.orders["orders"]?.elements ?? [] {
            let until = order.at("until")?.text.map { "until \(Moment.text($0, now: now))" } ?? "until it is resumed"
            let since = order["since"]?.text.map { " since \(Moment.text($0, now: now))" } ?? ""
            let by = order.at("by")?.text.map { ", by \($0)" } ?? ""
            card.add("paused", Cell("\(Orders.place(order["of"]))\(since) \(until)\(by)", .warning))
        }
        return card.lines(on: screen)
    }

    private var ready: Cell {
        guard !self.isReady else { return Cell("yes", .good) }
        let missing = self.readiness["missing"]?.elements.map(\.words) ?? []
        return Cell("no: \(missing.isEmpty ? "the gateway does not say why" : missing.joined(separator: "; "))", .bad)
    }

    private var freshness: Cell? {
        guard let row = self.stats.at("freshness") else { return nil }
        guard row["instances"]?.whole ?? 0 > 0 else { return "no widget is registered" }
        let isMet = row["isMet"]?.isTrue == true && row["missed"]?.elements.isEmpty != false
        return Cell("\(Self.behind(row)); the goal is \(row["goal"]?.words ?? "–")", isMet ? .good : .bad)
    }

    /// How many widgets are behind, of all or of an app or kind.
    private static func behind(_ row: JSONValue) -> String {
        func count(_ name: String) -> String { NumberText.grouped(row[name]?.whole ?? 0) }
        let behind = "\(count("behind")) of \(count("instances")) widgets behind"
        guard let oldest = row.at("oldestSeconds")?.whole else { return behind }
        let reasons = row["reasons"]?.counts ?? "–"
        return "\(behind), \(count("late")) late, the oldest for \(Moment.length(Int64(oldest))): \(reasons)"
    }

    private func count(_ path: String) -> String { NumberText.grouped(self.stats.at(path)?.whole ?? 0) }

    private var pushes: String {
        "\(self.count("pushes.accepted")) accepted, \(self.count("pushes.incomplete")) not complete; "
            + "\(self.count("http.unavailable")) answered 503, \(self.rateLimited) answered 429"
    }

    private var rateLimited: String {
        let counts = ["app", "key", "token"].map { self.stats.at("http.rateLimited.\($0)")?.whole ?? 0 }
        return NumberText.grouped(counts.reduce(0) { $0.addingSaturating($1) })
    }

    private var waiting: String {
        let lag = (self.stats["partitions"]?.elements ?? []).reduce(0) { $0.addingSaturating($1["lag"]?.whole ?? 0) }
        return
            "\(self.count("pushes.outcomes.deferred")) deferred, \(self.count("reloads.outstanding")) reloads outstanding, "
            + "\(self.count("http.inFlight")) requests in progress, \(NumberText.grouped(lag)) entries not applied yet"
    }

    private var registry: String {
        let orphaned = self.stats.at("registry.orphaned")?.whole ?? 0
        return "\(self.count("registry.hosts")) hosts, \(self.count("registry.instances")) instances"
            + (orphaned > 0 ? ", \(NumberText.grouped(orphaned)) of them orphaned" : "")
    }

    /// How full the disk or the memory is.
    private func fill(_ name: String) -> Cell? {
        guard let level = self.stats.at("\(name).level")?.text else { return nil }
        let used = self.stats.at("\(name).usedPercent")?.words ?? "–"
        return Cell("\(used) % used, \(level)", level == "ample" ? .plain : level == "filling" ? .warning : .bad)
    }

    /// Connections of a listener that a limit has ended within the last hour.
    private static func cutOff(_ listener: String, _ limit: JSONValue.Member) -> Cell? {
        guard let ago = limit.value["secondsAgo"]?.whole, ago <= 3600 else { return nil }
        let (times, peer) = (limit.value["times"]?.whole ?? 0, limit.value["peer"]?.words ?? "–")
        return Cell("\(NumberText.grouped(times)) of \(listener) by \(limit.name), the last from \(peer)", .warning)
    }

    /// A listener's certificate that ends soon, or whose newer files were refused.
    private static func trouble(_ certificate: JSONValue, _ now: Instant) -> Cell? {
        let listener = certificate["listener"]?.words ?? "–"
        if let refusal = certificate.at("refusal")?.text {
            return Cell("the newer certificate of the listener \(listener) is not in use: \(refusal)", .bad)
        }
        guard case .int(let left)? = certificate["secondsLeft"], left < 14 * 86_400,
            let end = certificate["notAfter"]?.text
        else { return nil }
        return Cell(
            "the certificate of the listener \(listener) \(left > 0 ? "ends" : "has ended"): \(Moment.text(end, now: now))",
            left > 0 ? .warning : .bad
        )
    }
}
