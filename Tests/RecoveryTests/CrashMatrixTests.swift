import Engine
import Foundation
import TestSupport
import Testing
import WidgetModel

/// A gateway is killed wherever it is interesting, over and over on the same data directory, and comes back whole.
@Suite(.serialized) struct CrashMatrixTests {
    /// Where to die: at which call, at which of the calls at most, how, and for which files.
    private struct Point {
        let call: String
        let callsMax: UInt64
        let how: String
        let path: String

        init(_ call: String, _ callsMax: UInt64, _ how: String, _ path: String = "") {
            (self.call, self.callsMax, self.how, self.path) = (call, callsMax, how, path)
        }

        /// Whether it is only reached where the log is trimmed.
        var isTrim: Bool { ["unlink", "trimmed"].contains { self.call == $0 || self.path == $0 } }
    }

    private static let points = [
        // The commit: its pages, its sync, the copies from the write-ahead log.
        Point("pwrite", 300, "before", "-wal"), Point("pwrite", 300, "torn", "-wal"),
        Point("fdatasync", 80, "before", "-wal"), Point("fdatasync", 80, "after", "-wal"),
        Point("pwrite", 40, "torn", ".sqlite"),
        // The effects that are committed and not sent yet.
        Point("send", 60, "before"), Point("send", 200, "before"),
        // Between two pieces of what a push to all comes to.
        Point("piece", 6, "before"), Point("piece", 6, "after"), Point("piece", 60, "before"),
        Point("piece", 60, "after"),
        // The snapshot: its bytes, its sync, its name.
        Point("pwrite", 3, "torn", ".snapshot.new"), Point("fsync", 3, "before", ".snapshot.new"),
        Point("fsync", 3, "after", ".snapshot.new"), Point("rename", 4, "before", ".snapshot"),
        Point("rename", 4, "after", ".snapshot"),
        // Removals: old snapshots, and the log before them.
        Point("unlink", 4, "before", ".snapshot"), Point("unlink", 4, "after", ".snapshot"),
        Point("rename", 1, "before", "trimmed"), Point("rename", 1, "after", "trimmed"),
        Point("unlink", 3, "before", "/journal-"), Point("unlink", 3, "after", "/journal-"),
        // A new file of the log.
        Point("rename", 1, "before", "begun"), Point("rename", 1, "after", "begun"),
    ]

    /// How many pushes come for each snapshot, where a round is about a point and not about load.
    private static let pace = 24
    /// How often one directory is used: each round replays all that the rounds before have left.
    private static let roundsPerDirectory = 5

    @Test(arguments: Seeds.from(1, count: 1))
    func `whatever it dies at, nothing accepted is lost, nothing is charged twice, and the state is the log's`(
        seed: UInt64
    ) async throws {
        var random = SplitMix64(seed: seed)
        // The whole log is kept in some directories, and as little as possible in the others.
        var rounds = [0, 0]
        var directories: [CrashDirectory?] = [nil, nil]
        for (index, point) in Self.points.enumerated() {
            let number = 1 + random.next() % point.callsMax
            let fault = "\(point.call):\(number):\(point.how):\(point.path)"
            let choice = point.isTrim ? 1 : (index + Int(seed)) % 2
            if rounds[choice].isMultiple(of: Self.roundsPerDirectory) {
                directories[choice] = try CrashDirectory(history: choice == 0 ? 100_000 : 0)
            }
            rounds[choice] += 1
            let directory = try #require(directories[choice])
            try directory.run(fault: fault, linesMax: .max, pace: Self.pace, seed: random.next())
            try await directory.check("seed \(seed), \(fault)")
        }
    }

    /// How often it is killed: 30 times, or as often as `FRESHET_CRASH_ROUNDS` says.
    private static let randomRounds: Int = {
        let text = ProcessInfo.processInfo.environment["FRESHET_CRASH_ROUNDS"]
        return max(1, text.flatMap { Int($0) } ?? 30)
    }()

    @Test func `killed at any moment under load it comes back whole`() async throws {
        var random = SplitMix64(seed: 977)
        var directory = try CrashDirectory(history: 0)
        for round in 0..<Self.randomRounds {
            if round.isMultiple(of: Self.roundsPerDirectory) {
                let isWhole = (round / Self.roundsPerDirectory).isMultiple(of: 2)
                directory = try CrashDirectory(history: isWhole ? 100_000 : 0)
            }
            try directory.run(fault: nil, linesMax: 1 + Int(random.next() % 600), pace: 0, seed: random.next())
            try await directory.check("round \(round)")
        }
    }

    @Test(arguments: [
        "pwrite:2:28:.snapshot.new", "pwrite:1:5:.snapshot.new", "fsync:1:5:.snapshot.new", "fsync:2:28:.snapshot.new",
        "rename:1:5:.snapshot", "pwrite:2:short:.snapshot.new", "unlink:1:5:.snapshot", "fdatasync:40:5:-wal",
        "pwrite:100:28:-wal",
    ])
    func `a disk that fails for a moment costs nothing that was accepted`(fault: String) async throws {
        let directory = try CrashDirectory(history: 0)
        try directory.run(fault: fault, linesMax: 100, pace: Self.pace, seed: 1)
        try await directory.check(fault)
    }
}
