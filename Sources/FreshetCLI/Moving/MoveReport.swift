import Journaling
import Partitions
import WidgetModel

/// The result of a move of a log.
struct MoveReport {
    /// Told how far a move is, and whether that is the last word.
    typealias Progress = @Sendable (_ text: String, _ isLast: Bool) -> Void

    var parts: [LogMove.Part] = []
    /// Bytes of the files that are kept beside the log.
    var besideBytes = 0
    /// The steps that were done, a sentence each.
    var sentences: [String] = []

    private var stateBytes: Int { self.parts.reduce(0) { $0 + $1.stateBytes } }

    var text: String {
        var lines = self.parts.map { part in
            "partition \(part.partition): entry \(part.position), output \(part.newestOutput?.description ?? "–"), "
                + "\(NumberText.counted(part.hosts, "host")), \(NumberText.counted(part.instances, "instance")), "
                + "\(part.stateBytes) bytes"
        }
        if !self.parts.isEmpty {
            let outputs = self.parts.reduce(0) { $0 + $1.outputs }
            lines.append(
                "\(self.stateBytes) bytes of states, \(NumberText.counted(outputs, "output")), "
                    + "\(self.besideBytes) bytes beside the log"
            )
        }
        return (lines + self.sentences).joined(separator: "\n")
    }

    var json: JSONValue {
        let parts = self.parts.map { part in
            JSONValue.object(of: [
                ("partition", .count(Int(part.partition.rawValue))),
                ("position", .unsigned(part.position.rawValue)),
                ("output", part.newestOutput.map { .unsigned($0.rawValue) } ?? .null),
                ("outputs", .count(part.outputs)),
                ("hosts", .count(part.hosts)),
                ("instances", .count(part.instances)),
                ("stateBytes", .count(part.stateBytes)),
            ])
        }
        return .object(of: [
            ("partitions", .array(parts)), ("stateBytes", .count(self.stateBytes)),
            ("besideBytes", .count(self.besideBytes)),
            ("result", .string(self.sentences.joined(separator: "\n"))),
        ])
    }
}
