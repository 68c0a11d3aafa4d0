package import WidgetModel

/// A record that says what an operator did, with its place in its entry: handed on by the engine to whoever keeps the audit.
package struct AuditedRecord: Hashable, Sendable {
    package enum Content: Hashable, Sendable {
        case order(OperatorOrder, OperatorSource)
        case note(AuditNote)
    }

    package let recordIndex: Int
    package let content: Content

    /// - Returns: Nil for a record of somebody else.
    package init?(_ record: Record, recordIndex: Int) {
        switch record {
        case .order(let order):
            guard let source = order.source else { return nil }
            self.content = .order(order, source)
        case .audit(let note): self.content = .note(note)
        default: return nil
        }
        self.recordIndex = recordIndex
    }

    /// What operators did, of the records of an entry that nothing is applied of.
    ///
    /// - Parameters:
    ///   - bytes: The entry's bytes.
    ///   - records: Where its records are in them.
    /// - Throws: If a record of an operator is damaged.
    package static func all(
        _ bytes: [UInt8],
        in records: some Sequence<Range<Int>>
    ) throws(ByteFault) -> [AuditedRecord] {
        var found: [AuditedRecord] = []
        for (index, range) in records.enumerated() {
            guard let first = range.first,
                [Record.Tag.order.rawValue, Record.Tag.audit.rawValue].contains(bytes[first])
            else { continue }
            var reader = ByteReader(bytes, in: range)
            if let record = AuditedRecord(try Record(from: &reader), recordIndex: index) { found.append(record) }
        }
        return found
    }
}
