import Foundation
import Testing

/// `freshet bench` against gateways of its own and of a test.
@Suite struct BenchTests {
    private static let examples = "\(TestGateway.root)/docs/examples/bench"

    /// A report as far as tests look at it; what it says of times depends on the machine.
    private struct Report: Decodable {
        struct Load: Decodable {
            let name: String
            let due: Int
            let sent: Int
            let answered: Int
            let failed: Int
            let latencyMicroseconds: [String: Latencies]
        }

        struct Latencies: Decodable {
            let count: Int
        }

        struct Hosts: Decodable {
            let reloads: Int
            let acknowledged: Int
            let refusedAcknowledgements: Int
        }

        struct Generator: Decodable {
            let outages: [Outage]
        }

        struct Outage: Decodable {
            let listener: String
        }

        let loads: [Load]
        let generator: Generator
        let hosts: Hosts
        let failure: String?
    }

    private static func report(_ result: Command.Result) throws -> Report {
        try JSONDecoder().decode(Report.self, from: Data(result.output.utf8))
    }

    private static func run(_ file: String, _ options: [String]) async throws -> Command.Result {
        try await Command.run(TestGateway.program, ["bench", file, "--json", "--quiet"] + options)
    }

    /// The examples, made small, with the stages that must have happened beside answers.
    @Test(arguments: [
        ("steady", 0.02, ["pushes accepted", "pushes decided", "pushes delivered", "pushes shown"]),
        ("goal-in-the-final-minute", 0.002, ["evening accepted", "goal accepted", "goal delivered", "goal shown"]),
        ("ramp", 0.02, ["pushes accepted"]),
        ("registration-storm", 0.01, ["pushes accepted", "registrations accepted"]),
        ("slow-hosts", 0.1, ["pushes accepted", "pushes delivered", "pushes shown", "looks accepted"]),
        ("reconnect-storm", 0.1, ["pushes accepted", "reconnects accepted"]),
        ("failing-provider", 0.1, ["pushes accepted", "pushes delivered"]),
        ("recorded", 0.1, ["pushes accepted", "pushes delivered", "pushes shown"]),
        ("saturate", 0.02, ["pushes accepted"]),
    ])
    func `every example is answered whole`(name: String, scale: Double, stages: [String]) async throws {
        let options = ["--scale", "\(scale)", "--stretch", "0.1"]
        // However slow the machine is, the run waits for the answers on their way.
        let folder = try TestGateway.makeFolder()
        for file in try FileManager.default.contentsOfDirectory(atPath: Self.examples) {
            try String(contentsOfFile: "\(Self.examples)/\(file)", encoding: .utf8)
                .replacing(/settle: .*/.anchorsMatchLineEndings(), with: "settle: 10m")
                .write(toFile: "\(folder)/\(file)", atomically: true, encoding: .utf8)
        }
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let result = try await Self.run("\(folder)/\(name).yaml", options)
        // 1 where this machine is too slow for the objectives.
        #expect(result.status == 0 || result.status == 1, "\(result.errors)")
        let report = try Self.report(result)
        #expect(report.failure == nil)
        for load in report.loads {
            #expect(load.due > 0 && load.sent == load.due, "\(load.name)")
            #expect(load.answered == load.due && load.failed == 0, "\(load.name)")
        }
        let reached = report.loads.flatMap { load in
            load.latencyMicroseconds.filter { $0.value.count > 0 }.map { "\(load.name) \($0.key)" }
        }
        #expect(Set(reached).isSuperset(of: stages), "\(reached.sorted())")
        #expect(report.hosts.acknowledged <= report.hosts.reloads)
    }

    @Test func `a missed objective is exit code 1, and all reports are written`() async throws {
        let folder = try TestGateway.makeFolder()
        try """
        for: 300ms
        settle: 10m
        hosts: {count: 20, widgets: 1}
        connections: 2
        loads:
          - {send: pushes, rate: 200}
        objectives: [errors <= 0, accepted p50 <= 0ms]
        """.write(toFile: "\(folder)/a.yaml", atomically: true, encoding: .utf8)
        let files = ["html", "hlog"].map { "\(folder)/a.\($0)" }
        let options = ["--html", files[0], "--hlog", files[1]]
        let result = try await Command.run(TestGateway.program, ["bench", "\(folder)/a.yaml"] + options)
        #expect(result.status == 1, "\(result.errors)")
        #expect(result.output.contains("met     errors <= 0"))
        #expect(result.output.contains("MISSED  accepted p50 <= 0ms"))
        let texts = try files.map { try String(contentsOfFile: $0, encoding: .utf8) }
        #expect(texts[0].hasPrefix("<!doctype html>"))
        #expect(texts[1].contains("\nTag=pushes.accepted,0.000,0.100,"))
        let again = try await Command.run(TestGateway.program, ["bench", "\(folder)/a.yaml", "--json"])
        #expect(again.status == 1, "\(again.errors)")
        #expect(again.output.hasPrefix("{\"schema\":3,"))
        let report = "\(folder)/a.json"
        try again.output.write(toFile: report, atomically: true, encoding: .utf8)
        let compared = try await Command.run(
            TestGateway.program,
            ["bench", "compare", report, report, "--at-most", "0%"]
        )
        #expect(compared.status == 0, "\(compared.errors)")
        #expect(compared.output.contains("pushes accepted p99"))
        #expect(!compared.output.contains(" worse") && !compared.output.contains(" better"), "\(compared.output)")
        let asJSON = try await Command.run(
            TestGateway.program,
            ["bench", "compare", report, report, "--json"]
        )
        #expect(asJSON.output.hasPrefix("{\"schema\":1,\"confidence\":0.95,"), "\(asJSON.output)")
        try FileManager.default.removeItem(atPath: folder)
    }

    // MARK: Without a file

    @Test func `the program's own scenarios are listed, and printed as files that run`() async throws {
        for options in [["--quick"], ["--quick", "list"]] {
            let listed = try await Command.run(TestGateway.program, ["bench"] + options)
            #expect(listed.status == 0, "\(listed.errors)")
            for name in ["burst", "storm", "steady", "slow-hosts", "failing-provider", "restart"] {
                #expect(
                    listed.output.contains("\n  \(name) ") || listed.output.hasPrefix("  \(name) "),
                    "\(listed.output)"
                )
            }
        }
        let size = ["--quick", "steady", "--widgets", "60", "--rate", "50", "--seconds", "1"]
        let printed = try await Command.run(TestGateway.program, ["bench", "--print"] + size)
        #expect(printed.status == 0, "\(printed.errors)")
        let folder = try TestGateway.makeFolder()
        try printed.output.write(toFile: "\(folder)/steady.yaml", atomically: true, encoding: .utf8)
        let result = try await Self.run("\(folder)/steady.yaml", [])
        #expect(result.status == 0, "\(result.errors)")
        #expect(try Self.report(result).loads.map(\.name) == ["pushes"])
        try FileManager.default.removeItem(atPath: folder)
    }

    @Test(arguments: [
        ("burst", ["burst delivered", "burst shown", "pushes decided"]),
        ("storm", ["registrations accepted", "reconnects accepted"]), ("steady", ["pushes shown"]),
        ("slow-hosts", ["looks accepted", "pushes shown"]), ("failing-provider", ["pushes delivered"]),
        ("restart", ["pushes accepted"]),
    ])
    func `each of the program's own scenarios is answered whole`(name: String, stages: [String]) async throws {
        let options = ["--quick", "--widgets", "60", "--rate", "200", "--seconds", "2"]
        let result = try await Self.run(name, options)
        #expect(result.status == 0, "\(result.output.prefix(2000))\(result.errors)")
        let report = try Self.report(result)
        #expect(report.failure == nil)
        for load in report.loads { #expect(load.due > 0 && load.answered == load.due, "\(load.name)") }
        let reached = report.loads.flatMap { load in load.latencyMicroseconds.keys.map { "\(load.name) \($0)" } }
        #expect(Set(reached).isSuperset(of: stages), "\(reached.sorted())")
        #expect((report.generator.outages.map(\.listener).contains("push")) == (name == "restart"))
    }

    @Test(arguments: [
        (["--quick", "tsunami"], "--quick takes one of burst, storm, steady"),
        (["--quick", "burst", "--scale", "2"], "--scale is for scenario files"),
        (["--quick", "burst", "--widgets", "0"], "--widgets takes 1 to 5000000"),
        (["--quick", "restart", "--push-port", "1"], "leave out --push-port"), ([], "--quick alone lists the names"),
    ])
    func `what does not go with the program's own scenarios is said`(options: [String], fault: String) async throws {
        let result = try await Command.run(TestGateway.program, ["bench"] + options)
        #expect(result.status == 64, "\(result.errors)")
        #expect(result.errors.contains(fault), "\(result.errors)")
    }

    @Test func `a faulty scenario is exit code 78 with the fault's place`() async throws {
        let folder = try TestGateway.makeFolder()
        try "loads:\n  - {send: letters, rate: 1}\n".write(
            toFile: "\(folder)/a.yaml",
            atomically: true,
            encoding: .utf8
        )
        let result = try await Self.run("\(folder)/a.yaml", [])
        #expect(result.status == 78)
        #expect(result.errors.contains("a.yaml:2:12: loads[0].send: must be one of pushes"), "\(result.errors)")
        try FileManager.default.removeItem(atPath: folder)
    }

    @Test(arguments: [
        ["--host", "192.0.2.1", "--push-port", "443"],
        ["--host", "192.0.2.1", "--push-port", "443", "--remote"],
        ["--host", "127.0.0.2"],
        ["--scale", "0"],
        ["--without", "nobody"],
        ["--widgets", "5"],
        ["--print"],
    ])
    func `what could hit others, or makes no sense, is refused before anything is sent`(options: [String]) async throws
    {
        let result = try await Self.run("\(Self.examples)/steady.yaml", options)
        #expect(result.status == 64, "\(result.errors)")
    }

    @Test func `a load above the cap for other machines is refused`() async throws {
        let gateway = try await TestGateway.start(extra: "fairness: {undecided: 1h, pushMax: 1h}")
        let options = [
            "--push-port", "\(gateway.pushPort)", "--host-port", "\(gateway.hostPort)", "--ca", gateway.ca,
            "--rate-cap", "1999", "--no-setup",
        ]
        let result = try await Self.run("\(Self.examples)/steady.yaml", options)
        #expect(result.status == 1)
        #expect(result.errors.contains("pushes: sends more than the 1999 a second that --rate-cap allows"))
        await gateway.stop()
    }

    @Test func `what a gateway refuses is counted by status and reason`() async throws {
        let gateway = try await TestGateway.start(extra: "fairness: {undecided: 1h, pushMax: 1h}")
        let folder = try TestGateway.makeFolder()
        try "for: 200ms\nsettle: 10m\nconnections: 1\nloads:\n  - {send: pushes, rate: 100}\n".write(
            toFile: "\(folder)/a.yaml",
            atomically: true,
            encoding: .utf8
        )
        // These hosts are not registered.
        let options = [
            "--push-port", "\(gateway.pushPort)", "--ca", gateway.ca, "--key", gateway.key, "--kid", TestGateway.kid,
            "--team", TestGateway.team,
        ]
        let result = try await Self.run("\(folder)/a.yaml", options)
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.output.contains("\"failures\":[{\"status\":400,\"reason\":\"BadDeviceToken\",\"count\":20}]"))
        await gateway.stop()
        try FileManager.default.removeItem(atPath: folder)
    }
}
