import Storage
import TestSupport
import Testing
import WidgetModel

/// A growing array that owns its memory.
@Suite struct ColumnTests {
    @Test(arguments: [0, 1, 7, 8, 9, 4096, 200_000])
    func `elements stay while it grows, and are gone when they are removed`(count: Int) {
        var column = Column<UInt32>()
        for number in 0..<count { column.append(UInt32(number)) }
        let isKept = (0..<count).allSatisfy { column[$0] == UInt32($0) }
        #expect(isKept)
        let sum = column.span.indices.reduce(0) { $0 + Int(column[$1]) }
        #expect(sum == count * (count - 1) / 2)
        var last = count
        while let element = column.popLast() {
            last -= 1
            guard element == UInt32(last) else { break }
        }
        #expect(last == 0)
        let (left, bytes) = (column.count, column.byteCount)
        #expect(left == 0)
        #expect(bytes <= 1024, "memory is given back")
    }

    @Test(arguments: [1, 100, 1 << 17, 1 << 20])
    func `zeros are zeros, of small blocks and large ones`(count: Int) {
        let column = Column<UInt64>(zeros: count)
        let areZero = (0..<count).allSatisfy { column[$0] == 0 }
        #expect(areZero)
    }

    @Test func `places that overlap are moved as they were`() {
        var column = Column<UInt32>()
        for number in 0..<10 { column.append(UInt32(number)) }
        column.move(from: 0, to: 2, count: 8)
        let right = (0..<10).map { column[$0] }
        #expect(right == [0, 1, 0, 1, 2, 3, 4, 5, 6, 7])
        column.move(from: 2, to: 0, count: 8)
        let left = (0..<10).map { column[$0] }
        #expect(left == [0, 1, 2, 3, 4, 5, 6, 7, 6, 7])
    }

    @Test func `elements are written through a span, and read as bytes`() {
        var column = Column<UInt64>(zeros: 2)
        do {
            var span = column.mutableSpan
            span[0] = 0x0807_0605_0403_0201
            span[1] = 0x0A09
        }
        let bytes = column.withBytes(at: 6, count: 4) { span in span.indices.map { span[$0] } }
        #expect(bytes == [7, 8, 9, 10])
    }

    @Test func `what lies beyond the elements ends the process`() async {
        await #expect(processExitsWith: .failure) {
            let column = Column<UInt32>(repeating: 1, count: 3)
            _ = column[3]
        }
        await #expect(processExitsWith: .failure) {
            let column = Column<UInt32>()
            _ = column[0]
        }
        await #expect(processExitsWith: .failure) {
            var column = Column<UInt32>(repeating: 1, count: 3)
            column.write([1, 2].span, at: 2)
        }
        await #expect(processExitsWith: .failure) {
            var column = Column<UInt32>(repeating: 1, count: 3)
            column.move(from: 1, to: 2, count: 2)
        }
    }

    @Test func `numbers of one table are the same bytes with a type and without`() {
        let numbers: [UInt32] = [0, 7, .max]
        let typed = numbers.span.numbers(NumberTag.Host.self)
        #expect(typed.count == 3)
        #expect(typed[1] == HostNumber(7))
        #expect(typed[2].isNone)
        let raw = typed.raw()
        #expect(raw.indices.map { raw[$0] } == numbers)
    }

    @Test(arguments: 0..<20)
    func `words are the bytes from a place on`(count: Int) {
        let bytes = (0..<count).map { UInt8($0 + 1) }
        for offset in 0..<count + 10 {
            var word: UInt64 = 0
            for place in 0..<8 where offset + place < count {
                word |= UInt64(bytes[offset + place]) << UInt64(8 * place)
            }
            #expect(bytes.span.word(at: offset) == word)
        }
    }
}
