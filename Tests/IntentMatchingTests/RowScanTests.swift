import Storage
import Testing
import WidgetModel

@testable import IntentMatching

/// The walk of a plan, a part at a time.
@Suite struct RowScanTests {
    private static let rows = 600_000

    /// Rows of one code; every 50,000th has another, and every third a second column's.
    private static func table() -> RowTable {
        var table = RowTable()
        for _ in 0..<2 { table.addColumn() }
        for row in 0..<Self.rows {
            table.append([FieldCodes(single: row % 50_000 == 7 ? 2 : 1), FieldCodes(single: row % 3 == 0 ? 1 : 2)])
        }
        return table
    }

    /// The rows that a plan finds, and in how many parts.
    private static func walk(
        _ path: SegmentPlan.Path,
        _ table: borrowing RowTable,
        _ instances: borrowing InstanceColumn
    ) -> (found: [UInt32], calls: Int) {
        var scan = RowScan(SegmentPlan(path: path, candidates: Self.rows))
        var buffer = Column<UInt32>(undefined: 100 + RowScan.slack)
        var found: [UInt32] = []
        var calls = 0
        while !scan.isDone {
            let count = scan.fill(&buffer, from: 0, limit: 100, table, instances) { _, _, _ in false }
            for place in 0..<count { found.append(buffer[place]) }
            calls += 1
        }
        return (found, calls)
    }

    @Test func `many rows of which few match take several calls, and give the same`() {
        let table = Self.table()
        var instances = InstanceColumn()
        for row in 0..<UInt32(Self.rows) { instances.append(InstanceNumber(raw: row + 5)) }
        let rare = (0..<UInt32(Self.rows)).filter { $0 % 50_000 == 7 }
        let isRare = CodeTest(form: .codes([2]))
        let dense = Self.walk(.dense(DenseProgram(steps: [.scan(column: 0, isRare)])), table, instances)
        #expect(dense.found == rare.map { $0 + 5 })
        #expect(dense.calls > 1)
        // The longer list, of which few rows pass.
        let long = SegmentPlan.Pass(column: 1, code: 2, length: 400_000, filters: [.column(0, isRare)])
        let listed = Self.walk(.postings([long]), table, instances)
        #expect(listed.found == rare.filter { $0 % 3 != 0 }.map { $0 + 5 })
        #expect(listed.calls > 1)
        // Both lists: each row once, in order.
        let other = SegmentPlan.Pass(column: 1, code: 1, length: 200_000, filters: [.column(0, isRare)])
        let again = SegmentPlan.Pass(column: 0, code: 2, length: rare.count)
        let joined = Self.walk(.postings([other, long, again]), table, instances)
        #expect(joined.found == rare.map { $0 + 5 })
        #expect(joined.calls > 1)
        // So many conditions on each block that it takes several calls, on rows that a few of them find, all, and none.
        func scan(_ code: UInt32) -> RowCheck { .column(0, CodeTest(form: .codes([code]))) }
        let blocks = (Self.rows + 65_535) / 65_536
        let many = Self.walk(.dense(table.program(.any((2..<700).map(scan)))), table, instances)
        #expect(many.found == rare.map { $0 + 5 } && many.calls >= 2 * blocks)
        let each = Self.walk(
            .dense(table.program(.all([.any([scan(1), scan(2)]), .all((0..<600).map { _ in scan(2) })]))),
            table,
            instances
        )
        #expect(each.found == rare.map { $0 + 5 } && each.calls >= 2 * blocks)
        // Where no row has passed, the rest is not asked.
        let nothing = table.program(.all([scan(9), .all((0..<600).map { _ in scan(2) })]))
        let none = Self.walk(.dense(nothing), table, instances)
        #expect(none.found.isEmpty && none.calls <= blocks)
        let all = Self.walk(.everything, table, instances)
        #expect(all.found.count == Self.rows && all.found.first == 5 && all.found.last == UInt32(Self.rows) + 4)
    }
}
