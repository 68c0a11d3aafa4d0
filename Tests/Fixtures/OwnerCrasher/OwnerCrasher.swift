// A gateway without its network, which tests may kill at any point: owners, snapshots and senders over a log on disk.
//
//   OwnerCrasher <directory> <seed> <history in seconds> <pace>
//
// It registers hosts, pushes to them without end, acknowledges what reaches them, and makes one snapshot after the other.
// With a pace above zero only so many pushes come for each snapshot: whatever it waits for, the log stays small.
// It prints `200 <push> <host>` for each push that is durable, `sent <reload>` for each reload that a host gets, and `fault`
// when it comes to the call that FRESHET_FAULT names.

import CrashPoints
import Dispatch
import Engine
import Foundation
import Glibc
import IntentMatching
import JournalSQLite
import Journaling
import Logging
import NIOCore
import NIOPosix
import Ownership
import Partitions
import Settings
import Synchronization
import Timelines
import WidgetModel

@main
enum OwnerCrasher {
    static let partitions = 2
    private static let app = BundleID("com.example.scores")
    private static let team = TeamID("ABCDE12345")
    private static let hosts = 24
    private static let pushesInFlightMax = 32
    /// A file of the log holds some dozens of pushes, so that it begins new ones and lets old ones go all the time.
    private static let fileBytesMax = 24_000
    /// The effects of a push to all are some pieces, so that it dies between two of them as well.
    private static let outputBytesPerCommit = 600

    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 5, let seed = UInt64(arguments[2]), let history = Int64(arguments[3]),
            let pace = Int(arguments[4]), crash_points_are_linked() == 1
        else { exit(64) }
        let clock = LogClock()
        let journal = try SQLiteJournal(
            configuration: SQLiteJournal.Configuration(
                directory: arguments[1],
                partitions: Self.partitions,
                fileBytesMax: Self.fileBytesMax,
                walBytesMax: 262_144,
                commitSpacing: .zero
            ),
            clock: { clock.now() }
        )
        let sinks = PartitionOwner.Sinks(
            hosts: { _, _ in },
            directory: { _, _ in },
            failed: { partition, error in Self.say("failed \(partition) \(error)") }
        )
        let owned = PieceFaults(journal) { Self.say("fault") }
        let loops = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let owners = (0..<Self.partitions).map { number in
            PartitionOwner(
                engine: Engine(partition: PartitionID(UInt16(number)), partitions: Self.partitions),
                partition: PartitionID(UInt16(number)),
                loop: loops.next(),
                services: PartitionOwner.Services(
                    journal: owned,
                    snapshots: journal,
                    clock: clock,
                    logger: Logger(label: "crasher") { _ in SwiftLogNoOpLogHandler() }
                ),
                sinks: sinks,
                outputBytesPerCommit: Self.outputBytesPerCommit
            )
        }
        for owner in owners {
            try await owner.serve { news in
                if case .committed(let output) = news { Self.send(output.effects, journal) }
            }
            _ = try await owner.start { _, _ in }
        }
        let log = CommandLog(journal: journal, owners: owners)
        let settings = try Self.settings()
        if try await log.askAll(InForceQuestion()).contains(where: { $0.settings != settings }) {
            _ = try await log.appendToAll(.settings(settings))
        }
        for number in 0..<Self.hosts {
            let registration = Record.register(try Self.registration(number))
            // The disk may just be failing, as a test wants it.
            while (try? await log.append(registration, for: Self.host(number))) == nil {}
        }
        Self.say("open")
        let snapshotter = Snapshotter(
            owners: owners,
            journal: journal,
            store: journal,
            settings: GatewayConfiguration.Snapshots(history: .seconds(history), niceness: 0),
            clock: clock,
            logger: Logger(label: "crasher") { _ in SwiftLogNoOpLogHandler() }
        )
        let pushes = DispatchSemaphore(value: pace)
        let sender = Task.detached { Self.push(to: journal, seed, pace > 0 ? pushes : nil) }
        while !sender.isCancelled {
            for owner in owners {
                _ = await snapshotter.makeSnapshot(of: owner)
                for _ in 0..<pace { pushes.signal() }
            }
        }
    }

    static func host(_ number: Int) -> HostKey { HostKey(app: Self.app, id: HostID("host-\(number)")) }

    private static func settings() throws -> EngineSettings {
        let schema = try KindSchema(kind: WidgetKind("scores"), parameters: [ParameterSchema("team", .string)])
        let kinds = [KindSettings(schema: schema, budget: .unlimited)]
        return EngineSettings(apps: [AppSettings(app: Self.app, team: Self.team, kinds: kinds)])
    }

    /// The same whenever it is made: a process that is started again changes nothing.
    private static func registration(_ number: Int) throws -> HostRegistration {
        HostRegistration(
            host: Self.host(number),
            token: DeviceToken(bytes: Array("token of \(number)".utf8)),
            revision: 1,
            instances: (0..<2).map { instance in
                let team = ParameterValue.string("team-\((number + instance) % 5)")
                return InstanceRegistration(
                    id: InstanceID("w\(instance)"),
                    kind: WidgetKind("scores"),
                    family: .systemSmall,
                    configuration: Configuration([Configuration.Parameter(name: "team", value: team)])
                )
            }
        )
    }

    /// Sends reloads, and acknowledges them: either may be the last act of the process.
    private static func send(_ effects: [Effect], _ journal: SQLiteJournal) {
        var batches: [PartitionID: PackedRecords] = [:]
        for case .reload(let reload) in effects {
            self.dieIfSending()
            self.say("sent \(reload.id)")
            batches[reload.id.partition, default: PackedRecords()].append {
                Record.delivery(DeliveryReport(host: reload.host, reload: reload.id, result: .acknowledged)).encode(
                    into: &$0
                )
            }
        }
        for (partition, records) in batches {
            journal.append(Submission(partition: partition, records: records)) { _ in }
        }
    }

    /// FRESHET_FAULT=send:<n>:before, of which the C library knows nothing.
    private static let sends = Atomic<Int>(0)
    private static let lastSend: Int? = {
        let parts = ProcessInfo.processInfo.environment["FRESHET_FAULT"]?.split(separator: ":") ?? []
        return parts.first == "send" ? Int(parts[1]) : nil
    }()

    private static func dieIfSending() {
        guard let last = self.lastSend else { return }
        if self.sends.wrappingAdd(1, ordering: .relaxed).newValue == last {
            self.say("fault")
            kill(getpid(), SIGKILL)
        }
    }

    /// Pushes without end, each to one host or, now and then, to all.
    ///
    /// - Parameter allowed: Has one for each push that may go out; nil for as fast as they are answered.
    private static func push(to journal: SQLiteJournal, _ seed: UInt64, _ allowed: DispatchSemaphore?) {
        let room = DispatchSemaphore(value: Self.pushesInFlightMax)
        var number: UInt64 = 0
        while true {
            allowed?.wait()
            room.wait()
            number += 1
            let id = PushID(high: seed, low: number)
            let host = Int((number &* 7 &+ seed) % UInt64(Self.hosts))
            let isForAll = number.isMultiple(of: 41)
            var builder = SubmissionBuilder(partitions: Self.partitions)
            let told: @Sendable (Result<Void, JournalError>) -> Void = { result in
                if case .success = result { Self.say("200 \(id) \(isForAll ? "all" : Self.host(host).id.rawValue)") }
                room.signal()
            }
            if isForAll {
                builder.appendToAll(.push(Self.record(id, .app(Self.app))))
                guard let submission = builder.takeToAll() else { preconditionFailure("there is something for all") }
                journal.appendToAll(submission, whenDurable: told, whenPlaced: { _ in })
            } else {
                _ = builder.append(.push(Self.record(id, .host(Self.host(host), nil))), for: Self.host(host))
                for submission in builder.takeSubmissions() { journal.append(submission) { told($0.map { _ in () }) } }
            }
        }
    }

    private static func record(_ id: PushID, _ target: PushDestination) -> PushRecord {
        PushRecord(id: id, team: Self.team, contentHash: id.low, priority: .high, target: target)
    }

    /// One write for one line, so that a kill cannot cut it.
    private static func say(_ line: String) {
        let bytes = Array((line + "\n").utf8)
        // Sound: only the array's bytes are read.
        _ = unsafe bytes.withUnsafeBytes { unsafe write(STDOUT_FILENO, $0.baseAddress, $0.count) }
    }
}
