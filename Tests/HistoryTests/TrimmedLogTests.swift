import BasicContainers
import Engine
import Foundation
import History
import JournalSQLite
import Journaling
import Ownership
import Simulation
import TestSupport
import Testing
import Timelines
import WidgetModel

/// Questions to a log whose first entries are gone, while its gateway runs: the states that were written down answer for
/// them, and where they do not, nothing is answered.
@Suite struct TrimmedLogTests {
    /// A log of which only the rest is there, open as a gateway has it.
    private let traffic: LoggedTraffic
    private let snapshots: [[SnapshotID]]

    init() throws {
        self.traffic = try LoggedTraffic()
        self.snapshots = try self.traffic.runAndTrim()
    }

    private var folder: String { self.traffic.directory + "/snapshots" }

    private func policy(_ budget: Int) throws -> String {
        let path = self.traffic.directory + "/policy.yaml"
        try """
        name: other
        source: "https://example.com/other"
        date: "2026-11-02"
        rare: \(budget)
        typical: \(budget)
        frequent: \(budget)
        """.write(toFile: path, atomically: true, encoding: .utf8)
        return path
    }

    private func run(_ arguments: [String]) throws -> FreshetProgram.Result {
        try FreshetProgram.run(arguments + ["--data", self.traffic.directory])
    }

    private func path(of id: SnapshotID) throws -> String {
        let position = String(id.position.rawValue)
        let name = try FileManager.default.contentsOfDirectory(atPath: self.folder).first {
            $0.hasPrefix("000\(id.partition.rawValue)-") && $0.contains("0\(position)-")
        }
        return self.folder + "/" + (try #require(name))
    }

    /// Turns a bit in the middle of a snapshot.
    private func damage(_ id: SnapshotID) throws {
        let path = try self.path(of: id)
        var bytes = [UInt8](try Data(contentsOf: URL(filePath: path)))
        bytes[bytes.count / 2] ^= 1
        try Data(bytes).write(to: URL(filePath: path))
    }

    /// The files of the data directory with their sizes, except for those that SQLite keeps beside a file to read it:
    /// an index, and an empty log.
    private func files() throws -> [String: Int] {
        let paths = try FileManager.default.subpathsOfDirectory(atPath: self.traffic.directory)
        var sizes: [String: Int] = [:]
        for path in paths where !path.hasSuffix("-shm") && !path.hasSuffix(".yaml") {
            let attributes = try FileManager.default.attributesOfItem(atPath: "\(self.traffic.directory)/\(path)")
            let size = attributes[.size] as? Int
            if !path.hasSuffix("-wal") || size != 0 { sizes[path] = size }
        }
        return sizes
    }

    /// An instance whose host registered in the trimmed part.
    private static let instance = "com.example.scores/host-3:w1"
    private static let home = LoggedTraffic.partition(of: HostKey("host-3"))

    /// The policy that the traffic ran under, with other numbers or the same.
    private func whatIf(_ budget: Int, since: String = "1h") throws -> FreshetProgram.Result {
        try self.run(["what-if", "--policy", try self.policy(budget), "--since", since, "--json", "--quiet"])
    }

    @Test func `what lies behind a state of other decision rules is not replayed by these`() throws {
        for id in self.snapshots[0] + self.snapshots[1] {
            var frames: [[UInt8]] = []
            try self.traffic.journal.read(id) { frames.append($0) }
            // Behind the table's number and the format's version, each of a byte.
            frames[0][2] = 7
            var rest = frames[...]
            try self.traffic.journal.write(id) { rest.popFirst() }
        }
        let log = try LogDirectory(path: self.traffic.directory)
        let start = HistoryStart(log)
        for (before, own) in zip(self.snapshots[1], self.snapshots[2]) {
            let position = try start.engine(of: own.partition, in: log, .oldest(notAfter: nil), only: nil).position
            #expect(position == own.position)
            #expect(throws: HistoryError.tooLongAgo(partition: own.partition, earliest: own.logTime)) {
                _ = try start.engine(of: before.partition, in: log, .newest(notAfter: before.logTime), only: nil)
            }
        }
        let verified = try self.run(["log", "verify", "--quiet"])
        #expect(verified.status == 0, "\(verified.output)")
    }

    @Test func `beside its gateway a log without its beginning answers from the states, and nothing is written`() throws
    {
        let before = try self.files()
        #expect(before["journal-000001.sqlite"] == nil)
        let verify = try self.run(["log", "verify"])
        #expect(verify.status == 0, "\(verify.output)")
        #expect(verify.output.hasSuffix("good\n"))

        let why = try self.run(["why", Self.instance, "--since", "2h", "--json"])
        #expect(why.status == 0, "\(why.errors)")
        #expect(!((why.json["steps"] as? [Any]) ?? []).isEmpty)
        let budget = why.json["budget"] as? [String: Any]
        let address = try #require(InstanceAddress(Self.instance))
        let instance = self.traffic.engines[Self.home].instance(address)
        let view = try #require(instance)
        #expect(budget?["charged"] as? Int == view.budget.charged)

        let stats = try self.run(["log", "stats", "--json"])
        #expect(stats.status == 0, "\(stats.errors)")
        let apps = stats.json["apps"] as? [String: [String: Int]]
        let kinds = stats.json["kinds"] as? [String: [String: Int]]
        let ofHosts = ["push", "delivery"].map { kinds?[$0]?["records"] ?? 0 }
        #expect(ofHosts[0] > 0)
        #expect(apps?[LoggedTraffic.app.rawValue]?["records"] == ofHosts[0] + ofHosts[1])

        let whatIf = try self.whatIf(2)
        #expect(whatIf.status == 0, "\(whatIf.errors)")
        #expect(whatIf.json["policy"] as? String == "other")
        #expect(try self.files() == before)
        // The gateway goes on.
        try self.traffic.run(hosts: 0, knownHosts: 24, pushes: 2, seed: 99)
    }

    @Test func `another policy is tried from the oldest state on, and to the log's end`() throws {
        let log = try LogDirectory(path: self.traffic.directory)
        for number in 0..<LoggedTraffic.partitions {
            var entries = 0
            _ = try TwinRun.run(
                PartitionID(UInt16(number)),
                of: log,
                from: HistoryStart(log),
                PolicyRewrite(.unlimited),
                since: self.traffic.now - .hours(1),
                starvedAfter: .hours(4),
                step: { entries += 1 }
            )
            let end = self.traffic.engines[number].position
            #expect(entries == Int(end.rawValue - self.snapshots[0][number].position.rawValue))
        }
    }

    @Test func `without a state before its first entry nothing is replayed`() throws {
        try FileManager.default.removeItem(atPath: self.folder)
        let whatIf = try self.whatIf(2)
        #expect(whatIf.status == 1, "\(whatIf.output)")
        #expect(whatIf.errors.contains("there is no snapshot"), "\(whatIf.errors)")
        let why = try self.run(["why", Self.instance, "--since", "1h"])
        #expect(why.status == 1)
        #expect(why.errors.contains("there is no snapshot"), "\(why.errors)")
        let verify = try self.run(["log", "verify"])
        #expect(verify.status == 1)
        #expect(verify.output.contains("FAULT missing"), "\(verify.output)")
        // Rows are counted all the same.
        let stats = try self.run(["log", "stats", "--json"])
        #expect(stats.status == 0)
        let apps = stats.json["apps"] as? [String: [String: Int]]
        #expect((apps?[LoggedTraffic.app.rawValue]?["records"] ?? 0) > 0)
    }

    @Test func `a question from before the oldest state is refused with the time from which on it can be asked`() throws
    {
        let oldest = self.snapshots[0][Self.home]
        for result in [try self.run(["why", Self.instance, "--since", "30d"]), try self.whatIf(2, since: "30d")] {
            #expect(result.status == 1, "\(result.output)")
            #expect(result.errors.contains(/only goes back to \d{4}-\d\d-\d\dT[\d:.]+Z/), "\(result.errors)")
        }
        let log = try LogDirectory(path: self.traffic.directory)
        let address = try #require(InstanceAddress(Self.instance))
        #expect(throws: HistoryError.tooLongAgo(partition: oldest.partition, earliest: oldest.logTime)) {
            try InstanceQuestion(address, since: oldest.logTime - .milliseconds(1)).answer(
                from: log,
                HistoryStart(log)
            )
        }
        let trace = try InstanceQuestion(address, since: oldest.logTime).answer(from: log, HistoryStart(log))
        #expect(trace.work.entries == Int(self.traffic.engines[Self.home].position.rawValue - oldest.position.rawValue))
    }

    @Test func `a damaged state is told, passed by, and left where it is`() throws {
        let address = try #require(InstanceAddress(Self.instance))
        let last = try #require(self.snapshots.last)[Self.home]
        let before = self.snapshots[self.snapshots.count - 2][Self.home]
        try self.damage(last)
        let files = try self.files()
        let log = try LogDirectory(path: self.traffic.directory)
        let trace = try InstanceQuestion(address, since: last.logTime).answer(from: log, HistoryStart(log))
        let tail = try log.tail(last.partition)
        #expect(trace.work.entries == Int(tail.rawValue - before.position.rawValue))
        let verify = try self.run(["log", "verify"])
        #expect(verify.status == 1)
        #expect(verify.output.contains("FAULT snapshot: partition \(last.partition)"), "\(verify.output)")
        #expect(verify.output.hasSuffix("1 fault\n"), "\(verify.output)")
        #expect(try self.run(["why", Self.instance, "--since", "1s"]).status == 0)
        #expect(try self.whatIf(2).status == 0)
        #expect(try self.files() == files)

        // Of the oldest the next one takes the place, which reaches less far back.
        let oldest = self.snapshots[0][Self.home]
        try self.damage(oldest)
        #expect(throws: HistoryError.tooLongAgo(partition: before.partition, earliest: before.logTime)) {
            try InstanceQuestion(address, since: oldest.logTime).answer(from: log, HistoryStart(log))
        }
        // And the last one leaves nothing to begin with.
        try self.damage(before)
        #expect(try self.whatIf(2, since: "1s").errors.contains("cannot be used"))
    }

    @Test func `a state that is not the log's is found by a replay`() throws {
        let log = try LogDirectory(path: self.traffic.directory)
        let id = self.snapshots[1][0]
        var engine = try log.engine(id, among: LoggedTraffic.partitions)
        var output = EngineOutput()
        let push = Record.push(self.traffic.push(to: HostKey("host-3"), 1 << 40)).bytes
        try engine.apply(push, in: push.indices, recordIndex: 0, at: id.position, logTime: id.logTime, into: &output)
        var encoder = EngineSnapshotEncoder()
        try self.traffic.journal.write(id) { encoder.next(engine) }
        let check = try ReplayCheck(log, PartitionID(0), snapshots: log)
        #expect(check.faults.map(\.code) == [.snapshot])
        #expect(check.faults.first?.position == id.position.rawValue)
    }
}
