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

    /// Fetches what the look-ups of values will read.
    mutating func prefetch(_ configurations: Span<Configuration>) {
        var sought: [(field: Int, hash: UInt64)] = []
        for field in self.fields.indices where self.fields[field].isCrowded() {
            for index in configurations.indices {
                // Where it is if the instance has all parameters; nowhere else is it looked for.
                let parameters = configurations[index].parameters
                let place = field - Self.firstParameter
                guard place >= 0, place < parameters.count,
                    self.fields.span.index(named: parameters.span[place].name.utf8.span, expected: field) == field,
                    case .string(let text) = parameters.span[place].value
                else { continue }
                let hash = self.fields[field].hash(of: text)
                self.fields[field].prefetchSlot(hash)
                sought.append((field, hash))
            }
        }
        for value in sought { self.fields[value.field].prefetchEntry(value.hash) }
        for value in sought { self.fields[value.field].prefetchValue(value.hash) }
    }
}
