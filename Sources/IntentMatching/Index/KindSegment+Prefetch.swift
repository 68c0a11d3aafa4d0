import BasicContainers
import Storage

/// Looking ahead: the rows that instances are compared with lie anywhere in memory, and a few dozen instances that wait
/// for them together wait hardly longer than one.
extension KindSegment {
    /// Fetches the memory of some rows: first their codes; then, of fields that have many values, where the codes'
    /// values are, and at last the values.
    func prefetch(_ rows: Span<UInt32>) {
        self.table.prefetch(rows)
        for field in self.fields.indices where self.fields[field].isCrowded {
            self.forEachCode(field, rows) { self.fields[field].dictionary.prefetch($0) }
        }
        for field in self.fields.indices where self.fields[field].isCrowded {
            self.forEachCode(field, rows) { self.fields[field].dictionary.prefetchValue($0) }
        }
    }

    /// Calls `body` with the code of each row.
    @inline(__always)
    private func forEachCode(_ field: Int, _ rows: Span<UInt32>, _ body: (UInt32) -> Void) {
        for index in rows.indices { body(self.table.singleCode(field, Int(rows[index]))) }
    }
}
