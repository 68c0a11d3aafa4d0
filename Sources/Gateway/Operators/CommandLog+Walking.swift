import Engine
import WidgetModel

extension CommandLog {
    /// What the numbers of a cursor of ``walk(from:limit:_:)`` are less than: a partition's, and a row's.
    var rowBounds: [UInt64] { [UInt64(self.partitions), 1 << 32] }

    /// Walks over the partitions' rows, each step one turn of a partition's loop, for as long as one request may.
    ///
    /// - Parameters:
    ///   - cursor: The partition and the number to begin with, below ``rowBounds``; nil for the first.
    ///   - limit: How many rows to find at most.
    ///   - step: Looks at rows from a number on, for so many at most.
    /// - Returns: The rows, and the cursor of what comes after them; nil at the end.
    func walk<Row: Sendable, Tag>(
        from cursor: [UInt64]?,
        limit: Int,
        _ step: @escaping @Sendable (borrowing Engine, Number<Tag>, Int) -> ListPage<Row, Number<Tag>>
    ) async throws(Problem) -> ListPage<Row, String> {
        var found = ListPage<Row, String>()
        var partition = Int(clamping: cursor?[0] ?? 0)
        var start = Number<Tag>(raw: UInt32(clamping: cursor?[1] ?? 0))
        var budget = SearchBudget()
        while partition < self.partitions {
            found.next = ListRequest.text([UInt64(partition), UInt64(start.raw)])
            guard found.rows.count < limit, budget.takeStep() else { return found }
            let (from, left) = (start, limit - found.rows.count)
            let page = try await self.ask(PartitionID(UInt16(partition))) { step($0, from, left) }
            found.rows += page.rows
            if let next = page.next {
                start = next
            } else {
                partition += 1
                start = Number(0)
            }
        }
        found.next = nil
        return found
    }
}
