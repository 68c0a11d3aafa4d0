import Foundation
import Testing

/// The schemas of files for editors, judged by a validator of others.
@Suite struct SchemaTests {
    /// The validator's findings in files, by the schema that the program prints.
    static func faults(_ schema: String, _ files: [String], in folder: String) async throws -> [String] {
        let printed = try await Command.run(TestGateway.program, ["schema", schema])
        #expect(printed.status == 0, "\(printed.errors)")
        let path = "\(folder)/\(schema).json"
        try printed.output.write(toFile: path, atomically: true, encoding: .utf8)
        let script = "\(TestGateway.root)/Tests/EndToEndTests/Clients/schema_check.py"
        let checked = try await Command.run(TestGateway.python, [script, path] + files)
        try #require(checked.status == 0, "\(checked.errors)")
        return checked.output.split(separator: "\n").map { String($0).replacing("\(folder)/", with: "") }
    }

    private static func write(_ text: String, _ name: String, in folder: String) throws -> String {
        try text.write(toFile: "\(folder)/\(name)", atomically: true, encoding: .utf8)
        return "\(folder)/\(name)"
    }

    /// Expects that the schema finds one fault in a file, and what it is.
    private static func expectFault(_ fault: String, in text: String, by schema: String) async throws {
        let folder = try TestGateway.makeFolder()
        let file = try Self.write(text, "a.yaml", in: folder)
        let faults = try await Self.faults(schema, [file], in: folder)
        #expect(faults.count == 1 && faults[0].contains(fault), "\(faults)")
        try FileManager.default.removeItem(atPath: folder)
    }

    @Test func `the schema of configurations allows what the gateway reads`() async throws {
        let folder = try TestGateway.makeFolder()
        let example = "\(TestGateway.root)/deploy/freshet.example.yaml"
        // The samples in place: lines on which `#` stands directly before a key.
        let samples = try String(contentsOfFile: example, encoding: .utf8)
            .replacing(#/(?m)^#(?!$| \S)/#, with: "")
        let defaults = try await Command.run(TestGateway.program, ["default-config"])
        let awkward = """
            partitions: 3_2
            teams:
              - id: 1234567890
                keys: [{id: 007, file: a.p8}, {id: 1e5, file: b.p8, rateLimit: {rate: 100/s}}]
            policies:
              - {name: "yes", date: 2026-11-25, window: 90m, pushShare: 1, minimumInterval: 0}
            storage: {maxBytes: 200MiB, memoryMax: 134217728}
            apps:
              - {bundleID: com.example.a, team: 1234567890, budget: unlimited, defaultPriority: 10, kinds: }
              - {bundleID: com.example.b, team: 1234567890, budget: {preset: widgetkit, window: tuned}}
            limits:
            """
        let files = try [
            example, Self.write(samples, "samples.yaml", in: folder),
            Self.write(defaults.output, "defaults.yaml", in: folder), Self.write(awkward, "awkward.yaml", in: folder),
            Self.write(TestGateway.configuration(1, "", "    maxMatched: 5"), "test.yaml", in: folder),
        ]
        #expect(try await Self.faults("config", files, in: folder) == [])
        try FileManager.default.removeItem(atPath: folder)
    }

    @Test(arguments: [
        ("partitons: 1", "Additional properties are not allowed ('partitons' was unexpected)"),
        ("partitions: 65", "partitions: 65 is greater than the maximum of 64"),
        ("partitions: many", "'many' does not match"),
        ("timeouts: {drain: 15}", "timeouts.drain"),
        ("log: {level: loud}", "'loud' is not one of"),
        ("teams: [{keys: []}]", "'id' is a required property"),
        ("ops: {tokens: [secret]}", "'tokens' was unexpected"),
    ])
    func `an editor marks a fault of a configuration`(_ text: String, _ fault: String) async throws {
        try await Self.expectFault(fault, in: text, by: "config")
    }

    @Test func `the schema of loads allows every example`() async throws {
        let folder = try TestGateway.makeFolder()
        let examples = "\(TestGateway.root)/docs/examples/bench"
        let files = try FileManager.default.contentsOfDirectory(atPath: examples).filter { $0.hasSuffix(".yaml") }
        #expect(files.count >= 9)
        #expect(try await Self.faults("bench", files.map { "\(examples)/\($0)" }, in: folder) == [])
        try FileManager.default.removeItem(atPath: folder)
    }

    @Test func `the schemas of reports allow what bench writes`() async throws {
        let folder = try TestGateway.makeFolder()
        let files = ["burst", "failing-provider", "restart"].map { "\(folder)/\($0).json" }
        for (file, name) in zip(files, ["burst", "failing-provider", "restart"]) {
            let options = ["--quick", name, "--widgets", "30", "--rate", "100", "--seconds", "1", "--json"]
            let result = try await Command.run(TestGateway.program, ["bench"] + options)
            #expect(result.status == 0, "\(result.errors)")
            try result.output.write(toFile: file, atomically: true, encoding: .utf8)
        }
        // Hosts that are not registered: refused, and never answered with 2xx.
        try
            "for: 200ms\nsettle: 10m\nloads: [{send: pushes, rate: 50}]\nobjectives: [accepted p50 <= 1ms, shown p50 <= 1ms]\n"
            .write(toFile: "\(folder)/none.yaml", atomically: true, encoding: .utf8)
        let refused = "\(folder)/refused.json"
        let result = try await Command.run(
            TestGateway.program,
            ["bench", "\(folder)/none.yaml", "--no-setup", "--json"]
        )
        #expect(result.status == 1, "\(result.errors)")
        try result.output.write(toFile: refused, atomically: true, encoding: .utf8)
        #expect(try await Self.faults("bench-report", files + [refused], in: folder) == [])
        for (number, pair) in [(files[0], files[0]), (files[1], files[2]), (files[0], refused)].enumerated() {
            let comparison = "\(folder)/comparison-\(number).json"
            let compared = try await Command.run(
                TestGateway.program,
                ["bench", "compare", pair.0, pair.1, "--json"]
            )
            #expect(compared.status == 0, "\(compared.errors)")
            try compared.output.write(toFile: comparison, atomically: true, encoding: .utf8)
            #expect(try await Self.faults("bench-comparison", [comparison], in: folder) == [])
        }
        try FileManager.default.removeItem(atPath: folder)
    }

    @Test(arguments: [
        ("isMet: yes", "bench-report", "is a required property"),
        ("schema: 2", "bench-report", "is a required property"),
        ("figures: []", "bench-comparison", "is a required property"),
        ("schema: 1", "simulation-report", "is a required property"),
        ("schema: 1", "what-if-report", "is a required property"),
    ])
    func `what is no report is told`(text: String, schema: String, fault: String) async throws {
        let folder = try TestGateway.makeFolder()
        let faults = try await Self.faults(schema, [try Self.write(text, "a.yaml", in: folder)], in: folder)
        #expect(faults.contains { $0.contains(fault) }, "\(faults)")
        try FileManager.default.removeItem(atPath: folder)
    }

    @Test(arguments: [
        ("for: 10s", "'loads' is a required property"),
        ("loads: [{send: pushes, rate: 1, count: 2}]", "is valid under each of"),
        ("loads: [{rate: max}]", "'send' is a required property"),
        ("loads: [{send: letters, rate: max}]", "'letters' is not one of"),
        ("loads: [{send: pushes, rate: fast}]", "loads.0.rate"),
        ("loads: [{send: pushes, rate: max}]\nhosts: {slow: {shares: 1%}}", "'shares' was unexpected"),
        ("loads: [{send: pushes, rate: max}]\nfor: 10", "for: 10 is not of type 'string'"),
    ])
    func `an editor marks a fault of a load`(_ text: String, _ fault: String) async throws {
        try await Self.expectFault(fault, in: text, by: "bench")
    }
}
