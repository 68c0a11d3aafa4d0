import Histogram
import LoadGenerator
import TestSupport
import Testing

/// The counts of a run, and the form of histograms.
@Suite struct TallyTests {
    private static let second: Int64 = 1_000_000_000

    @Test func `an answer counts where it was meant to be sent, and when it came`() throws {
        var tally = LoadTally(loads: 2, interval: Self.second)
        tally.due(0, at: 100)
        tally.sent(0, late: 50_000, wasHeldBack: false)
        // Three and a half seconds late: a server that stalled.
        tally.answered(0, intended: 100, at: 3_500_000_100)
        tally.due(1, at: 2 * Self.second)
        tally.sent(1, late: 0, wasHeldBack: true)
        tally.failed(1, LoadTally.Failure(status: 429, reason: "TooManyRequests"), intended: 2 * Self.second)
        #expect(tally.loads.map(\.due) == [1, 1])
        #expect(tally.loads.map(\.sent) == [1, 1])
        #expect(tally.loads.map(\.answered) == [1, 0])
        #expect(tally.loads.map(\.failed) == [0, 1])
        #expect(tally.loads[0].dueByInterval == [1])
        #expect(tally.loads[0].answeredByInterval == [0, 0, 0, 1])
        #expect(tally.loads[1].dueByInterval == [0, 0, 1])
        let series = try #require(tally.loads[0].stages[0])
        #expect(series.intervals.map { $0?.count } == [1])
        #expect(series.total.histogram.maxRecorded >= 3_500_000)
        #expect(tally.latencies(.accepted, load: 1).histogram.totalCount == 0)
        #expect(tally.latencies(.accepted, load: 1).unreached == 1)
        #expect(tally.heldBack == 1)
        // Only operations that did not wait for the server say how late the generator is.
        #expect(tally.lateness.totalCount == 1)
        #expect(tally.behind == 0)
    }

    @Test func `the generator is behind by what it sent over a millisecond late with room for it`() {
        var tally = LoadTally(loads: 1, interval: Self.second)
        for late in [0, 999_000, 1_000_000, 1_100_000, 5_000_000] as [Int64] {
            tally.sent(0, late: late, wasHeldBack: false)
        }
        tally.sent(0, late: 9_000_000, wasHeldBack: true)
        #expect(tally.behind == 2.0 / 6)
    }

    /// A percentile of a hundred operations, of which the n-th took n milliseconds and the last ones never came.
    @Test(arguments: [
        (0, 50.0, 50.0), (0, 100, 100), (30, 50, 50), (30, 70, 70), (30, 71, nil), (30, 100, nil), (1, 99, 99),
        (1, 99.9, nil), (100, 1, nil),
    ])
    func `what never came is later than all that came`(unreached: Int, percentile: Double, milliseconds: Double?) throws
    {
        var tally = LoadTally(loads: 1, interval: Self.second)
        for number in 1...100 {
            if number > 100 - unreached {
                tally.failed(0, LoadTally.Failure(status: 0, reason: "no answer in time"), intended: 0)
            } else {
                tally.answered(0, intended: 0, at: Int64(number) * 1_000_000)
            }
        }
        let value = try #require(tally.latencies(.accepted).microseconds(atPercentile: percentile))
        if let milliseconds {
            #expect(abs(value / 1000 - milliseconds) < 0.1)
        } else {
            #expect(value == .infinity)
        }
        #expect(Latencies().microseconds(atPercentile: percentile) == nil)
    }

    @Test func `times without a connection follow each other, and each is caught up once`() {
        var tally = LoadTally(loads: 1, interval: Self.second)
        tally.caughtUp("push", at: 1)
        tally.outageBegan("push", at: 2)
        tally.outageBegan("push", at: 3)
        tally.caughtUp("push", at: 4)
        tally.outageEnded("host", at: 5)
        #expect(tally.outages.map(\.ended) == [nil])
        tally.outageEnded("push", at: 6)
        tally.caughtUp("push", at: 7)
        tally.caughtUp("push", at: 8)
        tally.outageBegan("push", at: 9)
        #expect(tally.outages.map(\.began) == [2, 9])
        #expect(tally.outages.map(\.ended) == [6, nil])
        #expect(tally.outages.map(\.recovered) == [7, nil])
        for _ in 0..<2 * LoadTally.outagesMax {
            tally.outageEnded("push", at: 10)
            tally.outageBegan("push", at: 11)
        }
        #expect(tally.outages.count == LoadTally.outagesMax)
    }

    @Test func `reasons beyond the most that are told apart are counted together`() {
        var tally = LoadTally(loads: 1, interval: Self.second)
        for number in 0..<LoadTally.reasonsMax + 10 {
            tally.failed(0, LoadTally.Failure(status: 400, reason: "reason \(number)"), intended: 0)
        }
        tally.failed(0, LoadTally.Failure(status: 400, reason: "reason 0"), intended: 0)
        #expect(tally.loads[0].failures.count == LoadTally.reasonsMax + 1)
        #expect(tally.loads[0].failures[LoadTally.Failure(status: 400, reason: "other")] == 10)
        #expect(tally.loads[0].failures[LoadTally.Failure(status: 400, reason: "reason 0")] == 2)
        #expect(tally.failed == LoadTally.reasonsMax + 11)
    }

    @Test func `every latency is in the sum and in one interval`() throws {
        var random = SplitMix64(seed: 11)
        var series = LatencySeries(interval: Self.second)
        var exact: [Int64] = []
        for _ in 0..<5000 {
            let latency = Int64.random(in: 0...4_000_000_000, using: &random)
            exact.append(latency)
            series.noteLatency(latency, intended: Int64.random(in: 0..<10 * Self.second, using: &random))
        }
        #expect(series.intervals.reduce(0) { $0 + ($1?.count ?? 0) } == 5000)
        #expect(series.intervals.count == 10)
        exact.sort()
        for percentile in [1.0, 50, 90, 99, 99.9] {
            let rank = max(1, Int((percentile / 100 * 5000).rounded(.up)))
            let value = Double(exact[rank - 1]) / 1000
            let found = try #require(series.total.microseconds(atPercentile: percentile))
            // Three significant digits.
            #expect(abs(found - value) <= value / 1000 + 1, "p\(percentile)")
        }
    }

    // MARK: The interchange format

    /// Reads the written counts, by the format's description.
    private static func counts(_ payload: [UInt8]) -> [Int64] {
        var counts: [Int64] = []
        var index = 40
        while index < payload.count {
            var value: UInt64 = 0
            var shift: UInt64 = 0
            while true {
                let byte = payload[index]
                index += 1
                if shift == 56 {
                    value |= UInt64(byte) << 56
                    break
                }
                value |= UInt64(byte & 0x7F) << shift
                shift += 7
                if byte & 0x80 == 0 { break }
            }
            let count = Int64(bitPattern: value >> 1) ^ -Int64(bitPattern: value & 1)
            counts += count < 0 ? Array(repeating: 0, count: Int(-count)) : [count]
        }
        return counts
    }

    /// Where a value stands among the counts of three significant digits.
    private static func index(_ value: UInt64) -> Int {
        guard value >= 2048 else { return Int(value) }
        let bucket = 63 - value.leadingZeroBitCount - 10
        return bucket * 1024 + Int(value >> UInt64(bucket))
    }

    @Test(arguments: Seeds.from(0, count: 10)) func `counts are read as they were noted`(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var histogram = LatencyHistogram.empty()
        var expected: [Int: Int64] = [:]
        for _ in 0..<500 {
            let bits = UInt64.random(in: 0...35, using: &random)
            let value = UInt64.random(in: 0...(1 << bits), using: &random)
            let count = UInt32.random(in: 1...300, using: &random)
            histogram.record(value, count: count)
            expected[Self.index(value), default: 0] += Int64(count)
        }
        let payload = HistogramEncoding.payload(histogram)
        let counts = Self.counts(payload)
        #expect(Array(payload[0..<4]) == [0x1C, 0x84, 0x93, 0x13])
        #expect(Int(payload[6]) << 8 | Int(payload[7]) == payload.count - 40, "seed \(seed)")
        var found: [Int: Int64] = [:]
        for (index, count) in counts.enumerated() where count > 0 { found[index] = count }
        #expect(found == expected, "seed \(seed)")
    }

    @Test func `stored zlib blocks and base 64 are as their standards have them`() {
        // Adler-32 of "Wikipedia" is 0x11E60398.
        #expect(
            HistogramEncoding.stored(Array("Wikipedia".utf8))
                == [0x78, 0x01, 0x01, 9, 0, 0xF6, 0xFF] + Array("Wikipedia".utf8) + [0x11, 0xE6, 0x03, 0x98]
        )
        let long = HistogramEncoding.stored(Array(repeating: 7, count: 70_000))
        #expect(long.count == 2 + 2 * 5 + 70_000 + 4)
        #expect(Array(long[2..<7]) == [0, 0xFF, 0xFF, 0, 0])
        // RFC 4648, 10.
        let texts = ["", "f", "fo", "foo", "foob", "fooba", "foobar"]
        #expect(
            texts.map { HistogramEncoding.base64(Array($0.utf8)) }
                == ["", "Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy"]
        )
    }

    @Test func `a log has a line for each interval, load and stage that has something`() {
        var tally = LoadTally(loads: 2, interval: Self.second)
        tally.answered(0, intended: 0, at: 1_500_000)
        tally.answered(1, intended: 2 * Self.second, at: 2 * Self.second + 7_000_000)
        tally.reached(.shown, 1, intended: 2 * Self.second, at: 2 * Self.second + 9_000_000)
        let log = HistogramLog.text(tally, names: ["pushes", "a, b"], began: 1_795_262_400_007)
        let lines = log.split(separator: "\n").filter { !$0.hasPrefix("#") }
        #expect(
            lines.first == "\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\"Interval_Compressed_Histogram\""
        )
        #expect(
            lines.dropFirst().map { $0.split(separator: ",").prefix(4).joined(separator: ",") } == [
                "Tag=pushes.accepted,0.000,1.000,0.002", "Tag=a--b.accepted,2.000,1.000,0.007",
                "Tag=a--b.shown,2.000,1.000,0.009",
            ]
        )
        #expect(log.contains("#[StartTime: 1795262400.007 (seconds since epoch)]"))
        #expect(lines.dropFirst().allSatisfy { $0.contains(",HISTFAAA") })
    }
}
