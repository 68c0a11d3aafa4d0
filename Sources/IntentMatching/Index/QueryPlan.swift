package import WidgetModel

/// How the index would answer a query for one kind; for operators who ask why a push is slow.
package struct QueryPlan: Hashable, Sendable, CustomStringConvertible {
    package enum Path: Hashable, Sendable {
        /// No row can match.
        case nothing
        /// Every row matches.
        case everything
        /// Lists of rows by value, verified on columns.
        case postings
        /// All rows, verified on columns.
        case dense
    }

    /// A list that is walked.
    package struct Driver: Hashable, Sendable {
        /// The field whose value the list is for.
        package let field: String
        /// The number of rows on it, dead ones included.
        package let length: Int

        package init(field: String, length: Int) {
            self.field = field
            self.length = length
        }
    }

    package let kind: WidgetKind
    package let path: Path
    package let drivers: [Driver]
    /// Rows that are looked at.
    package let candidates: Int
    /// Filters over all walks.
    package let filters: Int
    package let liveRows: Int
    package let deadRows: Int

    package init(
        kind: WidgetKind,
        path: Path,
        drivers: [Driver],
        candidates: Int,
        filters: Int,
        liveRows: Int,
        deadRows: Int
    ) {
        self.kind = kind
        self.path = path
        self.drivers = drivers
        self.candidates = candidates
        self.filters = filters
        self.liveRows = liveRows
        self.deadRows = deadRows
    }

    package var description: String {
        let rows = "\(self.liveRows) live and \(self.deadRows) dead rows"
        switch self.path {
        case .nothing: return "\(self.kind): no row can match; \(rows)"
        case .everything: return "\(self.kind): every row; \(rows)"
        case .dense: return "\(self.kind): all rows through \(self.filters) filters; \(rows)"
        case .postings:
            let lists = self.drivers.prefix(4).map { "\($0.field) (\($0.length))" }.joined(separator: ", ")
            let more = self.drivers.count > 4 ? " and \(self.drivers.count - 4) more" : ""
            return "\(self.kind): lists by \(lists)\(more) through \(self.filters) filters; \(rows)"
        }
    }
}

extension KindSegment {
    func describe(_ plan: SegmentPlan) -> QueryPlan {
        var drivers: [QueryPlan.Driver] = []
        for pass in plan.passes {
            guard case .list(let column, _) = pass.source else { continue }
            drivers.append(QueryPlan.Driver(field: self.columns[column].field.description, length: pass.length))
        }
        let filters = plan.passes.reduce(0) { $0 + $1.filters.count }
        let path: QueryPlan.Path =
            plan.passes.isEmpty ? .nothing : !drivers.isEmpty ? .postings : filters == 0 ? .everything : .dense
        return QueryPlan(
            kind: self.kind,
            path: path,
            drivers: drivers,
            candidates: plan.candidates,
            filters: filters,
            liveRows: self.liveCount,
            deadRows: self.deadCount
        )
    }
}
