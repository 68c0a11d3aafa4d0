import Testing

@testable import IntentMatching

@Suite struct ShortTextTests {
    /// Texts of every length around fifteen bytes, in ASCII and not, with and without zeros.
    private static let texts: [String] = (0...20).flatMap { count in
        [
            String(repeating: "a", count: count), String("0123456789abcdefghij".prefix(count)),
            String(repeating: "\u{E9}", count: count), String(repeating: "\u{0}", count: count),
            String(repeating: "a", count: count) + "\u{1F600}",
        ]
    }

    @Test(arguments: Self.texts)
    func `a text's words are its bytes`(text: String) throws {
        let bytes = Array(text.utf8)
        let short = ShortText(text)
        #expect((short == nil) == (bytes.count > ShortText.bytesMax))
        #expect(short == ShortText(bytes.span))
        guard let short else { return }
        #expect(short.count == bytes.count)
        for index in 0..<16 {
            let word = index < 8 ? short.low : short.rest
            #expect(
                UInt8(truncatingIfNeeded: word >> UInt64(8 * (index & 7))) == (index < bytes.count ? bytes[index] : 0)
            )
        }
    }

    @Test func `a short text that was a long one is the same as any other`() {
        var text = "a text of more than fifteen bytes"
        text.removeLast(28)
        #expect(text == "a tex")
        #expect(ShortText(text) != nil)
        #expect(ShortText(text) == ShortText("a tex"))
    }

    @Test func `texts differ by their bytes and their lengths`() {
        let texts = Self.texts.filter { $0.utf8.count <= ShortText.bytesMax }
        for left in texts {
            for right in texts {
                #expect((ShortText(left) == ShortText(right)) == left.utf8.elementsEqual(right.utf8))
            }
        }
    }
}
