import BasicContainers
import Storage

/// A plan for the rows of a segment, in the making.
///
/// Conditions are judged on values before there can be a plan, some at a time.
struct SegmentPlanning: Sendable {
    /// The question, as a check on the codes of the segment's fields.
    let check: RowCheck
    /// The conditions that values are judged by.
    var values: ValueTables
}

extension KindSegment {
    /// Begins to plan.
    ///
    /// - Parameters:
    ///   - question: The question.
    ///   - work: The most work until others get their turn, see ``ValueTables/work``.
    ///   - hosts: The names of the hosts by number.
    func beginPlan(
        _ question: MatchPlanning,
        work: Int,
        _ hosts: borrowing some HostNaming & ~Copyable
    ) -> SegmentPlanning {
        var values = ValueTables(work: work)
        var check = self.count == 0 ? RowCheck.never : .always
        if self.count > 0, let pattern = question.pattern {
            check = self.check(pattern, isNamed: question.isNamed, &values, hosts)
        }
        if let conditions = question.fulfilled { check = .joining([check, self.check(conditions: conditions)]) }
        return SegmentPlanning(check: check, values: values)
    }

    /// Goes on with a plan.
    ///
    /// - Parameters:
    ///   - planning: How far it is.
    ///   - hosts: The same as when it was begun.
    /// - Returns: Nil if it is not made yet, since others are to have their turn.
    func plan(_ planning: inout SegmentPlanning, _ hosts: borrowing some HostNaming & ~Copyable) -> SegmentPlan? {
        let highestCodes = self.fields.indices.map { self.highestCode($0) }
        while planning.values.work > 0 {
            if planning.values.isWanting {
                self.judgeWanted(&planning.values, hosts)
            } else if let plan = self.table.plan(planning.check, highestCodes, &planning.values) {
                return plan
            }
        }
        return nil
    }
}
