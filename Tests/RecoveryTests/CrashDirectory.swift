import Engine
import Foundation
import JournalSQLite
import Journaling
import Logging
import NIOCore
import NIOPosix
import Ownership
import Synchronization
import TestSupport
import Testing
import WidgetModel
@testable import Partitions

/// A data directory in which one `OwnerCrasher` after the other dies, and what they promised.
final class CrashDirectory {
    private let path: String
    private let history: Int
    /// The pushes that were answered 200, with the host or `all`.
    private var accepted: [(id: PushID, target: String)] = []
    private var sent: Set<ReloadID> = []

    static let partitions = 2

    /// - Parameter history: How many seconds of log the crashers keep.
    init(history: Int) throws {
        self.path = Self.parent.appendingPathComponent("freshet-crash-\(UUID().uuidString)").path
        self.history = history
        try FileManager.default.createDirectory(atPath: self.path, withIntermediateDirectories: true)
    }

    /// Memory if it can be: a kill takes away nothing that the kernel has, wherever it keeps it, and waiting for a disk that
    /// others are busy with shows nothing more.
    private static let parent: URL = {
        let memory = "/dev/shm"
        let isWritable = FileManager.default.isWritableFile(atPath: memory)
        return isWritable ? URL(filePath: memory) : FileManager.default.temporaryDirectory
    }()

    deinit { try? FileManager.default.removeItem(atPath: self.path) }

    private var data: String { self.path + "/data" }

    /// No fault is reached later: a gateway that has said so much without coming to it never will.
    private static let linesBeforeFaultMax = 100_000

    /// Runs a gateway until it dies of the fault, or is killed.
    ///
    /// - Parameters:
    ///   - fault: Where something happens to it, which has to be reached; nil for nowhere.
    ///   - linesMax: It is killed once it has said so many lines since the fault, or since its start if there is none.
    ///   - pace: How many pushes come for each snapshot; 0 for as many as are answered.
    ///   - seed: Of the pushes' ids.
    func run(fault: String?, linesMax: Int, pace: Int, seed: UInt64) throws {
        let process = Process()
        let output = Pipe()
        let program = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        process.executableURL = URL(fileURLWithPath: program).deletingLastPathComponent()
            .appendingPathComponent("OwnerCrasher")
        process.arguments = [self.data, String(seed), String(self.history), String(pace)]
        process.standardOutput = output
        process.environment = ProcessInfo.processInfo.environment.merging(["FRESHET_FAULT": fault ?? ""]) { $1 }
        try process.run()
        var unread: [UInt8] = []
        var lines = 0
        var isReached = fault == nil
        while true {
            let bytes = output.fileHandleForReading.availableData
            if bytes.isEmpty { break }
            unread.append(contentsOf: bytes)
            while let end = unread.firstIndex(of: 0x0A) {
                lines += 1
                let line = String(decoding: unread[..<end], as: UTF8.self)
                unread.removeFirst(end + 1)
                if line == "fault" {
                    (isReached, lines) = (true, 0)
                } else {
                    self.take(line)
                }
            }
            // Its lines between this and its death are read as well.
            let isEnough = lines >= (isReached ? linesMax : Self.linesBeforeFaultMax)
            if isEnough { kill(process.processIdentifier, SIGKILL) }
        }
        #expect(isReached, "\(fault ?? "none"): it never came to that")
        process.waitUntilExit()
        #expect(process.terminationReason == .uncaughtSignal, "\(fault ?? "none"): ended by itself")
    }

    private func take(_ line: String) {
        let words = line.split(separator: " ").map(String.init)
        switch words.first {
        case "200":
            if words.count == 3, let id = PushID(words[1]) {
                self.accepted.append((id, words[2]))
            } else {
                Issue.record("\(line)")
            }
        case "sent":
            if words.count == 2, let id = ReloadID(words[1]) {
                self.sent.insert(id)
            } else {
                Issue.record("\(line)")
            }
        case "open": break
        default: Issue.record("\(line)")
        }
    }

    /// Opens the directory as a start does, and compares with a clean replay and with the promises.
    func check(_ round: String) async throws {
        let journal = try SQLiteJournal(
            configuration: SQLiteJournal.Configuration(
                directory: self.data,
                partitions: Self.partitions,
                fileBytesMax: 24_000,
                walBytesMax: 262_144,
                commitSpacing: .zero
            ),
            clock: { LogClock.wallTime() }
        )
        defer { journal.close() }
        var engines: [RecoveredEngine] = []
        for number in 0..<Self.partitions {
            let partition = PartitionID(UInt16(number))
            let recovered = try await self.recovered(partition, journal)
            engines.append(recovered)
            #expect(recovered.engine.checkInvariants() == [], "\(round)")
            try self.compare(recovered.engine, partition, journal, round)
        }
        for (id, target) in self.accepted {
            let found = engines.enumerated().filter { !$0.element.engine.push(id).isEmpty }.map(\.offset)
            let expected = target == "all" ? [0, 1] : [Int(PartitionID(of: HostKey(target), among: 2).rawValue)]
            if found != expected { Issue.record("push \(id) to \(target) was answered 200 and is lost: \(round)") }
        }
        let ended = engines.map { $0.engine.stats() }
        for stats in ended { #expect(stats.outcomes.total == stats.matched, "\(round)") }
    }

    private final class RecoveredEngine: Sendable {
        let engine: Engine

        init(_ engine: consuming Engine) { self.engine = engine }
    }

    /// The engine of an owner that has just started.
    private func recovered(_ partition: PartitionID, _ journal: SQLiteJournal) async throws -> RecoveredEngine {
        let failure = Mutex<String?>(nil)
        let owner = PartitionOwner(
            engine: Engine(partition: partition, partitions: Self.partitions),
            partition: partition,
            loop: MultiThreadedEventLoopGroup.singleton.next(),
            services: PartitionOwner.Services(
                journal: journal,
                snapshots: journal,
                clock: LogClock(),
                logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
            ),
            sinks: PartitionOwner.Sinks(
                hosts: { _, _ in },
                directory: { _, _ in },
                failed: { partition, error in failure.withLock { $0 = "\(partition): \(error)" } }
            )
        )
        _ = try await owner.start { _, _ in }
        _ = try await owner.ask(ProgressQuestion())
        let recovered = try await owner.loop.submit { RecoveredEngine(owner.state.value.engine.duplicate()) }.get()
        #expect(failure.withLock { $0 } == nil)
        return recovered
    }

    /// Compares a state with a replay from as far back as the log goes, and the effects with the committed and sent
    /// ones.
    private func compare(
        _ engine: borrowing Engine,
        _ partition: PartitionID,
        _ journal: SQLiteJournal,
        _ round: String
    ) throws {
        let first = try journal.firstEntry(partition)
        var replayed = Engine(partition: partition, partitions: Self.partitions)
        let isWhole = first == LogPosition.start.next
        if !isWhole {
            let base = try #require(try journal.snapshots(partition).last { $0.position.next >= first }, "\(round)")
            var decoder = EngineSnapshotDecoder(partition: partition, partitions: Self.partitions)
            try journal.read(base) { try decoder.takeFrame($0) }
            replayed = try decoder.finish()
        }
        var issued: [ReloadID: Bool] = [:]
        while replayed.position < engine.position {
            let entries = try journal.read(partition, from: replayed.position.next, entriesMax: 100)
            try #require(!entries.isEmpty, "\(round)")
            for entry in entries where entry.position <= engine.position {
                var output = EngineOutput()
                for range in entry.records {
                    try replayed.apply(
                        entry.bytes,
                        in: range,
                        recordIndex: 0,
                        at: entry.position,
                        logTime: entry.logTime,
                        into: &output
                    )
                }
                for case .reload(let reload) in output.effects {
                    #expect(
                        issued.updateValue(reload.isCharged, forKey: reload.id) == nil,
                        "\(reload.id) twice: \(round)"
                    )
                }
            }
        }
        #expect(replayed.stateDigest() == engine.stateDigest(), "\(round)")
        #expect(replayed.runningHash == engine.runningHash, "\(round)")
        guard isWhole else { return }
        // The whole log is there, so every effect that was ever committed must be one that it gives, and once.
        #expect(issued.values.count { $0 } == engine.stats().reloadsCharged, "\(round)")
        let committed = try self.committed(partition, journal)
        #expect(Set(committed).count == committed.count, "an effect was committed twice: \(round)")
        // The owner that was started has gone on since, by a tick perhaps.
        #expect(committed.allSatisfy { $0.position > engine.position || issued[$0] != nil }, "\(round)")
        let sent = self.sent.filter { $0.partition == partition }
        #expect(sent.isSubset(of: Set(committed)), "something was sent that was not committed: \(round)")
    }

    private func committed(_ partition: PartitionID, _ journal: SQLiteJournal) throws -> [ReloadID] {
        var ids: [ReloadID] = []
        var next = OutputPosition.first
        while true {
            let outputs = try journal.readOutputs(partition, from: next, outputsMax: 100)
            guard let last = outputs.last else { return ids }
            for output in outputs {
                for case .reload(let reload) in try output.record.readEffects() { ids.append(reload.id) }
            }
            next = last.position.next
        }
    }
}
