package import WidgetModel

/// The numbers that a `numeric` operator accepts: an interval, possibly open at an end, possibly empty.
package struct NumericRange: Hashable, Sendable {
    package struct Bound: Hashable, Sendable {
        package let number: ExactNumber
        /// Whether the number itself is in the range.
        package let isInclusive: Bool

        package init(_ number: ExactNumber, isInclusive: Bool) {
            self.number = number
            self.isInclusive = isInclusive
        }
    }

    package var lower: Bound?
    package var upper: Bound?

    package init(lower: Bound? = nil, upper: Bound? = nil) {
        self.lower = lower
        self.upper = upper
    }

    /// Whether no number is in it: the bounds cross, or meet in a number that one of them leaves out.
    package var isEmpty: Bool {
        guard let lower, let upper else { return false }
        return upper.number < lower.number
            || (lower.number == upper.number && !(lower.isInclusive && upper.isInclusive))
    }

    package func contains(_ number: ExactNumber) -> Bool {
        if let lower, !(lower.number < number || (lower.isInclusive && lower.number == number)) { return false }
        if let upper, !(number < upper.number || (upper.isInclusive && upper.number == number)) { return false }
        return true
    }

    package func encode(into writer: inout ByteWriter) {
        for bound in [self.lower, self.upper] {
            writer.write(bound) { writer, bound in
                writer.write(bound.isInclusive)
                bound.number.encode(into: &writer)
            }
        }
    }

    package init(from reader: inout ByteReader) throws(ByteFault) {
        self.lower = try Self.readBound(from: &reader)
        self.upper = try Self.readBound(from: &reader)
    }

    private static func readBound(from reader: inout ByteReader) throws(ByteFault) -> Bound? {
        try reader.readOptional { (reader) throws(ByteFault) in
            let isInclusive = try reader.readBool()
            return Bound(try ExactNumber(from: &reader), isInclusive: isInclusive)
        }
    }
}
