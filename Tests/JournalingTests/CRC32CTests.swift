import Journaling
import TestSupport
import Testing

@Suite struct CRC32CTests {
    /// RFC 3720 appendix B.4, and the check value of the catalogue of parametrised CRC algorithms.
    private static let vectors: [(bytes: [UInt8], value: UInt32)] = [
        ([UInt8](repeating: 0, count: 32), 0x8A91_36AA),
        ([UInt8](repeating: 0xFF, count: 32), 0x62A8_AB43),
        ([UInt8](0..<32), 0x46DD_794E),
        ([UInt8]((0..<32).reversed()), 0x113F_DB5C),
        (Array("123456789".utf8), 0xE306_9283),
        ([], 0),
    ]

    @Test(arguments: Self.vectors)
    func `it gives the published values`(bytes: [UInt8], value: UInt32) {
        #expect(CRC32C.of(bytes.span) == value)
    }

    @Test(arguments: UInt64(0)..<16)
    func `it is the same in one piece, in any two pieces, by tables and bit by bit`(seed: UInt64) {
        var dice = SplitMix64(seed: seed)
        let bytes = (0..<Int.random(in: 0...100, using: &dice)).map { _ in UInt8.random(in: 0...255, using: &dice) }
        let cut = Int.random(in: 0...bytes.count, using: &dice)
        var pieces = CRC32C()
        let (head, rest) = (Array(bytes[..<cut]), Array(bytes[cut...]))
        pieces.combine(head.span)
        pieces.combine(rest.span)
        var state = UInt32.max
        for byte in bytes {
            state ^= UInt32(byte)
            for _ in 0..<8 { state = state & 1 == 0 ? state >> 1 : state >> 1 ^ 0x82F6_3B78 }
        }
        #expect(CRC32C.of(bytes.span) == ~state, "seed \(seed)")
        var byTables = CRC32C()
        byTables.combineByTables(bytes.span)
        #expect(byTables.value == ~state, "seed \(seed)")
        #expect(pieces.value == ~state, "seed \(seed), cut at \(cut)")
    }

    @Test func `a word counts as its eight bytes, the lowest first`() {
        var word = CRC32C()
        word.combine(0x0807_0605_0403_0201)
        #expect(word.value == CRC32C.of([1, 2, 3, 4, 5, 6, 7, 8].span))
    }
}
