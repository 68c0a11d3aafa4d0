package import WidgetModel

/// A table of an engine, or tables of one purpose, whose memory operators see.
package enum EngineTable: Int, Hashable, Sendable, CaseIterable {
    /// Hosts with their keys and contexts.
    case hosts
    /// Push tokens, those that were removed lately among them.
    case tokens
    /// The identities of widgets, with their ids and configurations.
    case instances
    /// Fields that only some widgets have: tags and conditions, timelines, what was seen of them.
    case details
    /// When each widget may reload.
    case schedule
    case timers
    /// Reloads that were issued and have not ended.
    case reloads
    /// The widgets that pushes wait for, or are served by a reload.
    case matches
    case pushes
    /// The pushes whose repeats are recognised.
    case repeats
    /// The decisions that are kept in memory.
    case decisions
    /// Where each widget is in the index, and the columns of its values.
    case indexColumns
    /// The rows of each value in the index.
    case indexLists
    /// The distinct values in the index.
    case indexValues
    /// The widgets' conditions in the index.
    case indexConditions

    /// Its name in operators' answers and metrics.
    package var name: String { "\(self)" }
}

/// Bytes of memory by table, in one partition or more: memory that tables hold, in use or free. Memory that single rows refer to
/// is not in it, such as the entries of a timeline.
package struct TableBytes: Hashable, Sendable {
    /// By the tables' raw values.
    private var counts: [Int]

    package subscript(table: EngineTable) -> Int {
        get { self.counts[table.rawValue] }
        set { self.counts[table.rawValue] = newValue }
    }

    package static func += (left: inout TableBytes, right: TableBytes) {
        for table in EngineTable.allCases { left[table] += right[table] }
    }
}

extension TableBytes: FieldCoded {
    package static let coding = Fields(Self.init, \.counts)
    package var isPossible: Bool { self.counts.count == EngineTable.allCases.count }

    package init() { self.init(counts: Array(repeating: 0, count: EngineTable.allCases.count)) }
}
