package import Journaling
package import WidgetModel

/// The names of a cluster's streams, and of the subjects in them.
package struct StreamNames: Hashable, Sendable {
    package let cluster: String

    /// - Parameter cluster: Letters, digits and hyphens, 1 to 32 of them; nil for any other name.
    package init?(cluster: String) {
        let isName = cluster.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"):
                true
            default: false
            }
        }
        guard isName, (1...32).contains(cluster.utf8.count) else { return nil }
        self.cluster = cluster
    }

    /// A partition's entries.
    package func input(_ partition: PartitionID) -> String { "freshet-\(self.cluster)-in-\(partition)" }
    /// A partition's outputs.
    package func output(_ partition: PartitionID) -> String { "freshet-\(self.cluster)-out-\(partition)" }
    /// Submissions to all partitions.
    package var fan: String { "freshet-\(self.cluster)-fan" }
    /// The chunks of snapshots.
    package var chunks: String { "freshet-\(self.cluster)-snap" }
    /// One message for each note on the log: its format, where snapshots are, how far it was trimmed.
    package var notes: String { "freshet-\(self.cluster)-meta" }

    private var root: String { "freshet.\(self.cluster)" }

    package func allInput(_ partition: PartitionID) -> String { "\(self.root).in.\(partition).>" }
    /// The entries that one writer appends to a partition.
    package func input(_ partition: PartitionID, of writer: UInt64) -> String {
        "\(self.root).in.\(partition).\(String(writer, radix: 16))"
    }
    /// Copies of submissions to all partitions.
    package func copies(_ partition: PartitionID) -> String { "\(self.root).in.\(partition).fan" }
    package func outputs(_ partition: PartitionID) -> String { "\(self.root).out.\(partition)" }
    package var allFan: String { "\(self.root).fan.>" }
    package func fan(of writer: UInt64) -> String { "\(self.root).fan.\(String(writer, radix: 16))" }
    package var allChunks: String { "\(self.root).snap.>" }
    package func chunks(_ partition: PartitionID, _ upload: UInt64) -> String {
        "\(self.root).snap.\(partition).\(String(upload, radix: 16))"
    }
    package var allNotes: String { "\(self.root).meta.>" }
    package var format: String { "\(self.root).meta.format" }
    package func trimmed(_ partition: PartitionID) -> String { "\(self.root).meta.trim.\(partition)" }
    package func snapshots(_ partition: PartitionID) -> String { "\(self.root).meta.snap.\(partition)" }
    /// The claim of a partition: which node owns it.
    package func claim(_ partition: PartitionID) -> String { "\(self.root).meta.own.\(partition)" }
    /// The operators' wishes for the nodes.
    package var wishes: String { "\(self.root).meta.wishes" }
    /// The nodes' beats to each other; not stored.
    package var beats: String { "\(self.root).beat" }
    /// The questions of others to one start of a node; not stored.
    package func questions(to start: UInt64) -> String { "\(self.root).ask.\(String(start, radix: 16))" }
    /// The answers to the questions of one start of a node; not stored.
    package func answers(to start: UInt64) -> String { "\(self.root).answer.\(String(start, radix: 16)).*" }
    package func answer(to start: UInt64, _ question: UInt64) -> String {
        "\(self.root).answer.\(String(start, radix: 16)).\(String(question, radix: 16))"
    }
    /// What nodes announce to each other; not stored.
    package var announcements: String { "\(self.root).show" }
    package func note(_ note: PartitionNote, of partition: PartitionID) -> String {
        "\(self.root).meta.\(note.rawValue).\(partition)"
    }
    package func damaged(_ partition: PartitionID) -> String { "\(self.root).meta.damaged.\(partition)" }
}
