import Foundation
import LoadGenerator
import Scenarios
import Testing

/// Scenarios as they are read, scaled and stretched.
@Suite struct ScenarioTests {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "docs/examples/bench")

    private static func read(_ text: String) throws -> LoadScenario {
        try LoadScenario(reading: text, file: "a.yaml") { $0 == "two.trace" ? "0\n1\n" : nil }
    }

    private static func faults(_ text: String) -> [String] {
        do {
            _ = try self.read(text)
            return []
        } catch let faults as ScenarioError {
            return faults.faults.map(\.description)
        } catch {
            return ["\(error)"]
        }
    }

    @Test func `every example can be read`() throws {
        let files = try FileManager.default.contentsOfDirectory(atPath: Self.folder.path).filter {
            $0.hasSuffix(".yaml")
        }
        #expect(files.count >= 9)
        for file in files.sorted() {
            let text = try String(contentsOf: Self.folder.appending(path: file), encoding: .utf8)
            let scenario = try LoadScenario(reading: text, file: file) { name in
                try? String(contentsOf: Self.folder.appending(path: name), encoding: .utf8)
            }
            #expect(!scenario.loads.isEmpty && !scenario.name.isEmpty && !scenario.about.isEmpty, "\(file)")
            #expect(!scenario.objectives.isEmpty, "\(file)")
        }
    }

    @Test func `every key is read`() throws {
        let scenario = try Self.read(
            """
            name: N
            about: A
            seed: 9
            for: 30s
            settle: 250ms
            connections: 3
            streams: 7
            app: com.example.a
            kind: k
            parameter: p
            budget: unlimited
            path: /x/{}
            followed: 2.5%
            hosts: {count: 50, widgets: 2, values: 5, streams: 4, app: true, answersAfter: 1ms,
                    slow: {share: 0.5, answersAfter: 3s}}
            restartAt: 7s
            provider: {latency: 2ms, fails: {at: 1s, for: 2s, share: 50%}}
            loads:
              - {name: a, send: pushes, rate: 10, until: 20, arrivals: poisson, at: 1s, for: 5s, priority: 10}
              - {name: b, send: targeted, count: 3, within: 2s, reach: everyone}
              - {name: c, send: signals, trace: two.trace, speed: 2, order: sequence}
              - {name: d, send: registrations, rate: max}
              - {send: reconnects, rate: 1}
            objectives: ["a accepted p99.9 <= 1.5ms", "errors <= 1%"]
            """
        )
        var expected = LoadScenario()
        expected.name = "N"
        expected.about = "A"
        expected.seed = 9
        expected.length = 30_000_000_000
        expected.settle = 250_000_000
        expected.connections = 3
        expected.streams = 7
        expected.app = "com.example.a"
        expected.kind = "k"
        expected.parameter = "p"
        expected.budget = "unlimited"
        expected.path = "/x/{}"
        expected.followed = 0.025
        expected.hosts.count = 50
        expected.hosts.widgets = 2
        expected.hosts.values = 5
        expected.hosts.streams = 4
        expected.hosts.followsApp = true
        expected.hosts.answersAfter = 1_000_000
        expected.hosts.slowShare = 0.5
        expected.hosts.slowAnswersAfter = 3_000_000_000
        var provider = LoadProvider()
        provider.latency = 2_000_000
        provider.failsAt = 1_000_000_000
        provider.failsFor = 2_000_000_000
        provider.failingShare = 0.5
        expected.provider = provider
        expected.restartAt = 7_000_000_000
        var first = Load(
            name: "a",
            kind: .pushes,
            process: .poisson(RateCurve(from: 10, to: 20, length: 5_000_000_000))
        )
        first.start = 1_000_000_000
        first.priority = 10
        var second = Load(name: "b", kind: .targeted, process: .burst(count: 3, within: 2_000_000_000))
        second.reach = .everyone
        var third = Load(name: "c", kind: .signals, process: .trace(try ArrivalTrace(reading: "0\n0.5")))
        third.order = .sequence
        let fourth = Load(name: "d", kind: .registrations, process: nil)
        let fifth = Load(
            name: "reconnects",
            kind: .reconnects,
            process: .uniform(RateCurve(from: 1, to: 1, length: 30_000_000_000))
        )
        expected.loads = [first, second, third, fourth, fifth]
        expected.objectives = [
            try #require(Objective("a accepted p99.9 <= 1.5ms", loads: ["a"])),
            try #require(Objective("errors <= 1%", loads: [])),
        ]
        #expect(scenario == expected)
    }

    @Test func `what is wrong is said with its place and what to do`() {
        #expect(
            Self.faults("for: 10s\nspeed: 3\nloads:\n  - {send: pushes}\n  - {send: letters, rate: 1}\n") == [
                "a.yaml:2:1: speed: is not a key of this section; the keys are name, about, seed, for, settle, outageMax, connections, "
                    + "streams, app, kind, parameter, hosts, provider, restartAt, budget, path, followed, loads, objectives",
                "a.yaml:4:5: loads[0]: needs exactly one of rate, count and trace",
                "a.yaml:5:12: loads[1].send: must be one of pushes, targeted, registrations, signals, reconnects, "
                    + "not \"letters\"",
            ]
        )
        #expect(Self.faults("name: x\n") == ["a.yaml:1:1: loads: is missing; a scenario sends something"])
        #expect(
            Self.faults("for: 1s\nloads:\n  - {send: pushes, rate: 1, at: 2s}\n") == [
                "a.yaml:3:33: loads[0].at: is after the end of the scenario; make its `for` longer"
            ]
        )
        #expect(
            Self.faults("for: 1s\nrestartAt: 1s\nloads:\n  - {send: pushes, rate: 1}\n") == [
                "a.yaml:2:12: restartAt: is after the end; make `for` longer"
            ]
        )
        #expect(
            Self.faults("loads:\n  - {send: reconnects, rate: 1}\n") == [
                "a.yaml:2:12: loads[0].send: needs hosts with streams: set hosts.streams"
            ]
        )
        #expect(
            Self.faults("loads:\n  - {send: pushes, trace: none.trace}\n") == [
                "a.yaml:2:27: loads[0].trace: cannot be read; paths start at the scenario's folder"
            ]
        )
        #expect(
            Self.faults("loads:\n  - {send: pushes, rate: 1}\nobjectives: [later <= 1]\n") == [
                "a.yaml:3:14: objectives[0]: must be an objective such as accepted p99 <= 50ms, errors <= 0.1% or "
                    + "answered >= 99%, not \"later <= 1\""
            ]
        )
        #expect(
            Self.faults("loads:\n  - {send: pushes, rate: 1, within: 1s}\n") == [
                "a.yaml:2:37: loads[0].within: cannot be used together with rate"
            ]
        )
    }

    @Test(arguments: [
        ("250us", 250_000), ("1.5ms", 1_500_000), ("20s", 20_000_000_000), ("2m", 120_000_000_000), ("0s", 0),
    ])
    func `lengths of time are read to the nanosecond`(text: String, nanoseconds: Int64) {
        #expect(LoadValue.nanoseconds(text) == nanoseconds)
    }

    @Test(arguments: ["", "5", "ms", "-1s", "1 s", "1d", "1e3s", "99999999999h"])
    func `what is no length of time is refused`(text: String) {
        #expect(LoadValue.nanoseconds(text) == nil)
    }

    @Test func `a smaller scene has fewer hosts and operations, and its single pushes`() throws {
        let scenario = try Self.read(
            """
            hosts: {count: 1000, streams: 10}
            loads:
              - {name: a, send: pushes, rate: 100, until: 200}
              - {name: b, send: targeted, count: 1}
              - {name: c, send: pushes, count: 500}
            """
        ).scaled(by: 0.01)
        #expect(scenario.hosts.count == 10)
        #expect(scenario.hosts.streams == 1)
        #expect(
            scenario.loads.map(\.process) == [
                .uniform(RateCurve(from: 1, to: 2, length: 10_000_000_000)), .burst(count: 1, within: 1_000_000_000),
                .burst(count: 5, within: 1_000_000_000),
            ]
        )
    }

    @Test func `a shorter run keeps its rates`() throws {
        let scenario = try Self.read(
            "for: 10s\nloads:\n  - {send: pushes, rate: 100, at: 5s}\n  - {name: b, send: pushes, count: 100, within: 4s}\n"
        ).stretched(by: 0.5)
        #expect(scenario.length == 5_000_000_000)
        #expect(scenario.loads.map(\.start) == [2_500_000_000, 0])
        #expect(
            scenario.loads.map(\.process) == [
                .uniform(RateCurve(from: 100, to: 100, length: 2_500_000_000)),
                .burst(count: 50, within: 2_000_000_000),
            ]
        )
    }
}
