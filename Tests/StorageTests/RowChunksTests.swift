import Storage
import Testing

@Suite struct RowChunksTests {
    private static let chunkRows = 8192

    private final class Owner: Sendable {}

    private static func elements<Row>(_ rows: borrowing RowChunks<Row>) -> [Row] { rows.indices.map { rows[$0] } }

    @Test func `rows stay what they are while there become more`() {
        // More chunks than the first list has room for.
        let count = 9 * Self.chunkRows + 5
        var rows = RowChunks<Int>()
        #expect(rows.count == 0)
        for number in 0..<count { rows.append(number) }
        #expect(Self.elements(rows) == Array(0..<count))
        for number in stride(from: 0, to: count, by: Self.chunkRows - 1) { rows[number] = -number }
        let isChanged = rows.indices.allSatisfy { rows[$0] == ($0 % (Self.chunkRows - 1) == 0 ? -$0 : $0) }
        #expect(isChanged)
    }

    @Test func `rows of two chunks are changed one by one`() {
        let count = Self.chunkRows + 3
        var rows = RowChunks<String>()
        rows.append(repeating: "a", count: count)
        rows[0] = "b"
        rows[count - 1] = "c"
        rows.append("d")
        #expect(Self.elements(rows) == ["b"] + Array(repeating: "a", count: count - 2) + ["c", "d"])
    }

    @Test func `what rows refer to goes with the last value that has them`() {
        weak var held: Owner?
        do {
            let owner = Owner()
            held = owner
            var rows = RowChunks<Owner>()
            rows.append(repeating: owner, count: Self.chunkRows)
            rows.append(owner)
            rows[0] = Owner()
            #expect(held != nil)
            rows = RowChunks()
        }
        #expect(held == nil)
    }

    @Test(arguments: [0, 1, 8191, 8192, 8193, 20_000])
    func `rows that were expected are rows like others, fewer and more of them`(expected: Int) {
        struct Odd: Equatable {
            var number: Int32
            var letter: UInt8
        }
        for count in [max(0, expected - 1), expected, expected + 2 * Self.chunkRows] {
            var rows = RowChunks<Odd>()
            rows.expect(expected)
            for number in 0..<count { rows.append(Odd(number: Int32(number), letter: UInt8(number & 0xFF))) }
            #expect(rows.count == count)
            let isKept = rows.indices.allSatisfy { rows[$0] == Odd(number: Int32($0), letter: UInt8($0 & 0xFF)) }
            #expect(isKept)
        }
    }

    @Test func `fetching a row changes nothing`() {
        var rows = RowChunks<String>()
        for number in 0..<3 { rows.append("\(number)") }
        for number in rows.indices { rows.prefetch(number) }
        [1, 2, 3].span.prefetch(-1)
        [1, 2, 3].span.prefetch(3)
        #expect(Self.elements(rows) == ["0", "1", "2"])
    }
}
