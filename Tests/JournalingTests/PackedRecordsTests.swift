import Journaling
import TestSupport
import Testing
import WidgetModel

@Suite struct PackedRecordsTests {
    @Test func `records come back as they were packed`() {
        var packed = PackedRecords()
        let records: [[UInt8]] = [
            [], [1], [UInt8](repeating: 7, count: 127), [UInt8](repeating: 8, count: 128), [2, 3],
            [UInt8](repeating: 9, count: 20_000),
        ]
        for record in records { packed.append { writer in for byte in record { writer.write(byte: byte) } } }
        #expect(packed.count == 6)
        #expect(packed.ranges.map { Array(packed.bytes[$0]) } == records)
        let taken = packed.takeAll()
        #expect(taken.count == 6)
        #expect(taken.ranges.map { Array(taken.bytes[$0]) } == records)
        #expect(packed == PackedRecords())
    }

    @Test func `stored bytes are frames from end to end or refused`() throws {
        var packed = PackedRecords()
        packed.append([1, 2, 3])
        packed.append([])
        packed.append([4])
        #expect(try PackedRecords(validating: packed.bytes) == packed)
        #expect(try PackedRecords(validating: []) == PackedRecords())
        #expect(throws: ByteError.self) { try PackedRecords(validating: Array(packed.bytes.dropLast())) }
        #expect(throws: ByteError.self) { try PackedRecords(validating: [0x80]) }
        #expect(throws: ByteError.self) { try PackedRecords(validating: [5, 1, 2]) }
    }

    @Test(arguments: UInt64(0)..<64)
    func `damaged bytes are refused or walked, never trapped on`(seed: UInt64) {
        var dice = SplitMix64(seed: seed)
        let bytes = (0..<Int.random(in: 0...40, using: &dice)).map { _ in UInt8.random(in: 0...12, using: &dice) }
        guard let packed = try? PackedRecords(validating: bytes) else { return }
        #expect(packed.ranges.reduce(0) { count, _ in count + 1 } == packed.count, "seed \(seed)")
    }
}
