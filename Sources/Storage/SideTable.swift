public import WidgetModel

/// Fields that few rows of another table have: until one of them is written, they are all as ``init()`` has them.
public protocol SideRow: Sendable {
    init()
    /// Whether nothing is written in it.
    var isBlank: Bool { get }
}

/// Fields that few rows of another table have, in rows of their own.
///
/// A row of the other table keeps a number of this one, none until it has something to keep here. A row without a
/// number reads a blank row.
@frozen public struct SideTable<Row: SideRow>: ~Copyable, Sendable {
    @usableFromInline var rows = Table<Row, Row>()

    /// No rows.
    @inlinable
    public init() {}

    /// How many rows are in use.
    @inlinable
    public var count: Int { self.rows.count }

    /// Bytes of memory held, without the memory that rows refer to.
    @inlinable
    public var byteCount: Int { self.rows.byteCount }

    /// A row; a blank one of none. Precondition for a change: a number that is in use.
    @inlinable
    public subscript(number: Number<Row>) -> Row {
        @inline(__always)
        _read {
            if number.isNone { yield Row() } else { yield self.rows[number] }
        }
        @inline(__always)
        _modify { yield &self.rows[number] }
    }

    /// Fetches a row that is about to be read. Precondition: a number that is in use.
    @inlinable @inline(__always)
    public func prefetch(_ number: Number<Row>) { self.rows.prefetch(number) }

    /// Keeps a row for an owner that has none yet.
    ///
    /// - Returns: Its number; none if the row is blank, because a missing row counts as blank.
    @inlinable
    public mutating func keep(_ row: consuming Row) -> Number<Row> {
        row.isBlank ? .none : self.rows.insert(row)
    }

    /// Gives a number back, and frees its row. Does nothing for none.
    @inlinable
    public mutating func release(_ number: Number<Row>) {
        guard !number.isNone else { return }
        self.rows[number] = Row()
        self.rows.release(number)
    }
}
