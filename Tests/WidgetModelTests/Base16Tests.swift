import Testing
import WidgetModel

/// Bytes as hexadecimal digits.
@Suite struct Base16Tests {
    @Test func `every byte is written as two digits, and read as it was`() throws {
        let bytes = Array(UInt8.min...UInt8.max)
        let text = Base16.text(of: bytes)
        #expect(text.hasPrefix("000102") && text.hasSuffix("fdfeff"))
        #expect(Base16.bytes(of: text.utf8.span) == bytes)
        #expect(Base16.bytes(of: text.uppercased().utf8.span) == bytes)
    }

    @Test(arguments: ["0", "abc", "0g", "g0", "0x", " 0", "٠٠"])
    func `what is no pair of digits each is no bytes`(text: String) {
        #expect(Base16.bytes(of: text.utf8.span) == nil)
    }

    @Test func `a word has sixteen digits whatever it is`() {
        #expect(Base16.text(of: UInt64(0)) == "0000000000000000")
        #expect(Base16.text(of: 0xB7) == "00000000000000b7")
        #expect(Base16.text(of: UInt64.max) == "ffffffffffffffff")
    }

    @Test func `a digit is one of the twenty-two`() {
        let digits = (UInt8.min...UInt8.max).filter { Base16.digit($0) != nil }
        #expect(String(decoding: digits, as: UTF8.self) == "0123456789ABCDEFabcdef")
    }
}
