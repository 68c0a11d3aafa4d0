import WidgetModel

/// An instant in six bytes: whole milliseconds from the epoch until the year 10889. Instants outside of that range become its first or its
/// last.
struct ShortInstant: Hashable, Sendable {
    private let low: UInt16
    private let middle: UInt16
    private let high: UInt16

    /// The last one that there is.
    static let last = Instant(milliseconds: 1 << 48 - 1)

    init(_ instant: Instant) {
        let milliseconds = max(.epoch, min(Self.last, instant)).milliseconds
        self.low = UInt16(truncatingIfNeeded: milliseconds)
        self.middle = UInt16(truncatingIfNeeded: milliseconds >> 16)
        self.high = UInt16(truncatingIfNeeded: milliseconds >> 32)
    }

    var instant: Instant {
        Instant(milliseconds: Int64(self.low) | Int64(self.middle) << 16 | Int64(self.high) << 32)
    }
}
