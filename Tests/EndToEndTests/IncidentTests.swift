import Foundation
import Testing

/// The drill book of docs/operating.md: every incident in it is provoked on a real gateway, which then has to look as the book
/// says, and be well again by what the book says to do. One gateway goes through several of them.
@Suite(.timeLimit(.minutes(60))) struct IncidentTests {
    /// Gateways, by what they have that incidents can befall.
    enum Round: String, CaseIterable, CustomTestStringConvertible {
        case targets, hosts, machine, clock, work, disk

        var testDescription: String { self.rawValue }

        /// The incidents that it goes through.
        var titles: [String] {
            switch self {
            case .targets:
                [
                    "An upstream answers 503", "An upstream answers 403", "APNs takes push tokens back",
                    "A webhook's target is down", "A timeline provider is down",
                ]
            case .hosts:
                [
                    "All hosts are away", "A host never acknowledges", "A pause is forgotten",
                    "A kind's budget is exhausted",
                ]
            case .machine:
                [
                    "A configuration is refused", "The backup is too old", "The memory nears its bound",
                    "The disk is at 90 %", "A certificate ends", "A client loops with a bad token",
                    "A restart after kill -9",
                ]
            case .clock: ["The clock is wrong"]
            case .work: ["One team floods", "A partition lags"]
            case .disk: ["The log refuses to be written"]
            }
        }
    }

    @Test func `every incident of the book is gone through, and no other`() throws {
        #expect(try Incident.book().map(\.title).sorted() == Round.allCases.flatMap(\.titles).sorted())
    }

    @Test(arguments: Round.allCases.filter { $0 != .disk })
    func `incidents look as the drill book says`(round: Round) async throws {
        let done =
            switch round {
            case .targets: try await TargetDrills.run()
            case .hosts: try await HostDrills.run()
            case .machine: try await MachineDrills.run()
            case .clock: try await MachineDrills.runWithWrongClock()
            case .work: try await WorkDrills.run()
            case .disk: [String]()
            }
        #expect(done.sorted() == round.titles.sorted())
    }

    @Test(
        .enabled("this system lets no test mount a disk") { try await SmallDisk.isTried() }
    )
    func `a log that cannot be written looks as the drill book says`() async throws {
        #expect(try await MachineDrills.runWithFullDisk() == Round.disk.titles)
    }

    @Test func `a partition whose log somebody else writes to stops, and is told of`() async throws {
        let gateway = try await TestGateway.start(extra: Drilling.settings)
        let bearer = try await gateway.providerToken()
        try await Drilling.register(gateway, 1, bearer: bearer)
        _ = try await gateway.eventually("there is an output") {
            try await gateway.outstanding(1, bearer: bearer).first
        }
        #expect(try await Alerts.firing("FreshetPartitionStopped", gateway, afterMinutes: 5) == 0)
        // The next output's place is taken.
        let script = """
            import sqlite3, sys
            log = sqlite3.connect(sys.argv[1], timeout=600)
            names = [row[1] for row in log.execute("pragma table_info(outputs_0)")]
            row = list(log.execute("select * from outputs_0 order by position desc limit 1").fetchone())
            row[0] += 1
            log.execute(f"insert into outputs_0 values ({','.join('?' * len(names))})", row)
            log.commit()
            """
        let path = "\(gateway.folder)/data/journal-000001.sqlite"
        let meddled = try await Command.run("python3", ["-c", script, path])
        try #require(meddled.status == 0, "\(meddled.errors)")
        try await Drilling.push(gateway, to: 1, bearer: bearer)
        let stopped = try await gateway.eventually("the partition stops") {
            _ = try await gateway.curl("GET", "\(gateway.opsURL)/livez")
            return gateway.logged.first { $0.contains("partition 0 stopped") }
        }
        #expect(try await Alerts.firing("FreshetPartitionStopped", gateway, afterMinutes: 5) == 1, "\(stopped)")
        await gateway.crash()
        try FileManager.default.removeItem(atPath: gateway.folder)
    }
}

/// The common parts of drills.
enum Drilling {
    /// Lines of the configuration with which the log says each thing each time, and soon.
    static let settings = "log: {repeatWindow: 0s}\nstreams: {heartbeat: 1s}\n"

    static func push(_ gateway: TestGateway, to number: Int, app: String = TestGateway.app, bearer: String) async throws
    {
        let answer = try await gateway.push(to: number, of: app, bearer: bearer)
        try #require(answer.status == 200, "\(answer.body)")
    }

    /// Registers a host with one widget.
    static func register(
        _ gateway: TestGateway,
        _ number: Int,
        app: String = TestGateway.app,
        by delivery: String? = nil,
        widget: String = #""kind":"scores","configuration":{"team":"rams"}"#,
        bearer: String
    ) async throws {
        let way = delivery.map { #""delivery":"\#($0)","# } ?? ""
        let answer = try await gateway.curl(
            "PUT",
            "\(gateway.hostURL)/v1/hosts/\(TestGateway.token(number))/widgets",
            bearer: bearer,
            body: #"{"app":"\#(app)","host":"host-\#(number)",\#(way)"instances":"#
                + #"[{"id":"a","family":"systemSmall",\#(widget)}]}"#
        )
        try #require(answer.status == 200, "\(answer.body)")
    }

    static func advance(_ gateway: TestGateway, seconds: Int) async throws {
        let moved = try await gateway.curl("POST", "\(gateway.opsURL)/v1/clock", body: #"{"advance":\#(seconds)}"#)
        try #require(moved.status == 200, "\(moved.body)")
    }

    static func tryNow(_ gateway: TestGateway) async throws {
        let tried = try await gateway.runVerb(["try-now"])
        try #require(tried.status == 0, "\(tried.errors)")
    }

    /// Waits until a target of an app has a state, as the operators' API tells it.
    static func wait(
        for state: [String],
        of list: String,
        _ app: String,
        _ gateway: TestGateway,
        again: () async throws -> Void = {}
    ) async throws {
        _ = try await gateway.eventually("\(list) \(state)") {
            try await again()
            let route = list == "providers" ? list : "upstreams"
            let rows = try await gateway.curl("GET", "\(gateway.opsURL)/v1/\(route)").json[list] as? [[String: Any]]
            let row = rows?.first { $0["app"] as? String == app }
            let now = (row?["health"] as? [String: Any])?["state"] as? String
            return now.map(state.contains) == true ? true : nil
        }
    }

    /// Puts a line of the configuration in place of the one that begins alike, or behind all, and has it read.
    @discardableResult
    static func use(_ line: String, _ gateway: TestGateway) async throws -> Command.Result {
        let file = "\(gateway.folder)/freshet.yaml"
        let key = line.prefix { $0 != ":" } + ":"
        var lines = try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n").map(String.init)
        if let index = lines.firstIndex(where: { $0.hasPrefix(key) }) {
            lines[index] = line
        } else {
            lines.append(line)
        }
        try lines.joined(separator: "\n").write(toFile: file, atomically: true, encoding: .utf8)
        return try await gateway.runVerb(["reload", "--yes"])
    }

    static func stats(_ gateway: TestGateway, _ part: String) async throws -> [String: Any] {
        let stats = try await gateway.curl("GET", "\(gateway.opsURL)/v1/stats")
        return try #require(stats.json[part] as? [String: Any])
    }
}
