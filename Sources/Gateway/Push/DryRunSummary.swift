package import Engine
package import WidgetModel

/// Who a push would reach over all partitions, and what each decision would be.
package struct DryRunSummary: Hashable, Sendable {
    package private(set) var matched = 0
    /// Sorted by kind, then decision.
    package private(set) var rows: [DryRunView.Row] = []

    package init(_ views: [DryRunView]) {
        for view in views {
            self.matched += view.matched
            for row in view.rows { self.add(row) }
        }
        self.rows.sort { ($0.kind, $0.decision.rawValue) < ($1.kind, $1.decision.rawValue) }
    }

    private mutating func add(_ row: DryRunView.Row) {
        if let index = self.rows.firstIndex(where: { $0.kind == row.kind && $0.decision == row.decision }) {
            self.rows[index].count += row.count
        } else {
            self.rows.append(row)
        }
    }

    package var json: JSONValue {
        JSONValue.object(of: [
            ("dryRun", .bool(true)),
            ("matched", .count(self.matched)),
            (
                "decisions",
                .array(
                    self.rows.map { row in
                        JSONValue.object(of: [
                            ("kind", .string(row.kind.rawValue)),
                            ("decision", .string(row.decision.name)),
                            ("count", .count(row.count)),
                        ])
                    }
                )
            ),
        ])
    }
}
