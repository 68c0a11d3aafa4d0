import Storage
import WidgetModel

/// The rows of active instances by number. All instances at rest have the same number: that of a blank row, which never changes.
///
/// So a reader needs one look-up, and does not ask first whether there is a row.
struct ActiveTable: ~Copyable, Sendable {
    /// The number of instances at rest.
    static let rest = Number<ActiveRow>(0)

    /// The instance of a row, and since when it is behind. Apart from the rows, so that those are a line of memory
    /// each.
    struct Owner: Hashable, Sendable {
        /// None of a number that is free.
        var instance: InstanceNumber
        /// In seconds of the epoch; 0 if it is not behind.
        var since: UInt32

        static let none = Owner(instance: .none, since: 0)
    }

    private var rows = Table<ActiveRow, ActiveRow>()
    private var owners = Column<Owner>()

    /// No active instance.
    init() {
        _ = self.rows.insert(ActiveRow())
        self.owners.append(.none)
    }

    /// How many instances are active.
    var count: Int { self.rows.count - 1 }

    /// Bytes of memory held.
    var byteCount: Int { self.rows.byteCount + self.owners.byteCount }

    /// Precondition for a change: the number of an active instance.
    @inline(__always)
    subscript(number: Number<ActiveRow>) -> ActiveRow {
        _read { yield self.rows[number] }
        _modify { yield &self.rows[number] }
    }

    /// Fetches a row that is about to be read.
    @inline(__always)
    func prefetch(_ number: Number<ActiveRow>) { self.rows.prefetch(number) }

    /// The owner of a row. Precondition for a change: the number of an active instance.
    @inline(__always)
    subscript(owner number: Number<ActiveRow>) -> Owner {
        _read { yield self.owners[number.index] }
        _modify { yield &self.owners[number.index] }
    }

    /// Some of all numbers that were ever given out; some of them may be free.
    ///
    /// - Parameters:
    ///   - start: The first one; any number.
    ///   - count: How many at most.
    func numbers(from start: Number<ActiveRow>, atMost count: Int) -> Range<Number<ActiveRow>> {
        self.rows.numbers(from: start, atMost: count)
    }

    /// All numbers are below this.
    var end: Int { self.rows.end }

    /// Makes room for an instance that becomes active.
    @inline(__always)
    mutating func insert(_ row: consuming ActiveRow = ActiveRow(), of owner: Owner) -> Number<ActiveRow> {
        let number = self.rows.insert(row)
        if number.index < self.owners.count { self.owners[number.index] = owner } else { self.owners.append(owner) }
        return number
    }

    /// Gives the number of an instance back that comes to rest. Does nothing for one at rest.
    @inline(__always)
    mutating func release(_ number: Number<ActiveRow>) {
        guard number != Self.rest else { return }
        self.rows.release(number)
        self.owners[number.index] = .none
    }
}
