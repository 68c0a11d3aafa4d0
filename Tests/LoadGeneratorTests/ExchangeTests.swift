import LoadGenerator
import TestSupport
import Testing

/// The table of waiting requests, and the numbers in pushes' ids.
@Suite struct ExchangeTests {
    private static func exchange(_ streamID: Int32) -> Exchange {
        Exchange(streamID: streamID, load: 1, intended: Int64(streamID) * 10, number: Int64(streamID))
    }

    @Test(arguments: Seeds.from(0, count: 30)) func `the table agrees with a dictionary, whatever lives how long`(
        seed: UInt64
    ) {
        var random = SplitMix64(seed: seed)
        var table = Exchanges(capacity: Int.random(in: 1...64, using: &random))
        var model: [Int32: Exchange] = [:]
        var next: Int32 = 1
        for _ in 0..<2000 {
            if Bool.random(using: &random) || model.isEmpty {
                table.insert(Self.exchange(next))
                model[next] = Self.exchange(next)
                next += 2
            } else {
                // Some live very long: the youngest goes first most of the time.
                let all = model.keys.sorted()
                let streamID = Int.random(in: 0..<10, using: &random) == 0 ? all[0] : all[all.count - 1]
                #expect(table.remove(streamID) == model.removeValue(forKey: streamID), "seed \(seed)")
                #expect(table.remove(streamID) == nil, "seed \(seed)")
            }
            #expect(table.count == model.count, "seed \(seed)")
        }
        #expect(table.removeAll() == model.keys.sorted().compactMap { model[$0] }, "seed \(seed)")
        #expect(table.count == 0)
    }

    @Test func `those above a stream are taken out, and the others stay`() {
        var table = Exchanges(capacity: 4)
        for streamID: Int32 in [1, 3, 7, 9, 41] { table.insert(Self.exchange(streamID)) }
        #expect(table.remove(above: 41) == [])
        #expect(table.remove(above: 3) == [7, 9, 41].map(Self.exchange))
        #expect(table.count == 2)
        #expect(table.removeAll() == [1, 3].map(Self.exchange))
    }

    @Test func `a number is found in the id that was made of it, in either case`() {
        let run: UInt64 = 0x3F1C_9E52_7A60_4B1D
        let id = NumberedPushID.text(42, run: run)
        #expect(String(decoding: id, as: UTF8.self) == "3f1c9e52-7a60-4b1d-8000-00000000002a")
        #expect(NumberedPushID.number(in: id.span, run: run) == 42)
        let capitals = Array(String(decoding: id, as: UTF8.self).uppercased().utf8)
        #expect(NumberedPushID.number(in: capitals.span, run: run) == 42)
        #expect(NumberedPushID.number(in: id.span, run: run + 1) == nil)
        #expect(NumberedPushID.number(in: id.span.extracting(0..<35), run: run) == nil)
    }

    @Test(arguments: Seeds.from(0, count: 20)) func `every number survives its id`(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        let run = UInt64.random(in: 0 ... .max, using: &random)
        let number = Int64.random(in: 0..<(1 << 48), using: &random)
        #expect(
            NumberedPushID.number(in: NumberedPushID.text(number, run: run).span, run: run) == number,
            "seed \(seed)"
        )
    }
}
