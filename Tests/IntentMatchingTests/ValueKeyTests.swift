import TestSupport
import Testing
import WidgetModel

@testable import IntentMatching

@Suite struct ValueKeyTests {
    private static func words(_ key: ValueKey) -> [UInt64] { [key.first, key.second, key.third] }

    @Test func `ranges have one key if and only if they are equal`() {
        let numbers: [ExactNumber] = [
            .int(0), .int(1), .int(-1), .int(.max), .unsigned(.max), .double(0.5), .double(1e300),
        ]
        let bounds: [NumericRange.Bound?] =
            [nil] + numbers.flatMap { number in [true, false].map { .init(number, isInclusive: $0) } }
        let ranges = bounds.flatMap { lower in bounds.map { NumericRange(lower: lower, upper: $0) } }
        #expect(Set(ranges.map { Self.words(ValueKey($0)) }).count == Set(ranges).count)
        for range in ranges { #expect(Self.words(ValueKey(range)) == Self.words(ValueKey(range))) }
    }

    @Test func `a value is the same as a literal and as an attribute`() throws {
        for text in Dice.strings {
            let words = ValueKey.words(text.utf8.span)
            guard let key = ValueKey(ParameterValue.string(text)) else {
                #expect(text.utf8.count > ValueKey.textMax)
                continue
            }
            #expect(Self.words(key) == words)
        }
        for int in Dice.ints {
            #expect(
                Self.words(try #require(ValueKey(ParameterValue.int(int))))
                    == Self.words(ValueKey(ExactNumber.int(int)))
            )
        }
        for double in Dice.doubles {
            let number = try #require(ExactNumber(double))
            #expect(Self.words(try #require(ValueKey(ParameterValue.double(double)))) == Self.words(ValueKey(number)))
        }
    }
}
