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
        /// The number of rows on it.
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
    package let rows: Int

    package init(
        kind: WidgetKind,
        path: Path,
        drivers: [Driver],
        candidates: Int,
        filters: Int,
        rows: Int
    ) {
        self.kind = kind
        self.path = path
        self.drivers = drivers
        self.candidates = candidates
        self.filters = filters
        self.rows = rows
    }

    package var description: String {
        let rows = "\(self.rows) rows"
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
        var filters = 0
        let path: QueryPlan.Path
        switch plan.path {
        case .nothing: path = .nothing
        case .everything: path = .everything
        case .dense(let check):
            path = .dense
            filters = check.leafCount
        case .postings(let passes):
            path = .postings
            for pass in passes {
                drivers.append(
                    QueryPlan.Driver(field: self.fields[pass.column].field.description, length: pass.length)
                )
                filters += pass.filters.count
            }
        }
        return QueryPlan(
            kind: self.kind,
            path: path,
            drivers: drivers,
            candidates: plan.candidates,
            filters: filters,
            rows: self.count
        )
    }
}

extension DenseCheck {
    /// The conditions on single columns.
    var leafCount: Int {
        switch self {
        case .all(let parts), .any(let parts): parts.reduce(0) { $0 + $1.leafCount }
        case .marks, .scan: 1
        }
    }
}
