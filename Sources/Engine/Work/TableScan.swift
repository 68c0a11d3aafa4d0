/// A place among all rows of a table. No row comes or goes while a record's work is sliced.
struct TableScan: Sendable {
    /// The next number that is looked at.
    private(set) var next: UInt32 = 0
    let end: UInt32
    /// So many numbers are looked at for one unit.
    private static let rowsPerUnit = 8

    init(below end: Int) { self.end = UInt32(end) }

    var isDone: Bool { self.next == self.end }

    /// The next numbers to look at: one unit's worth.
    mutating func takeNext() -> Range<UInt32> {
        let first = self.next
        self.next = min(self.end, first + UInt32(Self.rowsPerUnit))
        return first..<self.next
    }
}
