import Testing
import TestSupport
import WidgetModel

@testable import IntentMatching

@Suite struct TextSearchTests {
    private static func place(of bytes: [UInt8], in text: [UInt8], _ range: Range<Int>) -> Int? {
        guard bytes.count <= range.count else { return nil }
        return (range.lowerBound...range.upperBound - bytes.count).first { place in
            text[place..<place + bytes.count].elementsEqual(bytes)
        }
    }

    /// Two letters, so that beginnings come again and again.
    @Test(arguments: UInt64(900)..<920)
    func `texts are found where they stand first`(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        func text(_ length: Int, _ letters: UInt64) -> [UInt8] {
            (0..<length).map { _ in UInt8(ascii: "a") + UInt8(random.next() % letters) }
        }
        for _ in 0..<400 {
            let letters = 1 + random.next() % 3
            let text1 = text(Int(random.next() % 120), letters)
            let lower = Int(random.next() % UInt64(text1.count + 1))
            let range = lower..<lower + Int(random.next() % UInt64(text1.count - lower + 1))
            var search = TextSearch(of: Int(random.next() % 2) * text1.count)
            for _ in 0..<4 {
                let sought = text(Int(random.next() % 12), letters)
                let found = search.first(sought, in: text1.span, range)
                #expect(found == Self.place(of: sought, in: text1, range), "seed \(seed), \(sought) in \(text1)")
            }
        }
    }

    /// The text's length alone bounds the comparisons made in vain, however much is sought in it.
    @Test func `a text that is made to be tried in vain is searched by a table`() {
        let text = [UInt8](repeating: UInt8(ascii: "a"), count: 1000)
        let sought = [UInt8](repeating: UInt8(ascii: "a"), count: 504) + [UInt8(ascii: "b")]
        var search = TextSearch(of: text.count)
        for _ in 0..<8 {
            #expect(search.first(sought, in: text.span, 0..<1000) == nil)
            #expect(search.patience < 0)
        }
        #expect(search.patience >= -8 * sought.count, "one try of each, and no more")
        #expect(search.first(sought, in: (text + [UInt8(ascii: "b")]).span, 0..<1001) == 496)
        var plain = TextSearch(of: 30)
        #expect(plain.first(Array("length-7".utf8), in: "instance-of-length-7".utf8.span, 0..<20) == 12)
        #expect(plain.patience > 0)
    }

    /// A wildcard is as many searches in one text as it has texts between stars.
    @Test(arguments: UInt64(920)..<930)
    func `a wildcard matches as if each star were tried at each place`(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        func text(_ length: Int, _ letters: [Character]) -> String {
            String((0..<length).map { _ in letters[Int(random.next() % UInt64(letters.count))] })
        }
        for _ in 0..<2000 {
            let pattern = text(Int(random.next() % 10), ["a", "a", "b", "*"])
            let value = text(Int(random.next() % 16), ["a", "a", "b"])
            let wildcard = try #require(Wildcard(pattern))
            let matches = Self.matches(Array(pattern.utf8)[...], Array(value.utf8)[...])
            #expect(wildcard.matches(value.utf8.span) == matches, "\(pattern) on \(value)")
        }
    }

    private static func matches(_ pattern: ArraySlice<UInt8>, _ value: ArraySlice<UInt8>) -> Bool {
        guard let first = pattern.first else { return value.isEmpty }
        guard first == UInt8(ascii: "*") else {
            return value.first == first && Self.matches(pattern.dropFirst(), value.dropFirst())
        }
        return (value.startIndex...value.endIndex).contains { Self.matches(pattern.dropFirst(), value[$0...]) }
    }
}
