package import Engine
package import Partitions
package import WidgetModel

extension CommandLog {
    /// The bounds of the numbers of a cursor of ``walk(_:from:limit:)`` where they are numbers of rows: a partition's, and a row's.
    package var rowBounds: [UInt64] { self.rowBounds(lists: 1) }

    /// The same of several lists: instead of a partition's number a part's, which is a list in a partition.
    package func rowBounds(lists: Int) -> [UInt64] { [UInt64(lists * self.partitions), 1 << 32] }

    /// Walks over the partitions' parts of a list, each step one turn of a partition's loop, for as long as one request may.
    ///
    /// - Parameters:
    ///   - list: The list.
    ///   - cursor: The part and the place in it to begin at; nil for the first.
    ///   - limit: How many rows to find at most.
    /// - Returns: The rows, and the cursor of the rows after them; nil at the end.
    package func walk<List: EngineList>(
        _ list: List,
        from cursor: [UInt64]?,
        limit: Int
    ) async throws(Problem) -> (rows: [List.Row], next: String?) {
        try await self.walk([list], from: cursor, limit: limit)
    }

    /// The same of several lists, one behind the other.
    package func walk<List: EngineList>(
        _ lists: [List],
        from cursor: [UInt64]?,
        limit: Int
    ) async throws(Problem) -> (rows: [List.Row], next: String?) {
        try await self.walk(lists.count, from: cursor, limit: limit) {
            list,
            partition,
            place,
            left async throws(Problem) in
            try await self.ask(partition, PageQuestion(lists[list], from: place, limit: left))
        }
    }

    /// The same of a list that has more than the engines keep.
    ///
    /// - Parameter page: Gives a part of the list: of a partition, from a place on, so many rows at most.
    package func walk<Row: Sendable>(
        from cursor: [UInt64]?,
        limit: Int,
        _ page: (PartitionID, UInt64?, Int) async throws(Problem) -> ListPage<Row>
    ) async throws(Problem) -> (rows: [Row], next: String?) {
        try await self.walk(1, from: cursor, limit: limit) { _, partition, place, left async throws(Problem) in
            try await page(partition, place, left)
        }
    }

    private func walk<Row: Sendable>(
        _ lists: Int,
        from cursor: [UInt64]?,
        limit: Int,
        _ page: (Int, PartitionID, UInt64?, Int) async throws(Problem) -> ListPage<Row>
    ) async throws(Problem) -> (rows: [Row], next: String?) {
        var rows: [Row] = []
        var part = Int(clamping: cursor?[0] ?? 0)
        var place = cursor?[1]
        var budget = SearchBudget()
        while part < lists * self.partitions {
            guard rows.count < limit, budget.takeStep() else {
                return (rows, SearchBudget.cursor([UInt64(part), place ?? 0]))
            }
            let (list, partition) = part.quotientAndRemainder(dividingBy: self.partitions)
            let id = PartitionID(UInt16(partition))
            let result: Result<ListPage<Row>, Problem>
            do throws(Problem) {
                result = .success(try await page(list, id, place, limit - rows.count))
            } catch {
                result = .failure(error)
            }
            let found = try self.noted(result, of: id) ?? ListPage()
            rows += found.rows
            place = found.next
            if place == nil { part += 1 }
        }
        return (rows, nil)
    }
}
