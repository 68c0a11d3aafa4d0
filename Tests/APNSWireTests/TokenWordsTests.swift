import TestSupport
import Testing
import WidgetModel

@testable import APNSWire

@Suite struct TokenWordsTests {
    private static func decode(_ hex: [UInt8], into words: inout TokenWords) -> Bool { words.decode(hex: hex.span) }

    @Test(arguments: 1...40)
    func `a token reads alike from its digits in either case and from its bytes`(count: Int) {
        var dice = SplitMix64(seed: UInt64(count))
        let token = DeviceToken(bytes: (0..<count).map { _ in UInt8.random(in: 0...255, using: &dice) })
        // The words of an earlier token must not stay.
        var words = TokenWords(DeviceToken(bytes: [UInt8](repeating: 0xFF, count: 41 - count)))
        for hex in [token.hex, token.hex.uppercased()] {
            let isHex = Self.decode(Array(hex.utf8), into: &words)
            #expect(isHex)
            #expect(words == TokenWords(token))
            #expect(words.hash(seed: 5) == TokenWords(token).hash(seed: 5))
            #expect(words.hash(seed: 5) == TokenWords.hash(token.bytes.span, seed: 5))
            #expect(words.hash(seed: 5) != words.hash(seed: 6))
        }
    }

    @Test func `tokens that differ in a byte or in length are different`() {
        let token = [UInt8](repeating: 7, count: 32)
        for index in token.indices {
            var other = token
            other[index] ^= 1
            #expect(TokenWords(DeviceToken(bytes: other)) != TokenWords(DeviceToken(bytes: token)))
        }
        #expect(TokenWords(DeviceToken(bytes: token)) != TokenWords(DeviceToken(bytes: token + [0])))
    }

    @Test(arguments: [0, 7, 8, 15, 16, 31, 32, 33])
    func `every character at every place is a digit or is found out`(place: Int) {
        var digits = [UInt8](repeating: UInt8(ascii: "a"), count: 34)
        for character in UInt8.min...UInt8.max {
            digits[place] = character
            var words = TokenWords()
            let isHex = Self.decode(digits, into: &words)
            #expect(isHex == (Base16.digit(character) != nil), "character \(character)")
            let isHexToo = Base16.isHex(digits.span)
            #expect(isHexToo == isHex, "character \(character)")
        }
    }

    @Test func `no digits and an odd number of them are no token`() {
        var words = TokenWords()
        for hex in ["", "a", "abc", "0123456789abcdef0"] {
            let isToken = Self.decode(Array(hex.utf8), into: &words)
            #expect(!isToken)
        }
    }

    @Test(arguments: 0...30)
    func `a byte is found where it first stands`(place: Int) {
        var text = [UInt8](repeating: 0x2E, count: 31)
        let absent = text.span.firstIndex(of: 0x2F)
        #expect(absent == nil)
        for index in place..<31 { text[index] = 0x2F }
        let found = text.span.firstIndex(of: 0x2F)
        #expect(found == place)
    }
}
