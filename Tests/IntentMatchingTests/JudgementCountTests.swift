@testable import IntentMatching
import Synchronization
import Testing
import WidgetModel

/// A pattern is judged once for each distinct value of a field at most, however many rows have it: what a wildcard costs is not to
/// grow with the widgets that are configured alike.
@Suite struct JudgementCountTests {
    /// The values of a field, which counts how often one of them is judged.
    private struct CountedValues: CodeValues {
        let dictionary: ValueDictionary
        let judged: Counter

        final class Counter: Sendable {
            let count = Atomic(0)
        }

        var highestCode: Int { self.dictionary.highestCode }

        func codes(equalTo literal: MatchLiteral) -> [UInt32] { self.dictionary.codes(equalTo: literal) }

        func satisfies(_ code: UInt32, _ atoms: [MatchAtom]) -> Bool {
            self.judged.count.add(1, ordering: .relaxed)
            return self.dictionary.satisfies(code, atoms)
        }

        func mark(_ atoms: [MatchAtom], in table: inout [UInt8]) {
            for code in 0..<self.highestCode + 1 where self.satisfies(UInt32(code), atoms) { table[code] = 1 }
        }
    }

    private static let rows = 40_000

    /// Few values are judged ahead of the rows, many when it is known how many rows will be asked. Alone, beside a list that
    /// leaves few rows, and beside one that leaves most.
    @Test(arguments: [1, 10, 4_000, 20_000], [nil, 400, 2] as [Int?])
    func `each value is judged once at most`(distinct: Int, groups: Int?) throws {
        var (values, group) = (ValueDictionary(), ValueDictionary())
        var table = RowTable()
        var instances = InstanceColumn()
        for _ in 0..<2 { table.addColumn() }
        for row in 0..<Self.rows {
            let value = values.use(.string("value-\(row % distinct)-\(row % distinct % 2 == 0 ? "even" : "odd")"))
            let other = group.use(.int(Int64(row % (groups ?? 1))))
            table.append([FieldCodes(single: value), FieldCodes(single: other)])
            instances.append(UInt32(row))
        }
        let counted = CountedValues(dictionary: values, judged: CountedValues.Counter())
        let pattern = try MatchPattern.parse(["a": ["wildcard": "*even"]])
        guard case .field(_, let atoms) = pattern else {
            Issue.record("\(pattern) is no condition on a field")
            return
        }
        let test = try #require(counted.test(atoms))
        let few = try #require(group.test([.equals(.number(.int(0)))]))
        let check = RowCheck.joining([.column(0, test)] + (groups == nil ? [] : [.column(1, few)]))
        let highest = [values.highestCode, group.highestCode]
        let plan = Planner(table: table, highestCodes: highest).plan(check)
        var scan = RowScan(batchLimit: 4096, candidates: plan.candidates)
        var found = 0
        scan.run(plan, table, instances) { found += $0.count }
        let wanted = (0..<Self.rows).count { $0 % (groups ?? 1) == 0 && $0 % distinct % 2 == 0 }
        #expect(found == wanted)
        #expect(counted.judged.count.load(ordering: .relaxed) <= distinct + 1)
    }
}
