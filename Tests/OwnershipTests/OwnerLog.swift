import Engine
import IntentMatching
import Journaling
import Ownership
import Timelines
import WidgetModel

/// A partition's log and its outputs, in memory, and a machine's way with them: only what a test leaves to it is done.
struct OwnerLog: ~Copyable {
    static let partition = PartitionID(0)
    static let app = BundleID("com.example.scores")
    static let start = Instant(seconds: 1_793_638_800)

    var entries: [LogEntry]
    var outputs: [OutputRecord] = []
    var machine: OwnerMachine
    /// The effects that were handed on.
    var published: [Effect] = []
    var checkpoints: [OwnerCheckpoint] = []
    /// How much of the log is applied in one go.
    var unitsPerSlice = Int.max

    /// A log with the app's settings, and so many hosts that register with three widgets each, an entry each. A widget that
    /// is registered reloads.
    init(hosts: Int, chunkBytesMax: Int = 1 << 20) {
        var records = [Record.settings(Self.settings)]
        records += (0..<hosts).map { Record.register(Self.registration("host-\($0)")) }
        self.entries = records.enumerated().map { Self.entry(UInt64($0.offset) + 1, [$0.element]) }
        self.machine = Self.machine(chunkBytesMax: chunkBytesMax)
    }

    static func machine(chunkBytesMax: Int = 1 << 20) -> OwnerMachine {
        OwnerMachine(Engine(partition: Self.partition, partitions: 1), chunkBytesMax: chunkBytesMax)
    }

    static func entry(_ position: UInt64, _ records: [Record]) -> LogEntry {
        var packed = PackedRecords()
        for record in records { packed.append(record.bytes) }
        return LogEntry(position: LogPosition(position), logTime: Self.start, packed: packed)
    }

    static var settings: EngineSettings {
        guard let schema = try? KindSchema(kind: WidgetKind("scores"), parameters: [ParameterSchema("team", .string)])
        else {
            preconditionFailure("the schema is a good one")
        }
        let kind = KindSettings(schema: schema, budget: .widgetkit)
        return EngineSettings(apps: [AppSettings(app: Self.app, team: TeamID("ABCDE12345"), kinds: [kind])])
    }

    static func registration(_ host: String) -> HostRegistration {
        HostRegistration(
            host: HostKey(app: Self.app, id: HostID(host)),
            token: DeviceToken(bytes: Array("token of \(host)".utf8)),
            revision: 1,
            instances: (0..<3).map {
                InstanceRegistration(
                    id: InstanceID("w\($0)"),
                    kind: WidgetKind("scores"),
                    family: .systemSmall,
                    configuration: Configuration([Configuration.Parameter(name: "team", value: .string("seahawks"))])
                )
            }
        )
    }

    var tickDelay: Interval? { self.machine.tickDelay(at: Self.start, uptime: .zero) }

    var newestOutput: OutputEntry? { self.output(self.outputs.count) }

    /// The output with a number from 1; nil for another one.
    func output(_ number: Int) -> OutputEntry? {
        guard self.outputs.indices.contains(number - 1) else { return nil }
        return OutputEntry(position: OutputPosition(UInt64(number)), record: self.outputs[number - 1])
    }

    /// The state after another process has begun with this log.
    mutating func restart(chunkBytesMax: Int = 1 << 20) throws(OwnerError) {
        self.machine = Self.machine(chunkBytesMax: chunkBytesMax)
        self.published = []
        try self.machine.start(newest: self.newestOutput)
    }

    /// Performs the machine's actions until there is none, or until one is left to the test.
    ///
    /// - Returns: The action that is left to the test: a commit, a step after a failed one, or writing a state.
    mutating func run() throws -> OwnerAction? {
        while true {
            switch try self.step() {
            case nil: if !self.machine.isBehind { return nil }
            case let action? where Self.isLeft(action): return action
            case .some: continue
            }
        }
    }

    private static func isLeft(_ action: OwnerAction) -> Bool {
        switch action {
        case .commit, .awaitRetry, .readNewestOutput, .writeState: true
        case .read, .tell, .publish, .tellCheckpoint: false
        }
    }

    /// Does the next thing that the machine wants done, unless it is left to the test.
    mutating func step() throws -> OwnerAction? {
        var units = self.unitsPerSlice
        guard let action = try self.machine.next(&units) else { return nil }
        switch action {
        case .read(let position):
            // Two at a time, so that more than one reading is needed.
            let entries = Array(self.entries.dropFirst(Int(position.rawValue) - 1).prefix(2))
            try self.machine.takeEntries(.success(entries))
        case .publish(let output): self.published += output.effects
        case .tellCheckpoint(let checkpoint): self.checkpoints.append(checkpoint)
        case .tell, .commit, .awaitRetry, .readNewestOutput, .writeState: break
        }
        return action
    }

    /// The output that the machine wants written next.
    mutating func nextOutput() throws -> (record: OutputRecord, expected: OutputPosition?)? {
        switch try self.run() {
        case .commit(let record, let expected): (record, expected)
        default: nil
        }
    }

    /// Writes an output, and says so.
    mutating func write(_ record: OutputRecord) throws {
        self.outputs.append(record)
        try self.machine.committed(.success(OutputPosition(UInt64(self.outputs.count))))
    }

    /// Writes all outputs that the machine wants written.
    mutating func writeAll() throws {
        while let (record, _) = try self.nextOutput() { try self.write(record) }
    }
}
