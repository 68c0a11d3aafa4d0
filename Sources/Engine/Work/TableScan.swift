import WidgetModel

/// A place among all rows of a table. No row comes or goes while a record's work is sliced.
struct TableScan<Tag>: Sendable {
    /// The next number that is looked at.
    private(set) var next = Number<Tag>(0)
    let end: Number<Tag>
    /// So many numbers are looked at for one unit.
    private static var rowsPerUnit: Int { 8 }

    init(below end: Int) { self.end = Number(end) }

    var isDone: Bool { self.next == self.end }

    mutating func startAgain() { self.next = Number(0) }

    /// The next numbers to look at: one unit's worth.
    mutating func takeNext() -> Range<Number<Tag>> {
        let first = self.next
        self.next = min(self.end, first.advanced(by: Self.rowsPerUnit))
        return first..<self.next
    }
}
