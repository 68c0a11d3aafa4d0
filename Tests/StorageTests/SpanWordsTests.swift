import Storage
import Testing

@Suite struct SpanWordsTests {
    @Test(arguments: 0..<40)
    func `spans are compared to the last byte`(count: Int) {
        func equal(_ left: [UInt8], _ right: [UInt8]) -> Bool { left.span.equals(right.span) }
        let bytes = (0..<count).map { UInt8($0 * 5 + 1) }
        #expect(equal(bytes, bytes))
        for index in bytes.indices {
            var other = bytes
            other[index] ^= 0x80
            #expect(!equal(bytes, other))
        }
        #expect(!equal(bytes, bytes + [0]))
    }
}
