import Testing
import WidgetModel

@testable import Engine

/// The ring of the pushes that came in last.
@Suite struct RecentPushesTests {
    @Test(arguments: [65_535, 65_536, 65_537])
    func `the last 65,536 are listed`(count: Int) {
        var recent = RecentPushes()
        for number in 0..<count { recent.append(PushNumber(number), at: LogPosition(UInt64(number) + 1)) }
        let oldest = max(0, count - 65_536)
        #expect(recent.count == UInt64(count))
        #expect(recent.oldest == UInt64(oldest))
        #expect(recent[UInt64(oldest)]?.slot == PushNumber(oldest))
        #expect(recent[UInt64(count - 1)]?.slot == PushNumber(count - 1))
        #expect(recent[UInt64(count)] == nil)
        #expect(oldest == 0 || recent[UInt64(oldest - 1)] == nil)
    }
}
