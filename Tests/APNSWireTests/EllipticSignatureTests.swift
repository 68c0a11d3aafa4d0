import APNSWire
import Testing

@Suite struct EllipticSignatureTests {
    private static let small: [UInt8] = Array(repeating: 0, count: 31) + [1]
    private static let big: [UInt8] = Array(repeating: 0xFF, count: 32)

    @Test(arguments: [(TokenFixture.r, TokenFixture.s), (small, big), (big, small), (small, small)])
    func `DER becomes R and S of 32 bytes each`(r: [UInt8], s: [UInt8]) {
        #expect(EllipticSignature.raw(TokenFixture.der(TokenFixture.integer(r), TokenFixture.integer(s))) == r + s)
    }

    @Test func `64 bytes are raw whatever they begin with`() {
        let bytes: [UInt8] = [0x30, 62, 0x02] + Array(repeating: 7, count: 61)
        #expect(EllipticSignature.raw(bytes) == bytes)
    }

    @Test(
        arguments: [
            [], [0x30], [0x30, 0], Array(repeating: 1, count: 63), Array(repeating: 1, count: 65),
            TokenFixture.der([0, 1], [1]), TokenFixture.der([0x80], [1]), TokenFixture.der([], [1]),
            TokenFixture.der([1], []), TokenFixture.der([1] + big, [1]), TokenFixture.der([0] + big + [1], [1]),
            TokenFixture.der([1], [1]) + [0], Array(TokenFixture.der([1], [1]).dropLast()),
            [0x31, 6, 2, 1, 1, 2, 1, 1], [0x30, 6, 3, 1, 1, 2, 1, 1], [0x30, 6, 2, 1, 1, 3, 1, 1],
            [0x30, 0x81, 6, 2, 1, 1, 2, 1, 1], [0x30, 0x80, 2, 1, 1, 2, 1, 1, 0, 0], [0x30, 6, 2, 200, 1, 2, 1, 1],
            [0x30, 6, 2, 4, 1, 2, 1, 1], [0x30, 7, 2, 1, 1, 2, 1, 1],
        ] as [[UInt8]]
    )
    func `anything but strict DER is refused`(bytes: [UInt8]) {
        #expect(EllipticSignature.raw(bytes) == nil)
    }

    @Test func `no byte of a DER signature can be cut off`() {
        let whole = TokenFixture.der(TokenFixture.integer(TokenFixture.r), TokenFixture.integer(Self.big))
        for count in 0..<whole.count where count != 64 {
            #expect(EllipticSignature.raw(Array(whole.prefix(count))) == nil)
        }
    }
}
