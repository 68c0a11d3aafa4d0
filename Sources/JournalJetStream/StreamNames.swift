#if JetStream
import Journaling
import WidgetModel

/// The names of a cluster's streams, and of what is in them.
struct StreamNames: Hashable, Sendable {
    let cluster: String

    /// - Throws: `.invalid` for a name that no cluster can have.
    init(of configuration: JetStreamJournal.Configuration) throws(JournalError) {
        guard let names = StreamNames(cluster: configuration.cluster) else {
            throw JournalError(
                .invalid,
                "the cluster's name \"\(configuration.cluster)\" is not 1 to 32 letters, digits and hyphens"
            )
        }
        self = names
    }

    /// - Parameter cluster: Letters, digits and hyphens, 1 to 32 of them; nil for any other name.
    init?(cluster: String) {
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
    func input(_ partition: PartitionID) -> String { "freshet-\(self.cluster)-in-\(partition)" }
    /// A partition's outputs.
    func output(_ partition: PartitionID) -> String { "freshet-\(self.cluster)-out-\(partition)" }
    /// What is for all partitions.
    var fan: String { "freshet-\(self.cluster)-fan" }
    /// The chunks of snapshots.
    var chunks: String { "freshet-\(self.cluster)-snap" }
    /// One message for each thing that is known of the log: its format, where snapshots are, what was trimmed.
    var notes: String { "freshet-\(self.cluster)-meta" }

    private var root: String { "freshet.\(self.cluster)" }

    func allInput(_ partition: PartitionID) -> String { "\(self.root).in.\(partition).>" }
    /// What one writer appends to a partition.
    func input(_ partition: PartitionID, of writer: UInt64) -> String {
        "\(self.root).in.\(partition).\(String(writer, radix: 16))"
    }
    /// Copies of what is for all partitions.
    func copies(_ partition: PartitionID) -> String { "\(self.root).in.\(partition).fan" }
    func outputs(_ partition: PartitionID) -> String { "\(self.root).out.\(partition)" }
    var allFan: String { "\(self.root).fan.>" }
    func fan(of writer: UInt64) -> String { "\(self.root).fan.\(String(writer, radix: 16))" }
    var allChunks: String { "\(self.root).snap.>" }
    func chunks(_ partition: PartitionID, _ upload: UInt64) -> String {
        "\(self.root).snap.\(partition).\(String(upload, radix: 16))"
    }
    var allNotes: String { "\(self.root).meta.>" }
    var format: String { "\(self.root).meta.format" }
    func trimmed(_ partition: PartitionID) -> String { "\(self.root).meta.trim.\(partition)" }
    func snapshots(_ partition: PartitionID) -> String { "\(self.root).meta.snap.\(partition)" }
    /// Whose a partition is.
    func claim(_ partition: PartitionID) -> String { "\(self.root).meta.own.\(partition)" }
    /// What nodes tell each other; not stored.
    var beats: String { "\(self.root).beat" }
    func damaged(_ partition: PartitionID) -> String { "\(self.root).meta.damaged.\(partition)" }
}
#endif
