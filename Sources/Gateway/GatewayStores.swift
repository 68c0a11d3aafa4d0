package import Clustering
import Engine
package import Journaling
package import Partitions

/// Where a gateway keeps the data that outlasts it.
package struct GatewayStores: Sendable {
    /// The log; created with as many partitions as the configuration says.
    package let journal: any Journal
    /// Where the partitions' states are kept, so that a start need not replay the whole log; nil for nowhere.
    package var snapshots: (any SnapshotStore)?
    /// Measures how much of the disk all that takes; nil where it takes none.
    package var measure: StorageWatch.Measure?
    /// Where the content of timelines is kept; by default nowhere but in memory.
    package var timelines: any RecordArchive = MemoryArchive()
    /// Where the index of the audit is kept, beside the log; by default only in memory.
    package var audit: any RecordArchive = MemoryArchive()
    /// Where minutes and hours for charts are kept; by default only in memory.
    package var samples: any RecordArchive = MemoryArchive()
    /// Where the places up to which senders have their receipts are kept; by default only in memory.
    package var receipts: any RecordArchive = MemoryArchive()
    /// Where older decisions are kept, for which engines have no room any more; nil for nowhere.
    package var decisions: (any RecordArchive)?
    /// The nodes that share the log; nil where this gateway has it alone.
    package var membership: Membership?
    /// Where nodes that share the log keep the notes that their successors need; nil where this gateway has it alone.
    package var notes: (any PartitionNotes)?
    /// Reads other nodes' decisions; nil where this gateway decides everything.
    package var outputs: (any OutputFollowing)?
    /// Opens the log for one question about the past; nil where the journal itself is read.
    package var history: HistoryQuestions.Opening?

    package init(journal: any Journal) {
        self.journal = journal
    }

    /// The decision rules that this gateway decides by.
    var rules: Int { self.membership.map { Int($0.node.rules) } ?? Engine.version }
}
