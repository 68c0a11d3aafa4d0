import HTTPTransport
import Testing

/// Content codings and entity tags.
@Suite struct ContentTests {
    @Test func `what is compressed is gzip, and says what it was`() {
        let text = Array(String(repeating: #"{"kind":"scores"},"#, count: 200).utf8)
        guard let coded = Gzip.compressed(text.span) else {
            Issue.record("it was not compressed")
            return
        }
        #expect(coded.count < text.count / 10)
        // RFC 1952: the magic number, the method deflate; at the end the length.
        #expect(Array(coded.prefix(3)) == [0x1F, 0x8B, 8])
        let length = coded.suffix(4).reversed().reduce(0) { $0 << 8 | Int($1) }
        #expect(length == text.count)
    }

    @Test(arguments: [0, 1, 2, 18])
    func `what would grow is left as it is`(count: Int) {
        let bytes = Array(0..<UInt8(count))
        let coded = Gzip.compressed(bytes.span)
        #expect(coded == nil)
    }

    @Test(
        arguments: [
            ("gzip", true), ("GZip", true), ("x-gzip", true), ("deflate, gzip;q=0.5, br", true), ("*", true),
            ("gzip;q=1.0", true), ("gzip ; q=0.001", true), ("br, *;q=0.1", true), ("*;q=0, gzip", true), ("", false),
            ("br", false), ("identity", false), ("gzip;q=0", false), ("gzip;q=0.000", false), ("gzip;q=0, *", false),
            ("*;q=0", false), ("gzipped", false), ("gzip;q=x", false),
        ]
    )
    func `a client says whether it takes gzip`(acceptEncoding: String, isAccepted: Bool) {
        #expect(Gzip.isAccepted(acceptEncoding) == isAccepted)
    }

    @Test(
        arguments: [
            (#""a""#, true), (#"W/"a""#, true), ("*", true), (#""b", "a""#, true), (#""b",W/"a" "#, true), ("", false),
            (#""b""#, false), ("a", false), (#""A""#, false),
        ]
    )
    func `a tag is known by weak comparison`(ifNoneMatch: String, isKnown: Bool) {
        #expect(EntityTag(#""a""#).isKnown(ifNoneMatch) == isKnown)
        #expect(EntityTag(#"W/"a""#).isKnown(ifNoneMatch) == isKnown)
    }

    @Test func `a tag is its content's`() {
        let (one, other) = (EntityTag([1, 2], isWeak: true), EntityTag([1, 3], isWeak: true))
        #expect(one == EntityTag([1, 2], isWeak: true) && one != other)
        #expect("\(one)".hasPrefix(#"W/""#) && "\(EntityTag([1], isWeak: false))".hasPrefix("\""))
    }
}
