import Foundation
import TestSupport
import Testing

/// `freshet doctor`: what usually goes wrong, looked at on a real machine.
@Suite struct DoctorTests {
    /// Verdicts by subject.
    private static func verdicts(
        _ folder: String,
        _ options: [String] = [],
        status: Int32
    ) async throws -> [String: (verdict: String, sentence: String)] {
        let file = ["--config", "\(folder)/freshet.yaml", "--json"]
        let result = try await Command.run(TestGateway.program, ["doctor"] + file + options)
        #expect(result.status == status, "\(result.output)\(result.errors)")
        let object = try JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [String: Any]
        let findings = try #require(object?["findings"] as? [[String: String]])
        #expect((object?["verdict"] as? String == "fault") == (status == 78))
        return Dictionary(
            findings.map { ($0["subject"] ?? "", ($0["verdict"] ?? "", $0["sentence"] ?? "")) },
            uniquingKeysWith: { first, _ in first }
        )
    }

    /// A folder of `freshet init` on ports of its own.
    private static func makeFolder() async throws -> (folder: String, ports: [Int]) {
        let folder = try TestGateway.makeFolder()
        let ports = try (0..<3).map { _ in try LonePort.find() }
        let options = [
            "--push-port", "\(ports[0])", "--host-port", "\(ports[1])", "--ops-port", "\(ports[2])", "--yes",
        ]
        let made = try await Command.run(TestGateway.program, ["init", folder] + options)
        try #require(made.status == 0, "\(made.errors)")
        return (folder, ports)
    }

    @Test func `a folder that was just made has no fault, before a start and beside the gateway`() async throws {
        let (folder, ports) = try await Self.makeFolder()
        let before = try await Self.verdicts(folder, status: 0)
        for subject in ["files", "teams", "apps", "listeners.push.port", "dataDirectory"] {
            #expect(before[subject]?.verdict == "good", "\(subject): \(before)")
        }
        for subject in ["flush", "storage", "descriptors", "clock"] { #expect(before[subject] != nil, "\(subject)") }
        #expect(before["listeners.push.port"]?.sentence == "127.0.0.1:\(ports[0]) is free")

        let gateway = try Command(TestGateway.program, ["serve", "--config", "\(folder)/freshet.yaml"])
        defer { gateway.killHard() }
        for await line in gateway.lines where line.contains(#""message":"ready""#) { break }
        let beside = try await Self.verdicts(folder, status: 0)
        #expect(
            beside["listeners.push.port"]?.sentence.contains(
                "(process \(gateway.pid))"
            ) == true,
            "\(beside)"
        )
        #expect(
            !(try FileManager.default.contentsOfDirectory(atPath: "\(folder)/data")).contains {
                $0.hasPrefix(".doctor")
            }
        )
        gateway.terminate()
        #expect(await gateway.wait().status == 0)
        try FileManager.default.removeItem(atPath: folder)
    }

    @Test func `as many files may be open as the hard limit allows`() async throws {
        let (folder, _) = try await Self.makeFolder()
        let file = ["--config", "\(folder)/freshet.yaml", "--set", "limits.maxConnections=1000"]
        let told = try await Command.run("prlimit", ["--nofile=1024:4000", TestGateway.program, "doctor"] + file)
        #expect(told.output.contains("good     descriptors: the process may open 4000 files\n"), "\(told.output)")
        let gateway = try Command("prlimit", ["--nofile=1024:4000", TestGateway.program, "serve"] + file)
        defer { gateway.killHard() }
        var lines: [String] = []
        for await line in gateway.lines {
            lines.append(line)
            if line.contains(#""message":"ready""#) { break }
        }
        #expect(!lines.contains { $0.contains("the process may open") }, "\(lines)")
        gateway.terminate()
        #expect(await gateway.wait().status == 0)
        try FileManager.default.removeItem(atPath: folder)
    }

    @Test func `ports that others hold, and peers that do not answer, are told with what to do`() async throws {
        let gateway = try await TestGateway.start()
        let (folder, _) = try await Self.makeFolder()
        let closed = try LonePort.find()
        let file = "\(folder)/freshet.yaml"
        let text = try String(contentsOfFile: file, encoding: .utf8)
            .replacing(
                "\n      - kind: scores\n",
                with: "\n      - kind: scores\n        timelineProvider: {url: \"http://127.0.0.1:\(closed)/\"}\n"
            )
            .replacing(
                "    kinds:\n",
                with: """
                        upstream:
                          url: https://localhost:\(gateway.pushPort)
                          keyID: F6G7H8J9K0
                          key: certs/provider-key.p8
                          ca: "\(gateway.ca)"
                        kinds:

                    """
            )
        try text.write(toFile: file, atomically: true, encoding: .utf8)
        let taken = ["--set", "listeners.push.port=\(gateway.pushPort)"]
        let found = try await Self.verdicts(folder, taken, status: 78)
        let holder = found["listeners.push.port"]
        #expect(holder?.verdict == "fault" && holder?.sentence.contains("(freshet, process ") == true, "\(found)")
        #expect(found["apps[0].upstream"]?.verdict == "good", "\(found)")
        let provider = found["apps[0].kinds[0].timelineProvider"]
        #expect(
            provider?.verdict == "fault" && provider?.sentence.contains("nothing listens there") == true,
            "\(found)"
        )

        // The authority of another gateway has not signed that certificate.
        try text.replacing(gateway.ca, with: "\(folder)/certs/ca.pem").write(
            toFile: file,
            atomically: true,
            encoding: .utf8
        )
        let refused = try await Self.verdicts(folder, status: 78)
        #expect(refused["apps[0].upstream"]?.verdict == "fault", "\(refused)")
        await gateway.stop()
        try FileManager.default.removeItem(atPath: folder)
    }

    @Test func `a configuration with faults is told as check-config tells it`() async throws {
        let folder = try TestGateway.makeFolder()
        try "partitions: 0".write(toFile: "\(folder)/freshet.yaml", atomically: true, encoding: .utf8)
        let found = try await Self.verdicts(folder, status: 78)
        #expect(found["partitions"]?.verdict == "fault")
        let plain = try await Command.run(TestGateway.program, ["doctor", "--config", "\(folder)/freshet.yaml"])
        #expect(plain.status == 78 && plain.output.hasPrefix("fault    partitions: "), "\(plain.output)")
        try FileManager.default.removeItem(atPath: folder)
    }

    @Test func `a health check without TLS says whether the gateway is ready`() async throws {
        let port = try LonePort.find()
        let health = [TestGateway.program, "health", "--port", "\(port)"]
        let none = try await Command.run(health[0], Array(health.dropFirst()))
        #expect(none.status == 1 && none.errors.contains("nothing listens there"), "\(none)")
        let listener = ["--set", "listeners.health.enabled=true", "--set", "listeners.health.port=\(port)"]
        let gateway = try await TestGateway.start(options: listener)
        let ready = try await Command.run(health[0], Array(health.dropFirst()))
        #expect(ready.status == 0 && ready.output.contains(#""ready":true"#), "\(ready)")
        await gateway.stop()
    }
}
