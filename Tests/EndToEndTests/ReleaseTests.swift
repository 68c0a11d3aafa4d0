import Engine
import Foundation
import Testing

/// Data directories of earlier releases, as `Tests/Releases/make.py` has made them with each: this program goes on from there.
@Suite(.timeLimit(.minutes(60))) struct ReleaseTests {
    private static let folder = "\(TestGateway.root)/Tests/Releases"

    struct Release: Decodable, Sendable, CustomTestStringConvertible {
        struct Left: Decodable, Sendable {
            struct Partition: Decodable, Hashable, Sendable {
                let partition: Int
                let through: UInt64
                let state: String
            }

            let partitions: [Partition]
            /// How many widgets each push met.
            let pushes: [String: Int]
        }

        let version: String
        let rules: Int
        let ended: Left
        let killed: Left

        var testDescription: String { self.version }
    }

    static let releases: [Release] = {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: Self.folder)) ?? []
        return names.sorted().filter { $0.hasSuffix(".json") }.compactMap { name in
            let data = FileManager.default.contents(atPath: "\(Self.folder)/\(name)")
            return data.flatMap { try? JSONDecoder().decode(Release.self, from: $0) }
        }
    }()

    /// Unpacks what a release has left.
    private static func unpack(_ release: Release, _ name: String) async throws -> String {
        let folder = try TestGateway.makeFolder()
        let archive = "\(Self.folder)/\(release.version).tar.gz"
        let unpacked = try await Command.run("tar", ["-xzf", archive, "-C", folder, name])
        try #require(unpacked.status == 0, "\(unpacked.errors)")
        try FileManager.default.moveItem(atPath: "\(folder)/\(name)", toPath: "\(folder)/data")
        return folder
    }

    private struct Verified: Decodable {
        struct Partition: Decodable {
            let partition: Int
            let replayedThrough: UInt64
            let state: String
        }

        let good: Bool
        let partitions: [Partition]
    }

    private static func checkStates(_ left: Release.Left, _ folder: String) async throws {
        let result = try await Command.run(
            TestGateway.program,
            ["log", "verify", "--json", "--data", "\(folder)/data"]
        )
        let verified = try JSONDecoder().decode(Verified.self, from: Data(result.output.utf8))
        #expect(verified.good, "\(result.output)")
        let found = verified.partitions.map {
            Release.Left.Partition(partition: $0.partition, through: $0.replayedThrough, state: $0.state)
        }
        #expect(found == left.partitions)
    }

    private static func checkPushes(_ left: Release.Left, _ gateway: TestGateway) async throws {
        for (push, matched) in left.pushes {
            let answer = try await gateway.curl("GET", "\(gateway.opsURL)/v1/pushes/\(push)")
            #expect(answer.status == 200 && answer.json["matched"] as? Int == matched, "\(push): \(answer.body)")
        }
    }

    @Test func `every release whose rules this program has is there`() {
        let there = Set(Self.releases.map(\.version))
        for (_, release) in Engine.releases { #expect(there.contains(release), "Tests/Releases/make.py makes it") }
    }

    @Test(arguments: Self.releases) func `it goes on where a release was ended with SIGTERM`(_ release: Release)
        async throws
    {
        let folder = try await Self.unpack(release, "ended")
        let upgraded = try await Command.run(TestGateway.program, ["upgrade", "--data", "\(folder)/data"])
        #expect(upgraded.status == 0, "\(upgraded.errors)")
        try await Self.checkStates(release.ended, folder)
        let gateway = try await TestGateway.start(in: folder, partitions: 2)
        try await Self.checkPushes(release.ended, gateway)
        await gateway.stop()
    }

    @Test(arguments: Self.releases)
    func `where a release was killed it goes on by the same rules, and names the release for others`(
        _ release: Release
    ) async throws {
        let folder = try await Self.unpack(release, "killed")
        guard release.rules == Engine.version else {
            try await TestGateway.makeCertificates(in: folder, ["--topic", TestGateway.topic])
            let configuration = TestGateway.configuration(2, "", "")
            try configuration.write(toFile: "\(folder)/freshet.yaml", atomically: true, encoding: .utf8)
            let refused = try await Command.run(TestGateway.program, ["serve", "--config", "\(folder)/freshet.yaml"])
            #expect(refused.status == 1 && refused.errors.contains("Freshet \(release.version)"), "\(refused.errors)")
            return
        }
        try await Self.checkStates(release.killed, folder)
        let gateway = try await TestGateway.start(in: folder, partitions: 2)
        try await Self.checkPushes(release.killed, gateway)
        await gateway.stop()
    }
}
