package import Engine
package import IntentMatching
package import WidgetModel

/// The instances that a push would reach over all partitions, and the decision for each.
package struct DryRunSummary: Hashable, Sendable {
    /// How many instances match, decided or not.
    package private(set) var matched = 0
    /// For how many of them it was decided: all, or a sample.
    package private(set) var decided = 0
    /// The earliest log's time of which a partition answered.
    package private(set) var asOf = Instant.distantFuture
    /// Of those that were decided: sorted by kind, then decision.
    package private(set) var rows: [DryRunView.Row] = []
    /// Some of the instances that were decided.
    package private(set) var sample: [InstanceAddress] = []
    /// How each partition found them.
    package private(set) var plans: [QueryPlan] = []

    package init(_ views: [DryRunView]) {
        for view in views {
            self.matched += view.matched
            self.decided += view.decided
            self.asOf = min(self.asOf, view.asOf)
            for row in view.rows { self.add(row) }
            self.sample += view.sample.prefix(DryRunView.sampleMax - self.sample.count)
            for plan in view.plans { self.add(plan) }
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

    /// Partitions plan alike; of each kind, the plan of the partition that touched most is shown, with all partitions'
    /// counts.
    private mutating func add(_ plan: QueryPlan) {
        let index = self.plans.firstIndex { $0.kind == plan.kind && $0.isConditional == plan.isConditional }
        guard let index else { return self.plans.append(plan) }
        self.plans[index] = self.plans[index].joined(with: plan)
    }

    package var json: JSONValue {
        JSONValue.object(of: [
            ("dryRun", .bool(true)),
            ("matched", .count(self.matched)),
            ("sampled", .bool(self.decided < self.matched)),
            ("decided", .count(self.decided)),
            ("asOf", .instant(self.asOf)),
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
            (
                "sample",
                .array(
                    self.sample.map { address in
                        JSONValue.object(of: [
                            ("host", .string(address.host.id.rawValue)),
                            ("instance", .string(address.instance.rawValue)),
                        ])
                    }
                )
            ),
            ("explain", .array(self.plans.map { Self.json($0) })),
        ])
    }

    private static func json(_ plan: QueryPlan) -> JSONValue {
        JSONValue.object(of: [
            ("kind", .string(plan.kind.rawValue)),
            ("conditional", .bool(plan.isConditional)),
            ("path", .string(String(describing: plan.path))),
            (
                "lists",
                .array(
                    plan.drivers.prefix(16).map { driver in
                        JSONValue.object(of: [("field", .string(driver.field)), ("rows", .count(driver.length))])
                    }
                )
            ),
            ("rows", .count(plan.rows)),
            (
                "touched",
                JSONValue.object(of: [
                    ("listed", .count(plan.touched.listed)),
                    ("filtered", .count(plan.touched.filtered)),
                    ("scanned", .count(plan.touched.scanned)),
                    ("matched", .count(plan.touched.matched)),
                ])
            ),
        ])
    }
}
