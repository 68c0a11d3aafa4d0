import WidgetModel

/// Looking ahead: what instances are compared with lies anywhere in memory, and a few dozen that wait for it together wait
/// hardly longer than one.
extension KindSegment {
    /// Fetches what is known of some rows: first their codes; then, of fields that have many values, where the codes' values
    /// are, and at last the values.
    mutating func prefetch(_ rows: Span<UInt32>) {
        self.table.prefetch(rows)
        if self.classes.rowCount > 0 { self.classes.prefetch(rows) }
        // Classes are few, and so are their values.
        guard self.table.rowCount > 0 else { return }
        Self.prefetchValues(rows, &self.fields, &self.table.columns)
    }

    private static func prefetchValues(
        _ rows: Span<UInt32>,
        _ fields: inout [ValueField],
        _ columns: inout [RowColumn]
    ) {
        var fields = fields.mutableSpan
        var columns = columns.mutableSpan
        for step in 0..<2 {
            for field in fields.indices where fields[field].isCrowded() {
                for index in rows.indices where rows[index] & Self.sharedFlag == 0 {
                    let code = columns[field].heldCode(Int(rows[index]))
                    if step == 0 { fields[field].prefetch(code: code) } else { fields[field].prefetchValue(code: code) }
                }
            }
        }
    }
}
