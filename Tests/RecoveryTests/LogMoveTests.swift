#if JetStream
import BrokerSupport
import Engine
import Foundation
import History
import IntentMatching
import JournalContract
import JournalJetStream
import JournalSQLite
import Journaling
import Logging
import Ownership
import Partitions
import Testing
import WidgetModel

/// A log moves between a data directory and brokers, and is decided there as it would have been where it was.
@Suite(.enabled(if: Brokers.isThere, "make setup installs nats-server"), .timeLimit(.minutes(60)))
struct LogMoveTests {
    private static let partitions = 2
    private static let all = (0..<partitions).map { PartitionID(UInt16($0)) }
    private static let app = BundleID("com.example.scores")
    private static let team = TeamID("ABCDE12345")
    private static let hosts = 12

    // MARK: Records

    private static func host(_ number: Int) -> HostKey { HostKey(app: app, id: HostID("host-\(number)")) }

    private static func settings() throws -> Record {
        let schema = try KindSchema(kind: WidgetKind("scores"), parameters: [ParameterSchema("team", .string)])
        let kinds = [KindSettings(schema: schema)]
        return .settings(EngineSettings(apps: [AppSettings(app: app, team: team, kinds: kinds)]))
    }

    private static func registration(_ number: Int, revision: UInt64 = 1) -> Record {
        .register(
            HostRegistration(
                host: host(number),
                token: DeviceToken(bytes: Array("token of \(number)".utf8)),
                revision: revision,
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
        )
    }

    private static func push(_ number: UInt64, _ target: PushDestination) -> Record {
        let id = PushID(high: 1, low: number)
        return .push(PushRecord(id: id, team: team, contentHash: number, priority: .high, target: target))
    }

    /// Appends a record to a host's partition, or to all.
    private static func append(_ record: Record, for host: HostKey? = nil, to journal: any Journal) throws {
        var builder = SubmissionBuilder(partitions: partitions)
        if let host { _ = builder.append(record, for: host) } else { builder.appendToAll(record) }
        if let submission = builder.takeToAll() { _ = try journal.appendToAll(submission).get() }
        for submission in builder.takeSubmissions() { _ = try journal.append(submission).get() }
    }

    /// Pushes to hosts and to all, of which the first few come again; acknowledgements of some that are out; an order, a
    /// registration and a removal.
    private static func appendTraffic(_ first: UInt64, to journal: any Journal, acknowledging: [ReloadEffect]) throws {
        for number in first..<first + 30 {
            let host = number % 7 == 0 ? nil : host(Int(number) % hosts)
            let target = host.map { PushDestination.host($0, nil) } ?? .app(app)
            try append(push(number % 190, target), for: host, to: journal)
        }
        for reload in acknowledging {
            let report = DeliveryReport(host: reload.host, reload: reload.id, result: .acknowledged)
            try append(.delivery(report), for: reload.host, to: journal)
        }
        try append(.order(OperatorOrder(.grant(1), .host(host(3)))), for: host(3), to: journal)
        try append(.order(OperatorOrder(.pause(until: nil), .kind(app, WidgetKind("scores")))), to: journal)
        try append(push(first + 100, .app(app)), to: journal)
        try append(.order(OperatorOrder(.resume, .kind(app, WidgetKind("scores")))), to: journal)
        try append(registration(4, revision: first + 2), for: host(4), to: journal)
    }

    // MARK: Logs

    private static let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    private static func open(_ directory: String, _ clock: @escaping @Sendable () -> Instant) throws -> SQLiteJournal {
        try SQLiteJournal(configuration: .init(directory: directory, partitions: partitions), clock: clock)
    }

    /// Decides everything, with snapshots that hold it, and closes the log.
    private static func settle(_ journal: any Journal & SnapshotStore, _ clock: LogClock = LogClock()) async throws {
        let settling = LogSettling(journal: journal, store: journal, clock: clock, logger: logger)
        _ = try await settling.run { _, _, _ in }
    }

    /// The state of every partition: its newest entry, and its state's digest.
    private static func states(_ log: any SourceLog) throws -> [String] {
        try all.map { partition in
            let id = try #require(try log.snapshots(partition).first)
            let engine = try log.engine(id, among: partitions)
            let (faults, hash) = (engine.checkInvariants(), engine.runningHash)
            #expect(faults == [])
            let newest = try log.newestOutputs(partition, max: 1).last
            #expect(newest?.record.through == id.position && newest?.record.runningHash == hash)
            return "\(id.position) \(engine.stateDigest())"
        }
    }

    /// The reloads among a log's outputs.
    private static func reloads(_ log: any SourceLog) throws -> [ReloadEffect] {
        try all.flatMap { try log.newestOutputs($0, max: 1000) }.flatMap { output in
            try output.record.readEffects().compactMap { if case .reload(let reload) = $0 { reload } else { nil } }
        }
    }

    /// Has a directory go on with the entries that a log has behind it, at the same times, and comes to the same states by the same
    /// decisions.
    private static func expectSame(_ directory: String, goingOnAs log: any SourceLog) async throws {
        let time = Shared(Instant.epoch)
        let tails = try all.map { try LogDirectory(path: directory).tail($0) }
        let journal = try open(directory) { time.value }
        for (partition, tail) in zip(all, tails) {
            var next = tail.next
            while case let entries = try log.read(partition, from: next, entriesMax: 64), let last = entries.last {
                for entry in entries {
                    time.set(entry.logTime)
                    let receipt = try journal.append(Submission(partition: partition, records: entry.packed)).get()
                    #expect(receipt.position == entry.position)
                }
                next = last.position.next
            }
            #expect(next.rawValue > tail.rawValue + 1)
        }
        try await settle(journal)
        let copy = try LogDirectory(path: directory)
        for (partition, state) in zip(all, try states(log)) {
            let end = try #require(try log.snapshots(partition).first).position
            let check = try ReplayCheck(copy, partition, snapshots: copy, before: end.next)
            #expect(check.faults == [])
            #expect("\(check.applied) \(check.stateDigest)" == state)
        }
    }

    /// The bytes of the files in a directory, by name; without the lock file, and the files that SQLite keeps beside a
    /// file to read it.
    private static func content(_ directory: String) throws -> [String: Data] {
        let names = try FileManager.default.subpathsOfDirectory(atPath: directory)
        return names.reduce(into: [:]) { content, name in
            guard name != "lock", !name.hasSuffix("-shm"), !name.hasSuffix("-wal") else { return }
            content[name] = FileManager.default.contents(atPath: "\(directory)/\(name)")
        }
    }

    @Test func `a log goes on at brokers as in its directory, and in a directory as at the brokers`() async throws {
        let brokers = try Brokers()
        let folder = "\(brokers.folder)/moves"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let (data, copy, back) = ("\(folder)/data", "\(folder)/copy", "\(folder)/back")

        // Hours ago, so that waiting causes are due when the log goes on.
        let begin = LogClock.wallTime() - .hours(3)
        let time = Shared(begin)
        let journal = try Self.open(data) { time.value }
        try Self.append(try Self.settings(), to: journal)
        for number in 0..<Self.hosts {
            try Self.append(Self.registration(number), for: Self.host(number), to: journal)
            time.set(time.value + .minutes(1))
        }
        try Self.appendTraffic(1, to: journal, acknowledging: [])
        let end = time.value
        try await Self.settle(journal, LogClock(monotonicNanoseconds: { 0 }, wall: { end }))
        let before = try Self.content(data)
        let log = try LogDirectory(path: data)
        _ = try LogBackup(from: data, to: copy).copy(check: { _ in })

        let configuration = try Self.configuration(brokers)
        let successor = try JetStreamSuccessor(configuration)
        let parts = try LogMove(of: log).run(to: successor)
        #expect(parts.map(\.hosts).reduce(0, +) == Self.hosts)
        #expect(parts.allSatisfy { $0.stateBytes > 0 && $0.outputs > 0 })
        #expect(try LogMove(of: log).run(to: nil) == parts)
        try successor.finish()
        #expect(try Self.content(data) == before)
        #expect(try Self.states(JetStreamHistory(configuration)) == Self.states(log))

        // Outstanding reloads stay outstanding, and new records are decided by the moved state.
        let reloads = try Self.reloads(log)
        #expect(reloads.count > 8)
        try await Self.goOn(configuration, 200, Array(reloads.prefix(8)))
        try await Self.expectSame(copy, goingOnAs: JetStreamHistory(configuration))

        let directory = DirectorySuccessor(path: back)
        _ = try LogMove(of: JetStreamHistory(configuration)).run(to: directory)
        #expect(!FileManager.default.fileExists(atPath: back))
        try directory.finish()
        #expect(LogSurvey(of: back).faults == [])
        #expect(try Self.states(LogDirectory(path: back)) == Self.states(JetStreamHistory(configuration)))
        #expect(throws: JournalError.self) { try directory.check(log.format) }
        try await Self.goOn(configuration, 400, [])
        try await Self.expectSame(back, goingOnAs: JetStreamHistory(configuration))
        #expect(LogSurvey(of: back).faults == [])

        // Nothing is left out: undecided entries have to be decided first.
        let more = try Self.open(data) { LogClock.wallTime() }
        try Self.append(Self.push(900, .host(Self.host(1), nil)), for: Self.host(1), to: more)
        more.close()
        let partition = PartitionID(of: Self.host(1), among: Self.partitions)
        let fault = #expect(throws: LogMove.MoveError.self) { try LogMove(of: LogDirectory(path: data)).run(to: nil) }
        #expect(fault == .unsettled(partition))
        #expect(fault?.description.hasSuffix("run freshet settle for its data directory first") == true)
    }

    @Test func `a copy that is made while the log goes on is decided as the log is, and can be moved then`()
        async throws
    {
        let brokers = try Brokers()
        let (configuration, path) = (try Self.configuration(brokers), "\(brokers.folder)/copy")
        let journal = try JetStreamJournal(configuration: configuration) { LogClock.wallTime() }
        try Self.append(try Self.settings(), to: journal)
        for number in 0..<Self.hosts { try Self.append(Self.registration(number), for: Self.host(number), to: journal) }
        try Self.appendTraffic(1, to: journal, acknowledging: [])
        try journal.waitUntilPlaced()
        try await Self.settle(journal)
        // What comes now is decided by none yet.
        let open = try JetStreamJournal(configuration: configuration) { LogClock.wallTime() }
        let log = try JetStreamHistory(configuration)
        try Self.appendTraffic(200, to: open, acknowledging: Array(try Self.reloads(log).suffix(4)))
        let directory = DirectorySuccessor(path: path)
        try LogCopy(of: log, to: directory).run(to: log.cut)
        try directory.finish()
        #expect(LogSurvey(of: path).faults == [])
        let copy = try LogDirectory(path: path)
        #expect(try Self.all.map { try copy.tail($0) } == log.cut())
        #expect(throws: LogMove.MoveError.self) { try LogMove(of: copy).run(to: nil) }
        open.close()
        try await Self.goOn(configuration, 400, [])
        try await Self.expectSame(path, goingOnAs: JetStreamHistory(configuration))
        #expect(LogSurvey(of: path).faults == [])
        #expect(try LogMove(of: LogDirectory(path: path)).run(to: nil).map(\.hosts).reduce(0, +) == Self.hosts)
    }

    private static func configuration(_ brokers: Brokers) throws -> JetStreamJournal.Configuration {
        let files = try brokers.passwordFiles()
        let access = BrokerAccess(
            servers: brokers.servers,
            credentials: .password(user: Brokers.user.name, file: files.user)
        )
        return JetStreamJournal.Configuration(
            access: access,
            systemCredentials: .password(user: Brokers.systemUser.name, file: files.systemUser),
            cluster: "moved",
            partitions: Self.partitions,
            replicas: 1,
            streamBytesMax: 40_000_000,
            patienceMilliseconds: 600_000
        )
    }

    /// Appends to the log at the brokers, and decides it.
    private static func goOn(
        _ configuration: JetStreamJournal.Configuration,
        _ first: UInt64,
        _ acknowledged: [ReloadEffect]
    ) async throws {
        let journal = try JetStreamJournal(configuration: configuration) { LogClock.wallTime() }
        try self.appendTraffic(first, to: journal, acknowledging: acknowledged)
        try journal.waitUntilPlaced()
        try await self.settle(journal)
    }
}
#endif
