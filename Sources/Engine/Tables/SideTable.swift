import Storage
import WidgetModel

/// Fields that few rows of another table have: until one of them is written, they are all as ``init()`` has them.
protocol SideRow: Sendable {
    init()
    /// Whether nothing is written in it.
    var isBlank: Bool { get }
}

/// Fields that few rows of another table have, in rows of their own.
///
/// A row of the other table keeps a number of this one, none until it has something to keep here. Who has no number
/// reads a blank row.
struct SideTable<Row: SideRow>: ~Copyable, Sendable {
    private var rows = Table<Row, Row>()

    /// The same rows under the same numbers. O(rows).
    func duplicate() -> SideTable {
        var copy = SideTable()
        copy.rows = self.rows.duplicate()
        return copy
    }

    /// How many rows are in use.
    var count: Int { self.rows.count }

    /// Precondition for a change: a number that is in use.
    @inline(__always)
    subscript(number: Number<Row>) -> Row {
        _read {
            if number.isNone { yield Row() } else { yield self.rows[number] }
        }
        _modify { yield &self.rows[number] }
    }

    /// Fetches a row that is about to be read. Precondition: a number that is in use.
    @inline(__always)
    func prefetch(_ number: Number<Row>) { self.rows.prefetch(number) }

    /// Keeps a row for one who has none yet.
    ///
    /// - Returns: Its number; none if it is blank, for that is what everybody has.
    mutating func keep(_ row: consuming Row) -> Number<Row> {
        row.isBlank ? .none : self.rows.insert(row)
    }

    /// Gives a number back, and what the row holds. Does nothing for none.
    mutating func release(_ number: Number<Row>) {
        guard !number.isNone else { return }
        self.rows[number] = Row()
        self.rows.release(number)
    }
}
