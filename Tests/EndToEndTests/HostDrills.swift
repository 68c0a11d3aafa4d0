import Foundation
import FreshetClient
import Testing

/// Incidents of hosts, orders and budgets.
enum HostDrills {
    private static let small = "com.example.news"

    static func run() async throws -> [String] {
        let extra = """
              - bundleID: \(Self.small)
                team: \(TestGateway.team)
                budget: tiny
                kinds: [{kind: headlines}]
            policies:
              - {name: ample, window: 24h, rare: 1000, typical: 1000, frequent: 1000, minimumInterval: 0s, pushShare: 1/1, learning: {factor: 1/1, days: 0}}
              - {name: tiny, window: 24h, rare: 1, typical: 1, frequent: 1, minimumInterval: 0s, pushShare: 1/1, learning: {factor: 1/1, days: 0}}
            \(Drilling.settings)
            """
        let gateway = try await TestGateway.start(
            extra: extra,
            appSettings: "    budget: ample",
            options: ["--in-memory", "--movable-clock"]
        )
        let prometheus = try await Prometheus.start(watching: gateway)
        let bearer = try await gateway.providerToken()
        try await Drilling.register(gateway, 1, bearer: bearer)
        var done: [String] = []

        func acknowledge() async throws {
            try await gateway.acknowledge(try await gateway.outstanding(1, bearer: bearer), bearer: bearer)
        }
        /// Pushes, and lets more time pass than the goal allows.
        func pushLate() async throws {
            try await Drilling.push(gateway, to: 1, bearer: bearer)
            _ = try await gateway.eventually("it is out") { try await gateway.outstanding(1, bearer: bearer).first }
            try await Drilling.advance(gateway, seconds: 17 * 60)
        }

        try await acknowledge()
        var away = try await Drill("All hosts are away", gateway, prometheus)
        try await pushLate()
        try await away.isSeen(by: gateway)
        func show() async throws {
            let host = try gateway.host(1, bearer)
            let outstanding = try await host.state().outstanding
            try await host.send(outstanding.map { .entryShown($0.id, date: $0.issuedAt) })
        }
        try await show()
        try await away.isOver(gateway)
        done.append(away.incident.title)

        let credential = ["--header", "authorization: bearer \(bearer)", "--cacert", gateway.ca]
        let events = "\(gateway.hostURL)/v1/hosts/\(TestGateway.token(1))/events"
        let stream = try Command("curl", ["--silent", "--no-buffer"] + credential + [events])
        defer { stream.killHard() }
        var lines = stream.lines.makeAsyncIterator()
        _ = await lines.next()
        try await Drilling.advance(gateway, seconds: 3600)
        var silent = try await Drill("A host never acknowledges", gateway, prometheus)
        try await pushLate()
        try await silent.isSeen(by: gateway)
        try await acknowledge()
        try await silent.isOver(gateway)
        done.append(silent.incident.title)

        var paused = try await Drill("A pause is forgotten", gateway, prometheus)
        let pause = try await gateway.runVerb(["pause", "--app", TestGateway.app, "--yes"])
        try #require(pause.status == 0, "\(pause.errors)")
        try await paused.isSeen(by: gateway)
        let resume = try await gateway.runVerb(["resume", "--app", TestGateway.app, "--yes"])
        try #require(resume.status == 0, "\(resume.errors)")
        try await paused.isOver(gateway)
        done.append(paused.incident.title)

        try await Drilling.register(gateway, 9, app: Self.small, widget: #""kind":"headlines""#, bearer: bearer)
        var spent = try await Drill("A kind's budget is exhausted", gateway, prometheus)
        _ = try await gateway.eventually("nothing is left") {
            try await Drilling.push(gateway, to: 9, app: Self.small, bearer: bearer)
            try await Drilling.advance(gateway, seconds: 600)
            let list = "\(gateway.opsURL)/v1/instances?state=exhausted&app=\(Self.small)"
            let found = try await gateway.curl("GET", list).json["instances"] as? [Any]
            return found?.isEmpty == false ? true : nil
        }
        try await spent.isSeen(by: gateway)
        try await Drilling.advance(gateway, seconds: 2 * 86_400)
        try await spent.isOver(gateway)
        done.append(spent.incident.title)
        #expect(try await !prometheus.firingIfHeld().contains("FreshetStale"))
        // Host 1's content is each time as old as the host was away.
        try await prometheus.waitUntilFiring(["FreshetStale"]) {
            try await pushLate()
            try await show()
        }
        await gateway.stop()
        return done
    }
}
