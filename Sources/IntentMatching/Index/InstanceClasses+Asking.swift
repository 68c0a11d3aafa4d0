import BasicContainers
import Storage

/// Asking which instances match, by their classes.
///
/// A query tests its fields on the classes first, and then looks for the instances' rows of the classes that pass.
extension InstanceClasses {
    /// Classes that one look finds.
    private static let foundMax = 4096
    /// The work of a look, see ``ValueTables/work``, unless it has gone as far as a look may.
    private static let lookWork = MatchCursor.workMax / 16
    /// More classes than these are not looked up list by list.
    private static let driverCodesMax = 1 << 16

    /// The parts of a check on the fields that ask nothing of hosts: those are asked of the classes.
    static func classChecks(of check: RowCheck) -> [RowCheck] {
        var checks: [RowCheck] = []
        _ = self.lifted(check) { part in
            checks.append(part)
            return .always
        }
        return checks
    }

    /// A check on the fields as one on the instances' rows.
    ///
    /// - Parameters:
    ///   - check: The check.
    ///   - found: Each of its ``classChecks(of:)`` as a check on the instances' rows.
    static func lifted(_ check: RowCheck, _ found: [RowCheck]) -> RowCheck {
        var place = 0
        return self.lifted(check) { _ in
            place += 1
            return found[place - 1]
        }
    }

    private static func lifted(_ check: RowCheck, _ classes: (RowCheck) -> RowCheck) -> RowCheck {
        if self.isOfClasses(check) { return classes(check) }
        switch check {
        case .never, .always: return check
        case .column(_, let test): return .column(self.hostColumn, test)
        case .all(let parts):
            let own = classes(.joining(parts.filter { self.isOfClasses($0) }))
            return .joining([own] + parts.filter { !self.isOfClasses($0) }.map { self.lifted($0, classes) })
        case .any(let parts):
            let own = classes(.alternatives(parts.filter { self.isOfClasses($0) }))
            return .alternatives([own] + parts.filter { !self.isOfClasses($0) }.map { self.lifted($0, classes) })
        }
    }

    /// Whether a check on the fields asks nothing of hosts.
    private static func isOfClasses(_ check: RowCheck) -> Bool {
        switch check {
        case .never, .always: true
        case .column(let field, _): field != KindSegment.hostField
        case .all(let parts), .any(let parts): parts.allSatisfy { self.isOfClasses($0) }
        }
    }

    /// Goes on with finding classes.
    ///
    /// - Parameters:
    ///   - scan: The walk of a plan for ``table``.
    ///   - codes: Where the codes of those that are found are added, ascending.
    ///   - judge: The filters' judgements of values.
    /// - Returns: The work of that, see ``ValueTables/work``.
    func find(_ scan: inout RowScan, _ codes: inout [UInt32], _ judge: CodeJudge) -> Int {
        var found = Column<UInt32>(undefined: Self.foundMax + RowScan.slack)
        let count = scan.fill(&found, from: 0, limit: Self.foundMax, self.table, self.numbers, judge)
        for place in 0..<count where self.hasInstances(found[place]) { codes.append(found[place] + 1) }
        return scan.isDone || count >= Self.foundMax ? Self.lookWork : MatchCursor.workMax
    }

    /// The classes that were found, as a check on the instances' rows.
    func check(_ codes: [UInt32]) -> RowCheck {
        guard !codes.isEmpty else { return .never }
        guard codes.count < self.count else { return .always }
        guard codes.count > 4 else { return .column(Self.classColumn, CodeTest(form: .codes(codes))) }
        var table = [UInt8](repeating: 0, count: CodeTest.tableSize(self.bound))
        for code in codes { table[Int(code)] = 1 }
        let passing = codes.count <= Self.driverCodesMax ? codes : nil
        return .column(Self.classColumn, CodeTest(form: .table(table, passing: passing)))
    }
}
