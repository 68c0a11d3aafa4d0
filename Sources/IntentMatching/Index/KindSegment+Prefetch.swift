import WidgetModel

/// Looking ahead: what instances are compared with lies anywhere in memory, and a few dozen that wait for it together wait
/// hardly longer than one.
extension KindSegment {
    /// Fetches what is known of a row: first its codes; then, of fields that have many values, where the codes' values are,
    /// and at last the values.
    mutating func prefetch(_ row: UInt32, step: Int) {
        guard step > 0 else {
            guard row & Self.sharedFlag == 0 else { return self.classes.prefetch(Int(row & ~Self.sharedFlag)) }
            return self.table.prefetch(Int(row))
        }
        // Classes are few, and so are their values.
        guard row & Self.sharedFlag == 0 else { return }
        Self.prefetchValues(Int(row), step, &self.fields, &self.table.columns)
    }

    private static func prefetchValues(
        _ row: Int,
        _ step: Int,
        _ fields: inout [ValueField],
        _ columns: inout [RowColumn]
    ) {
        var fields = fields.mutableSpan
        var columns = columns.mutableSpan
        for field in fields.indices where fields[field].isCrowded() {
            let code = columns[field].heldCode(row)
            if step == 1 { fields[field].prefetch(code: code) } else { fields[field].prefetchValue(code: code) }
        }
    }
}
