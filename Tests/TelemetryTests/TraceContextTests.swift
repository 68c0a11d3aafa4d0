import Telemetry
import Testing
import Tracing
import WidgetModel

@Suite struct `A traceparent` {
    private static let valid = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

    private static let rest = "4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

    /// Values that are to be ignored.
    private static let invalid: [String] = [
        "", "00", "ff-\(rest)", "0g-\(rest)",
        // Upper case.
        "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00F067AA0BA902B7-01",
        // Zeros.
        "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
        // Version 00 has no more fields, and no fewer characters.
        "00-\(rest)-", "00-\(rest)-00", "00-\(rest)0", "00-\(rest.dropLast())", " 00-\(rest.dropLast())",
        // Other separators, flags that are none.
        "00_4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736_00f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7_01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0x",
        // A version to come, whose next field is not set apart.
        "01-\(rest)00",
    ]

    private static func read(_ text: String) -> TraceContext? { TraceContext(traceparent: text.utf8.span) }

    @Test func `is read and written as the specification's example`() throws {
        let context = try #require(Self.read(Self.valid))
        #expect(context.traceID == "4bf92f3577b34da6a3ce929d0e0e4736")
        #expect(Base16.text(of: context.spanID) == "00f067aa0ba902b7")
        #expect(context.isSampled)
        #expect(context.traceparent == Self.valid)
    }

    @Test(arguments: [("00", false), ("01", true), ("02", false), ("ff", true)])
    func `has one flag that counts`(flags: String, isSampled: Bool) throws {
        #expect(try #require(Self.read(Self.valid.dropLast(2) + flags)).isSampled == isSampled)
    }

    @Test(arguments: Self.invalid)
    func `that is not valid is ignored`(text: String) {
        #expect(Self.read(text) == nil)
    }

    @Test(arguments: ["", "-", "-what.comes-next"])
    func `of a version to come is read as far as it is known`(rest: String) throws {
        let context = try #require(Self.read("cc" + Self.valid.dropFirst(2) + rest))
        #expect(context.traceparent == Self.valid)
    }
}
