import Engine
import WidgetModel

extension CommandLog {
    /// What the numbers of a cursor of ``walk(_:from:limit:)`` are less than where they are numbers of rows: a partition's, and a
    /// row's.
    var rowBounds: [UInt64] { [UInt64(self.partitions), 1 << 32] }

    /// Walks over the partitions' parts of a list, each step one turn of a partition's loop, for as long as one request may.
    ///
    /// - Parameters:
    ///   - list: The list.
    ///   - cursor: The partition and the place to begin at; nil for the first.
    ///   - limit: How many rows to find at most.
    /// - Returns: The rows, and the cursor of what comes after them; nil at the end.
    func walk<List: EngineList>(
        _ list: List,
        from cursor: [UInt64]?,
        limit: Int
    ) async throws(Problem) -> (rows: [List.Row], next: String?) {
        var rows: [List.Row] = []
        var partition = Int(clamping: cursor?[0] ?? 0)
        var place = cursor?[1]
        var budget = SearchBudget()
        while partition < self.partitions {
            guard rows.count < limit, budget.takeStep() else {
                return (rows, ListRequest.text([UInt64(partition), place ?? 0]))
            }
            let question = PageQuestion(list, from: place, limit: limit - rows.count)
            let page = try await self.ask(PartitionID(UInt16(partition)), question)
            rows += page.rows
            place = page.next
            if place == nil { partition += 1 }
        }
        return (rows, nil)
    }
}
