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
        for field in self.fields.indices where self.fields[field].isCrowded() {
            let code = self.heldCode(field, row)
            if step == 1 {
                self.fields[field].prefetch(code: code)
            } else {
                self.fields[field].prefetchValue(code: code)
            }
        }
    }
}
