import History
import JournalSQLite
import Journaling
import WidgetModel

/// The findings of `freshet log verify`.
struct VerifyReport {
    /// How far one partition was replayed, and to what state.
    struct Replay {
        let partition: PartitionID
        let through: LogPosition
        let stateDigest: UInt64
        let outputs: Int
    }

    private(set) var faults: [LogError]
    private let partitions: [LogSurvey.Partition]
    private(set) var replays: [Replay] = []

    init(_ survey: LogSurvey) {
        self.faults = survey.faults
        self.partitions = survey.partitions
    }

    /// Replays a partition up to its first damaged entry.
    mutating func replay(_ partition: PartitionID, of log: LogDirectory, _ firstFault: LogPosition?) throws {
        do {
            let check = try ReplayCheck(log, partition, snapshots: log, before: firstFault)
            self.faults += check.faults
            self.replays.append(
                Replay(
                    partition: partition,
                    through: check.applied,
                    stateDigest: check.stateDigest,
                    outputs: check.outputsCompared
                )
            )
        } catch let error as JournalError where !self.faults.isEmpty {
            // The survey has told the unreadable rows already; this is the first of them.
            self.faults.append(LogError(.file, partition: partition, "replay: \(error.message)"))
        }
    }

    var text: String {
        let entries = self.partitions.reduce(0) { $0 + $1.entries }
        let outputs = self.partitions.reduce(0) { $0 + $1.outputs }
        let (found, decided) = (NumberText.counted(entries, "entry", "entries"), NumberText.counted(outputs, "output"))
        var text = "\(found) and \(decided) in \(NumberText.counted(self.partitions.count, "partition"))\n"
        for replay in self.replays {
            text +=
                "partition \(replay.partition): replayed through \(replay.through), "
                + "\(NumberText.counted(replay.outputs, "output agrees", "outputs agree")), "
                + "state \(Base16.text(of: replay.stateDigest))\n"
        }
        for fault in self.faults { text += "FAULT \(fault.code.rawValue): \(fault)\n" }
        return text + (self.faults.isEmpty ? "good\n" : "\(NumberText.counted(self.faults.count, "fault"))\n")
    }

    var json: JSONValue {
        .object([
            .init(name: "good", value: .bool(self.faults.isEmpty)),
            .init(name: "faults", value: .array(self.faults.map { Self.json($0) })),
            .init(
                name: "partitions",
                value: .array(
                    self.partitions.enumerated().map { index, partition in
                        let replay = self.replays.first { Int($0.partition.rawValue) == index }
                        let through = replay.map { JSONValue.unsigned($0.through.rawValue) }
                        return .object([
                            .init(name: "partition", value: .int(Int64(index))),
                            .init(name: "entries", value: .int(Int64(partition.entries))),
                            .init(name: "outputs", value: .int(Int64(partition.outputs))),
                            .init(name: "replayedThrough", value: through ?? .null),
                            .init(
                                name: "state",
                                value: replay.map { .string(Base16.text(of: $0.stateDigest)) } ?? .null
                            ),
                        ])
                    }
                )
            ),
        ])
    }

    private static func json(_ fault: LogError) -> JSONValue {
        .object([
            .init(name: "code", value: .string(fault.code.rawValue)),
            .init(name: "file", value: fault.file.map { .string($0) } ?? .null),
            .init(name: "partition", value: fault.partition.map { .int(Int64($0.rawValue)) } ?? .null),
            .init(name: "table", value: fault.table.map { .string($0.rawValue) } ?? .null),
            .init(name: "position", value: fault.position.map { .unsigned($0) } ?? .null),
            .init(name: "sentence", value: .string(fault.sentence)),
        ])
    }
}
