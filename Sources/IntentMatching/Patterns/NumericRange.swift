package import WidgetModel

/// The numbers that a `numeric` operator accepts: an interval, possibly open at an end, possibly empty.
package struct NumericRange: FieldCoded, Hashable, Sendable {
    package static let coding = Fields(Self.init(lower:upper:), \.lower, \.upper)

    package struct Bound: FieldCoded, Hashable, Sendable {
        package static let coding = Fields({ Self($1, isInclusive: $0) }, \.isInclusive, \.number)

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
}
