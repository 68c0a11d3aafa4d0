import BasicContainers
import Dispatch
import Engine
import Foundation
import IntentMatching
import JournalSQLite
import Journaling
import Synchronization
import TestSupport
import Timelines
import WidgetModel

/// A log in a directory of its own, as a gateway writes it: entries by a journal, outputs by engines that follow it.
final class LoggedTraffic {
    static let app = BundleID("com.example.scores")
    static let team = TeamID("ABCDE12345")
    static let start = Instant(seconds: 1_793_638_800)
    static let partitions = 2

    let directory: String
    private(set) var now = LoggedTraffic.start
    private(set) var journal: SQLiteJournal
    private(set) var engines = UniqueArray<Engine>()
    private var outputs: [OutputPosition?]
    private(set) var reloads: [ReloadEffect] = []
    private let clock: Mutex<Instant>.Shared
    /// How many effects an output has at most; more are written in pieces.
    private let effectsPerOutput: Int
    /// Where each partition's last output that was no piece came to.
    private var whole: [(through: LogPosition, hash: UInt64)]

    init(fileBytesMax: Int = 40 * 1024, budget: BudgetPolicy = .widgetkit, effectsPerOutput: Int = .max) throws {
        let parent = FileManager.default.temporaryDirectory
        self.directory = parent.appendingPathComponent("freshet-history-\(UUID().uuidString)").path
        let clock = Mutex<Instant>.Shared(Self.start)
        self.clock = clock
        var configuration = SQLiteJournal.Configuration(directory: self.directory, partitions: Self.partitions)
        configuration.fileBytesMax = fileBytesMax
        configuration.commitSpacing = .zero
        self.journal = try SQLiteJournal(configuration: configuration) { clock.value }
        for number in 0..<Self.partitions {
            self.engines.append(Engine(partition: PartitionID(UInt16(number)), partitions: Self.partitions))
        }
        self.outputs = Array(repeating: nil, count: Self.partitions)
        self.whole = Array(repeating: (.start, 0), count: Self.partitions)
        self.effectsPerOutput = effectsPerOutput
        for partition in 0..<Self.partitions { try self.append([.settings(Self.settings(budget))], to: partition) }
    }

    deinit {
        self.journal.close()
        try? FileManager.default.removeItem(atPath: self.directory)
    }

    static func settings(_ budget: BudgetPolicy = .widgetkit) -> EngineSettings {
        EngineSettings(apps: [
            AppSettings(
                app: Self.app,
                team: Self.team,
                kinds: [
                    KindSettings(schema: Self.schema("scores", ["team", "league"]), budget: budget),
                    KindSettings(schema: Self.schema("weather", ["city"]), budget: budget),
                ]
            )
        ])
    }

    private static func schema(_ kind: String, _ parameters: [String]) -> KindSchema {
        let made = try? KindSchema(
            kind: WidgetKind(kind),
            parameters: parameters.map { ParameterSchema($0, .string) }
        )
        guard let made else { preconditionFailure("the schema \(kind) is good") }
        return made
    }

    /// Moves time on.
    func pass(_ interval: Interval) {
        self.now = self.now + interval
        self.clock.set(self.now)
    }

    /// Where a host lives.
    static func partition(of host: HostKey) -> Int {
        Int(PartitionID(of: host, among: Self.partitions).rawValue)
    }

    /// Appends one entry, applies it and commits the effects.
    ///
    /// - Parameter effectsMax: No more outputs are written once they hold so many.
    func append(_ records: [Record], to partition: Int, effectsMax: Int = .max) throws {
        var packed = PackedRecords()
        for record in records { packed.append(record.bytes) }
        let id = PartitionID(UInt16(partition))
        let receipt = try self.wait { done in
            self.journal.append(Submission(partition: id, records: packed)) { done($0) }
        }
        let logTime = try self.journal.read(id, from: receipt.position, entriesMax: 1)[0].logTime
        var output = EngineOutput()
        for (index, range) in packed.ranges.enumerated() {
            try self.engines[partition].apply(
                packed.bytes,
                in: range,
                recordIndex: index,
                at: receipt.position,
                logTime: logTime,
                into: &output
            )
        }
        for case .reload(let reload) in output.effects { self.reloads.append(reload) }
        guard !output.effects.isEmpty else { return }
        let end = (through: receipt.position, hash: self.engines[partition].runningHash)
        var written = 0
        while written < output.effects.count, written < effectsMax {
            let piece = output.effects[written...].prefix(self.effectsPerOutput)
            written += piece.count
            let isLast = written == output.effects.count
            let reached = isLast ? end : self.whole[partition]
            var writer = ByteWriter()
            writer.write(each: Array(piece)) { $1.encode(into: &$0) }
            let record = OutputRecord(
                through: reached.through,
                ahead: isLast ? 0 : UInt64(written),
                engineVersion: UInt32(Engine.version),
                runningHash: reached.hash,
                effects: writer.bytes
            )
            let expected = self.outputs[partition]
            self.outputs[partition] = try self.wait { done in
                self.journal.commitOutput(id, expected: expected, record, whenDurable: done)
            }
            if isLast { self.whole[partition] = end }
        }
    }

    /// A push to all hosts, which comes to many effects.
    ///
    /// - Parameter effectsMax: It ends after so many of them, as a gateway that dies does.
    func pushToAll(_ count: Int, effectsMax: Int = .max) throws {
        self.pass(.hours(1))
        // A host with a reload on its way waits with the next one.
        while !self.reloads.isEmpty {
            let reloads = self.reloads
            self.reloads = []
            for reload in reloads {
                let report = DeliveryReport(host: reload.host, reload: reload.id, result: .acknowledged)
                try self.append([.delivery(report)], to: Self.partition(of: reload.host))
            }
        }
        let push = PushRecord(
            id: PushID(high: 2, low: UInt64(count)),
            team: Self.team,
            contentHash: UInt64(count),
            priority: .high,
            target: .app(Self.app)
        )
        for partition in 0..<Self.partitions { try self.append([.push(push)], to: partition, effectsMax: effectsMax) }
    }

    private func wait<Value: Sendable>(
        _ body: (@escaping @Sendable (Result<Value, JournalError>) -> Void) -> Void
    ) throws -> Value {
        let arrived = DispatchSemaphore(value: 0)
        let answer = Mutex<Result<Value, JournalError>?>.Shared(nil)
        body {
            answer.set($0)
            arrived.signal()
        }
        arrived.wait()
        guard let result = answer.value else { preconditionFailure("no answer") }
        return try result.get()
    }

    /// Hosts that register and pushes to them, some of which are acknowledged: enough for several files.
    ///
    /// - Parameters:
    ///   - hosts: How many register.
    ///   - knownHosts: How many pushes go to, if not only to those.
    func run(hosts: Int = 24, knownHosts: Int? = nil, pushes: Int = 240, seed: UInt64 = 7) throws {
        var random = SplitMix64(seed: seed)
        for number in 0..<hosts { try self.register(number) }
        let hosts = knownHosts ?? hosts
        for count in 0..<pushes {
            self.pass(.seconds(Int64(20 + random.next() % 200)))
            let host = HostKey("host-\(random.next() % UInt64(hosts))")
            let push = self.push(to: host, Int(truncatingIfNeeded: seed << 32) + count)
            try self.append([.push(push)], to: Self.partition(of: host))
            if let reload = self.reloads.popLast() {
                let report = DeliveryReport(host: reload.host, reload: reload.id, result: .acknowledged)
                try self.append([.delivery(report), .tick], to: Self.partition(of: reload.host))
            }
        }
    }

    func register(_ number: Int, revision: UInt64 = 1) throws {
        let host = HostKey("host-\(number)")
        let registration = HostRegistration(
            host: host,
            token: DeviceToken(bytes: [0xAA, UInt8(number >> 8), UInt8(number & 255), 0xBB]),
            revision: revision,
            instances: [
                InstanceRegistration(
                    id: InstanceID("w1"),
                    kind: WidgetKind("scores"),
                    family: .systemSmall,
                    configuration: Configuration([.init(name: "team", value: .string("team-\(number % 4)"))])
                )
            ]
        )
        try self.append([.register(registration)], to: Self.partition(of: host))
    }

    func push(to host: HostKey, _ count: Int) -> PushRecord {
        PushRecord(
            id: PushID(high: 1, low: UInt64(count)),
            team: Self.team,
            contentHash: UInt64(count),
            priority: .high,
            target: .host(host, nil)
        )
    }

    /// Writes every partition's state down.
    ///
    /// - Returns: The snapshots, in the partitions' order.
    @discardableResult
    func snapshot() throws -> [SnapshotID] {
        try self.engines.indices.map { number in
            let (position, time) = (self.engines[number].position, self.engines[number].time)
            let id = SnapshotID(partition: self.engines[number].partition, position: position, logTime: time)
            var encoder = EngineSnapshotEncoder()
            try self.journal.write(id) { encoder.next(self.engines[number]) }
            return id
        }
    }

    /// Traffic with a snapshot of every partition after each of some turns, of which the log keeps what the first snapshot
    /// needs: files are gone from its front.
    ///
    /// - Returns: The snapshots of each turn.
    func runAndTrim(turns: Int = 3) throws -> [[SnapshotID]] {
        var snapshots: [[SnapshotID]] = []
        for turn in 0..<turns {
            try self.run(hosts: turn == 0 ? 24 : 0, knownHosts: 24, seed: UInt64(7 + turn))
            snapshots.append(try self.snapshot())
        }
        let removed = try self.journal.trim(
            through: snapshots[0].map(\.position),
            loggedBefore: self.now
        )
        precondition(removed > 0, "the traffic fills several files")
        return snapshots
    }

    /// A copy of the directory as it is on the disk now.
    func copy() throws -> String {
        let path = self.directory + "-copy-\(UUID().uuidString)"
        try FileManager.default.copyItem(atPath: self.directory, toPath: path)
        return path
    }

    func close() { self.journal.close() }
}

extension Mutex where Value: Sendable {
    /// A value that several threads may read and set.
    final class Shared: Sendable where Value: Sendable {
        private let mutex: Mutex<Value>
        init(_ value: Value) { self.mutex = Mutex(value) }
        var value: Value { self.mutex.withLock { $0 } }
        func set(_ value: Value) { self.mutex.withLock { $0 = value } }
    }
}
