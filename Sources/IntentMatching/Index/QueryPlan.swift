import BasicContainers
package import WidgetModel

/// How the index answers a query for one kind; for operators who ask why a push is slow.
package struct QueryPlan: Hashable, Sendable, CustomStringConvertible {
    package enum Path: UInt8, ByteCoded, Hashable, Sendable {
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
        /// The field of the list's value.
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
    /// Whether these are the kind's instances that have a `when`.
    package let isConditional: Bool
    package let touched: Touched

    /// The rows that were looked at.
    package struct Touched: Hashable, Sendable {
        /// Rows that lists gave.
        package internal(set) var listed: Int
        /// Rows that filters were asked about, once for each filter.
        package internal(set) var filtered: Int
        /// Rows whose bits were computed.
        package internal(set) var scanned: Int
        /// Rows that match.
        package internal(set) var matched: Int

        package init(listed: Int = 0, filtered: Int = 0, scanned: Int = 0, matched: Int = 0) {
            self.listed = listed
            self.filtered = filtered
            self.scanned = scanned
            self.matched = matched
        }
    }

    package init(
        kind: WidgetKind,
        path: Path,
        drivers: [Driver],
        candidates: Int,
        filters: Int,
        rows: Int,
        isConditional: Bool = false,
        touched: Touched = Touched()
    ) {
        self.kind = kind
        self.path = path
        self.drivers = drivers
        self.candidates = candidates
        self.filters = filters
        self.rows = rows
        self.isConditional = isConditional
        self.touched = touched
    }

    /// This plan for the rows of two partitions: the steps of the one with more candidates, the counts of both.
    package func joined(with other: QueryPlan) -> QueryPlan {
        let larger = other.candidates > self.candidates ? other : self
        return QueryPlan(
            kind: larger.kind,
            path: larger.path,
            drivers: larger.drivers,
            candidates: self.candidates + other.candidates,
            filters: larger.filters,
            rows: self.rows + other.rows,
            isConditional: larger.isConditional,
            touched: Touched(
                listed: self.touched.listed + other.touched.listed,
                filtered: self.touched.filtered + other.touched.filtered,
                scanned: self.touched.scanned + other.touched.scanned,
                matched: self.touched.matched + other.touched.matched
            )
        )
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

extension QueryPlan: FieldCoded {
    package static let coding = Fields(
        Self.init,
        \.kind,
        \.path,
        \.drivers,
        \.candidates,
        \.filters,
        \.rows,
        \.isConditional,
        \.touched
    )
}

extension QueryPlan.Driver: FieldCoded {
    package static let coding = Fields(Self.init, \.field, \.length)
}

extension QueryPlan.Touched: FieldCoded {
    package static let coding = Fields(
        Self.init(listed:filtered:scanned:matched:),
        \.listed,
        \.filtered,
        \.scanned,
        \.matched
    )
}

extension KindSegment {
    func describe(_ plan: SegmentPlan, _ counts: QueryPlan.Touched) -> QueryPlan {
        var drivers: [QueryPlan.Driver] = []
        var filters = 0
        let path: QueryPlan.Path
        switch plan.path {
        case .nothing: path = .nothing
        case .everything: path = .everything
        case .dense(let program):
            path = .dense
            filters = program.leafCount
        case .postings(let passes):
            path = .postings
            for pass in passes {
                let field = self.fields[pass.column].field.description
                drivers.append(QueryPlan.Driver(field: field, length: pass.length))
                filters += pass.filters.count
            }
        }
        return QueryPlan(
            kind: self.kind,
            path: path,
            drivers: drivers,
            candidates: plan.candidates,
            filters: filters,
            rows: self.count,
            isConditional: self.conditionField != nil,
            touched: counts
        )
    }
}
