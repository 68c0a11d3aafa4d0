import Testing
import WidgetModel

@Suite struct JSONMakingTests {
    /// An `after` at the very end, smoothed, is asked for later still.
    @Test(arguments: [253_402_300_799_999, 253_402_300_800_000, Int64.max])
    func `a date is a text, however far away it is`(milliseconds: Int64) {
        #expect(JSONValue.instant(Instant(milliseconds: milliseconds)) == .string("9999-12-31T23:59:59.999Z"))
    }
}
