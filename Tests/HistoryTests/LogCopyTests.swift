import Foundation
import History
import JournalSQLite
import Journaling
import Synchronization
import Testing
import WidgetModel

/// Copies of a log that goes on meanwhile.
@Suite struct LogCopyTests {
    /// A log as a copy meets it: it may lose its older part while it is read.
    private final class Source: SourceLog {
        private let log: LogDirectory
        /// How many reads of entries fail, as those of a trimmed log do.
        private let faults: Mutex<Int>

        init(_ log: LogDirectory, faults: Int = 0) {
            self.log = log
            self.faults = Mutex(faults)
        }

        var format: JournalFormat { self.log.format }
        func head(_ partition: PartitionID) throws(JournalError) -> LogPosition { self.log.head(partition) }

        func read(_ partition: PartitionID, from position: LogPosition, entriesMax: Int) throws(JournalError)
            -> [LogEntry]
        {
            let isTrimmed = self.faults.withLock { faults in
                faults -= 1
                return faults >= 0
            }
            if isTrimmed { throw JournalError(.corrupt, "the log begins later") }
            return try self.log.read(partition, from: position, entriesMax: min(entriesMax, 7))
        }

        func readOutputs(_ partition: PartitionID, from position: OutputPosition, outputsMax: Int) throws(JournalError)
            -> [OutputEntry]
        {
            try self.log.readOutputs(partition, from: position, outputsMax: min(outputsMax, 5))
        }

        func snapshots(_ partition: PartitionID) throws(JournalError) -> [SnapshotID] {
            try self.log.snapshots(partition)
        }

        func read(_ id: SnapshotID, wanting isWanted: (UInt8) -> Bool, _ body: ([UInt8]) throws -> Void) throws {
            try self.log.read(id, wanting: isWanted, body)
        }

        func outputRange(_ partition: PartitionID) throws(JournalError) -> ClosedRange<OutputPosition>? {
            try self.log.outputRange(partition)
        }
    }

    private static let all = (0..<LoggedTraffic.partitions).map { PartitionID(UInt16($0)) }

    /// - Parameter cuts: Where the copy is to end, the first time and then; the last one stays.
    private static func copy(_ source: any SourceLog, at cuts: [LogPosition]..., to target: String) throws {
        let directory = DirectorySuccessor(path: target)
        var left = cuts
        try LogCopy(of: source, to: directory).run(to: { left.count > 1 ? left.removeFirst() : left[0] })
        #expect(!FileManager.default.fileExists(atPath: target))
        try directory.finish { (path) throws(JournalError) in
            if let fault = LogSurvey(of: path).faults.first { throw JournalError(.corrupt, fault.description) }
        }
    }

    private static func ends(_ log: LogDirectory) throws -> [LogPosition] { try Self.all.map { try log.tail($0) } }

    /// Expects of a copy that it is the log at a cut: the same entries, and by a replay the same states.
    private static func expect(_ target: String, _ traffic: LoggedTraffic, at cut: [LogPosition]) throws {
        #expect(try verify(target) == [])
        let (log, copy) = (try LogDirectory(path: traffic.directory), try LogDirectory(path: target))
        #expect(copy.format == log.format)
        #expect(try Self.ends(copy) == cut)
        for (partition, end) in zip(Self.all, cut) {
            let first = copy.head(partition)
            let copied = try copy.read(partition, from: first, entriesMax: 1000)
            let entries = try log.read(partition, from: first, entriesMax: 1000).filter { $0.position <= end }
            #expect(copied == entries && !entries.isEmpty)
            let whole = try ReplayCheck(log, partition, snapshots: log, before: end.next)
            let check = try ReplayCheck(copy, partition, snapshots: copy)
            let (expected, digest, compared) = (whole.stateDigest, check.stateDigest, check.outputsCompared)
            #expect(digest == expected && compared > 0)
            let newest = try #require(try copy.newestOutput(partition))
            #expect(newest.record.ahead == 0 && newest.record.through <= end)
            #expect(try log.readOutputs(partition, from: newest.position, outputsMax: 1) == [newest])
        }
    }

    /// Traffic with a state of each partition, and more behind it.
    private static func traffic(effectsPerOutput: Int = .max) throws -> LoggedTraffic {
        let traffic = try LoggedTraffic(effectsPerOutput: effectsPerOutput)
        try traffic.run(hosts: 12, pushes: 60)
        try traffic.snapshot()
        try traffic.run(hosts: 0, knownHosts: 12, pushes: 40, seed: 8)
        return traffic
    }

    @Test func `a copy ends at the cut, though the log goes on, and a journal goes on from it`() throws {
        let traffic = try Self.traffic(effectsPerOutput: 2)
        let target = traffic.directory + "-copy"
        defer { try? FileManager.default.removeItem(atPath: target) }
        let cut = try Self.ends(LogDirectory(path: traffic.directory))
        // Of its many outputs, the first are chunks and go no further than the cut.
        try traffic.pushToAll(1)
        let log = try LogDirectory(path: traffic.directory)
        #expect(try Self.ends(log) != cut)
        try Self.copy(Source(log), at: cut, to: target)
        try Self.expect(target, traffic, at: cut)
        for partition in Self.all {
            let states = try log.snapshots(partition)
            #expect(try LogDirectory(path: target).snapshots(partition) == states && states.count == 1)
        }
        let now = traffic.now
        let configuration = SQLiteJournal.Configuration(directory: target, partitions: LoggedTraffic.partitions)
        let journal = try SQLiteJournal(configuration: configuration) { now }
        #expect(journal.format == traffic.journal.format)
        journal.close()
    }

    @Test func `an output that its owner has not completed is left out, and decided again from its entries`() throws {
        let traffic = try Self.traffic(effectsPerOutput: 1)
        let target = traffic.directory + "-copy"
        defer { try? FileManager.default.removeItem(atPath: target) }
        try traffic.pushToAll(1, effectsMax: 2)
        let log = try LogDirectory(path: traffic.directory)
        for partition in Self.all { #expect(try log.newestOutput(partition)?.record.ahead == 2) }
        try Self.copy(log, at: Self.ends(log), to: target)
        try Self.expect(target, traffic, at: Self.ends(log))
    }

    @Test func `a log without states is copied from its beginning`() throws {
        let traffic = try LoggedTraffic()
        let target = traffic.directory + "-copy"
        defer { try? FileManager.default.removeItem(atPath: target) }
        try traffic.run(hosts: 6, pushes: 300)
        let log = try LogDirectory(path: traffic.directory)
        try Self.copy(log, at: Self.ends(log), to: target)
        try Self.expect(target, traffic, at: Self.ends(log))
        #expect(Self.all.allSatisfy { log.head($0) == LogPosition.start.next })
    }

    @Test func `one that loses its older part meanwhile is copied anew from a newer state, and not for ever`() throws {
        let traffic = try Self.traffic()
        let target = traffic.directory + "-copy"
        defer {
            for path in [target, target + ".partial"] { try? FileManager.default.removeItem(atPath: path) }
        }
        let first = try Self.ends(LogDirectory(path: traffic.directory))
        try traffic.run(hosts: 2, knownHosts: 12, pushes: 20, seed: 9)
        let newer = try traffic.snapshot()
        try traffic.run(hosts: 0, knownHosts: 12, pushes: 40, seed: 10)
        let log = try LogDirectory(path: traffic.directory)
        let second = try Self.ends(log)
        let fault = #expect(throws: JournalError.self) {
            try Self.copy(Source(log, faults: 1000), at: first, second, to: target)
        }
        #expect(fault?.code == .unavailable && fault?.message.contains("(the log begins later)") == true)
        try Self.copy(Source(log, faults: 2), at: first, second, to: target)
        try Self.expect(target, traffic, at: second)
        #expect(try Self.all.map { try LogDirectory(path: target).snapshots($0) } == newer.map { [$0] })
    }

    @Test func `a damaged state is not copied, but the one before and all behind it`() throws {
        let traffic = try Self.traffic()
        let target = traffic.directory + "-copy"
        defer { try? FileManager.default.removeItem(atPath: target) }
        let log = try LogDirectory(path: traffic.directory)
        let older = try Self.all.map { try log.snapshots($0) }
        try traffic.snapshot()
        try traffic.run(hosts: 0, knownHosts: 12, pushes: 20, seed: 9)
        let folder = traffic.directory + "/snapshots"
        let newest = try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasPrefix("0000-") }.max()
        let path = "\(folder)/\(try #require(newest))"
        var bytes = [UInt8](try Data(contentsOf: URL(filePath: path)))
        bytes[bytes.count / 2] ^= 1
        try Data(bytes).write(to: URL(filePath: path))
        let damaged = try LogDirectory(path: traffic.directory)
        try Self.copy(damaged, at: Self.ends(damaged), to: target)
        #expect(try verify(target) == [])
        #expect(try LogDirectory(path: target).snapshots(Self.all[0]) == older[0])
        #expect(try LogDirectory(path: target).snapshots(Self.all[1]) != older[1])
    }
}
