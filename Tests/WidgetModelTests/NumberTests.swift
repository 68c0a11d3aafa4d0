import TestSupport
import Testing
import WidgetModel

/// A number of a table's row.
@Suite struct NumberTests {
    @Test func `takes four bytes, as a row that holds one counts on`() {
        #expect(MemoryLayout<HostNumber>.size == 4)
        #expect(MemoryLayout<HostNumber>.stride == 4)
        #expect(MemoryLayout<[4 of HostNumber]>.size == 16)
    }

    @Test func `says of none that it is none, and of no row`() {
        #expect(HostNumber.none.isNone)
        #expect(!HostNumber(0).isNone)
        #expect(!HostNumber(raw: .max - 1).isNone)
        #expect("\(HostNumber.none) \(HostNumber(7))" == "none 7")
    }

    @Test func `is in order as the rows are, none last`() {
        #expect([HostNumber.none, HostNumber(2), HostNumber(1)].sorted() == [HostNumber(1), HostNumber(2), .none])
        #expect(HostNumber(5).index == 5)
    }
}
