import BasicContainers
import Storage

/// A plan for the rows of one form of a segment, in the making.
///
/// Conditions are judged on values, and classes are found, before there can be a plan; both some at a time.
struct SegmentPlanning: Sendable {
    let isShared: Bool
    /// The question, as a check on the codes of the segment's fields.
    let check: RowCheck
    /// The conditions that values are judged by.
    var values: ValueTables
    /// Of rows that are of classes: the parts of ``check`` that ask nothing of hosts, and of the first of them which classes
    /// pass, as checks on the rows.
    let classChecks: [RowCheck]
    fileprivate var found: [RowCheck] = []
    /// Whether a walk looks for the classes of the next one, and the codes that it has found.
    fileprivate var isWalking = false
    fileprivate var codes: [UInt32] = []

    init(_ check: RowCheck, isShared: Bool, _ values: consuming ValueTables) {
        self.isShared = isShared
        self.check = check
        self.values = values
        self.classChecks = isShared ? InstanceClasses.classChecks(of: check) : []
    }
}

extension KindSegment {
    /// Begins to plan for the rows of one form.
    ///
    /// - Parameters:
    ///   - question: The question about them.
    ///   - isShared: Whether rows that are one of a class are asked, or the others.
    ///   - work: The most work until others get their turn, see ``ValueTables/work``.
    ///   - hosts: The names of the hosts by number.
    func beginPlan(
        _ question: MatchPlanning,
        isShared: Bool,
        work: Int,
        _ hosts: borrowing some HostNaming & ~Copyable
    ) -> SegmentPlanning {
        var values = ValueTables(work: work)
        var check = self.count == 0 ? RowCheck.never : .always
        if self.count > 0, let pattern = question.pattern {
            check = self.check(pattern, isShared: isShared, isNamed: question.isNamed, &values, hosts)
        }
        if let conditions = question.fulfilled { check = .joining([check, self.check(conditions: conditions)]) }
        return SegmentPlanning(check, isShared: isShared, values)
    }

    /// Goes on with a plan.
    ///
    /// - Parameters:
    ///   - planning: How far it is.
    ///   - scan: Walks the classes, from one call to the next.
    ///   - hosts: The same as when it was begun.
    /// - Returns: Nil if it is not made yet, since others are to have their turn.
    func plan(
        _ planning: inout SegmentPlanning,
        _ scan: inout RowScan,
        _ hosts: borrowing some HostNaming & ~Copyable
    ) -> SegmentPlan? {
        let highestCodes = self.fields.indices.map { self.highestCode($0) }
        while planning.values.work > 0 {
            if planning.values.isWanting {
                self.judgeWanted(&planning.values, hosts)
            } else if planning.found.count < planning.classChecks.count {
                self.findClasses(&planning, &scan, highestCodes, hosts)
            } else if !planning.isShared {
                if let plan = self.table.plan(planning.check, highestCodes, &planning.values) { return plan }
            } else {
                let check = InstanceClasses.lifted(planning.check, planning.found)
                let codes = [self.classes.bound, self.highestHost]
                if let plan = self.classes.members.plan(check, codes, &planning.values) { return plan }
            }
        }
        return nil
    }

    /// Looks for classes that pass the next of the checks on classes.
    private func findClasses(
        _ planning: inout SegmentPlanning,
        _ scan: inout RowScan,
        _ highestCodes: [Int],
        _ hosts: borrowing some HostNaming & ~Copyable
    ) {
        guard planning.isWalking else {
            let check = planning.classChecks[planning.found.count]
            if case .always = check { return planning.found.append(.always) }
            guard let plan = self.classes.table.plan(check, highestCodes, &planning.values) else { return }
            scan = RowScan(plan)
            return planning.isWalking = true
        }
        planning.values.work -= self.classes.find(&scan, &planning.codes) { self.satisfies($0, $1, $2, hosts) }
        guard scan.isDone else { return }
        planning.found.append(self.classes.check(planning.codes))
        planning.codes = []
        planning.isWalking = false
    }
}
