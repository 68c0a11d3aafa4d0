import Storage
import WidgetModel

/// The rows of active instances by number. All instances at rest have the same number: that of a blank row, which never changes.
///
/// So a reader needs one look-up, and does not ask first whether there is a row.
struct ActiveTable: ~Copyable, Sendable {
    /// The number of instances at rest.
    static let rest = Number<ActiveRow>(0)

    private var rows = Table<ActiveRow, ActiveRow>()

    /// No active instance.
    init() { _ = self.rows.insert(ActiveRow()) }

    /// The same rows under the same numbers. O(rows).
    func duplicate() -> ActiveTable {
        var copy = ActiveTable()
        copy.rows = self.rows.duplicate()
        return copy
    }

    /// How many instances are active.
    var count: Int { self.rows.count - 1 }

    /// Precondition for a change: the number of an active instance.
    @inline(__always)
    subscript(number: Number<ActiveRow>) -> ActiveRow {
        _read { yield self.rows[number] }
        _modify { yield &self.rows[number] }
    }

    /// Fetches a row that is about to be read.
    @inline(__always)
    func prefetch(_ number: Number<ActiveRow>) { self.rows.prefetch(number) }

    /// Makes room for an instance that becomes active.
    @inline(__always)
    mutating func insert(_ row: consuming ActiveRow = ActiveRow()) -> Number<ActiveRow> { self.rows.insert(row) }

    /// Gives the number of an instance back that comes to rest. Does nothing for one at rest.
    @inline(__always)
    mutating func release(_ number: Number<ActiveRow>) {
        if number != Self.rest { self.rows.release(number) }
    }
}
