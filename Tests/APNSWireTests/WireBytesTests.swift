@testable import APNSWire
import TestSupport
import Testing

@Suite struct WireBytesTests {
    private static func holds(_ bytes: [UInt8], _ text: StaticString, _ start: Int) -> Bool {
        bytes.span.holds(text, at: start)
    }

    private static func decoded(_ text: [UInt8]) -> [UInt8]? { Base64.decode(text.span) }

    @Test func `a literal is found where it stands and nowhere else`() {
        let bytes = Array("xxcontent-changedyy".utf8)
        for start in -1...20 { #expect(Self.holds(bytes, "content-changed", start) == (start == 2)) }
        #expect(Self.holds(bytes, "", 19))
        #expect(!Self.holds(bytes, "", 20))
    }

    @Test func `the hash sees every byte, the length and the seed`() {
        var seen: Set<UInt64> = []
        var count = 0
        for length in 0..<40 {
            let bytes = [UInt8](repeating: 0, count: length)
            seen.insert(ByteHash(seed: 1).hash(bytes.span))
            seen.insert(ByteHash(seed: 2).hash(bytes.span))
            count += 2
            for index in bytes.indices {
                var other = bytes
                other[index] = 1
                seen.insert(ByteHash(seed: 1).hash(other.span))
                count += 1
            }
        }
        #expect(seen.count == count)
    }

    @Test(arguments: UInt64(0)..<50)
    func `base64 is read back in both alphabets`(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        let bytes = (0..<Int(seed)).map { _ in UInt8(truncatingIfNeeded: random.next()) }
        var text: [UInt8] = []
        Base64.encode(bytes.span, into: &text)
        #expect(Self.decoded(text) == bytes)
        while !text.count.isMultiple(of: 4) { text.append(UInt8(ascii: "=")) }
        #expect(Self.decoded(text) == bytes)
        #expect(Self.decoded((text + [UInt8(ascii: "=")])) == nil)
    }

    @Test(arguments: ["A", "AAAAA", "AB", "AAB", "A=", "AA=", "A===", "=", "====", "AA==AA==", "A A=", "AAA*", "AAAA="])
    func `what is not base64 is refused`(text: String) {
        #expect(Self.decoded(Array(text.utf8)) == nil)
    }
}
