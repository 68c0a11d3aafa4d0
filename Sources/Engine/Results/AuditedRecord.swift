package import WidgetModel

/// A record of an operator's action, with its place in its entry: the engine passes it to the audit.
package struct AuditedRecord: Hashable, Sendable {
    package enum Content: Hashable, Sendable {
        case order(OperatorOrder, OperatorSource)
        case note(AuditNote)
    }

    package let recordIndex: Int
    package let content: Content

    /// - Returns: Nil for a record that is not an operator's.
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

    /// The operators' records of an entry whose records are not applied.
    ///
    /// - Parameters:
    ///   - bytes: The entry's bytes.
    ///   - records: The places of its records in them.
    /// - Throws: If an operator's record is damaged.
    package static func all(
        _ bytes: [UInt8],
        in records: some Sequence<Range<Int>>
    ) throws(ByteError) -> [AuditedRecord] {
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
