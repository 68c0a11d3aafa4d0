import LoadGenerator
import TestSupport
import Testing

/// Arrival processes against their definitions.
@Suite struct ArrivalTests {
    private static func all(_ process: ArrivalProcess, seed: UInt64 = 1, number: Int = 0) -> [Int64] {
        var arrivals = Arrivals(process, seed: seed, number: number)
        var instants: [Int64] = []
        while let instant = arrivals.next() { instants.append(instant) }
        return instants
    }

    private static let second: Int64 = 1_000_000_000

    @Test func `an even process has its operations at exact distances, the first at once`() {
        let curve = RateCurve(from: 4, to: 4, length: 2 * Self.second)
        #expect(Self.all(.uniform(curve)) == (0..<8).map { $0 * 250_000_000 })
    }

    @Test func `a rate below one a second is no less exact`() {
        let curve = RateCurve(from: 0.5, to: 0.5, length: 10 * Self.second)
        #expect(Self.all(.uniform(curve)) == (0..<5).map { $0 * 2 * Self.second })
    }

    @Test func `a long even process does not drift`() {
        let curve = RateCurve(from: 300, to: 300, length: 3600 * Self.second)
        let instants = Self.all(.uniform(curve))
        #expect(instants.count == 1_080_000)
        // The i-th is at i / 300 s, to the nanosecond.
        for index in stride(from: 0, to: instants.count, by: 997) {
            let exact = (Int64(index) * Self.second * 2 + 300) / 600
            #expect(abs(instants[index] - exact) <= 1, "\(index)")
        }
    }

    @Test(arguments: [(0.0, 100.0), (100.0, 0.0), (10.0, 1000.0), (1000.0, 10.0), (5.0, 5.0)])
    func `a ramp has brought i operations when the i-th comes`(from: Double, to: Double) {
        let curve = RateCurve(from: from, to: to, length: 20 * Self.second)
        let instants = Self.all(.uniform(curve))
        #expect(instants.count == Int(curve.total.rounded(.up)))
        #expect(zip(instants, instants.dropFirst()).allSatisfy { $0 <= $1 })
        for (index, instant) in instants.enumerated() {
            let seconds = Double(instant) / 1e9
            let brought = from * seconds + (to - from) * seconds * seconds / 40
            #expect(abs(brought - Double(index)) < 1e-4, "operation \(index) at \(seconds) s")
        }
    }

    @Test func `a burst has exactly so many, the first at once and the last before its end`() {
        #expect(Self.all(.burst(count: 5, within: 1000)) == [0, 200, 400, 600, 800])
        #expect(Self.all(.burst(count: 3, within: 10)) == [0, 3, 6])
        #expect(Self.all(.burst(count: 1, within: 1)) == [0])
        let many = Self.all(.burst(count: 1_000_003, within: 5 * Self.second))
        #expect(many.count == 1_000_003)
        #expect(many.last == 1_000_002 * 5 * Self.second / 1_000_003)
    }

    @Test func `a random process has exponential distances`() {
        let rate = 1000.0
        let instants = Self.all(.poisson(RateCurve(from: rate, to: rate, length: 100 * Self.second)), seed: 42)
        // 100,000 on average, with a standard deviation of 316.
        #expect((98_500...101_500).contains(instants.count))
        let gaps = zip([0] + instants, instants).map { Double($1 - $0) / 1e9 * rate }.sorted()
        let mean = gaps.reduce(0, +) / Double(gaps.count)
        let variance = gaps.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / Double(gaps.count)
        #expect(abs(mean - 1) < 0.02)
        #expect(abs(variance - 1) < 0.05)
        // Kolmogorov and Smirnov: the greatest distance between the distributions, of which one in a million random
        // samples of this size would have more than 2.6 / sqrt(n). 1 - e^-x is bounded from its series at these quantiles.
        let quantiles = [
            (0.1, 0.105_360_5), (0.25, 0.287_682_1), (0.5, 0.693_147_2), (0.75, 1.386_294_4), (0.9, 2.302_585_1),
        ]
        for (share, value) in quantiles {
            let found = Double(gaps.count { $0 <= value }) / Double(gaps.count)
            #expect(abs(found - share) < 2.6 / Double(gaps.count).squareRoot(), "quantile \(share)")
        }
    }

    @Test func `counts of a random process in equal spans vary as much as they are many`() {
        let instants = Self.all(.poisson(RateCurve(from: 500, to: 500, length: 200 * Self.second)), seed: 7)
        var counts = Array(repeating: 0.0, count: 2000)
        for instant in instants { counts[Int(instant / 100_000_000)] += 1 }
        let mean = counts.reduce(0, +) / 2000
        let variance = counts.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / 2000
        #expect(abs(variance / mean - 1) < 0.15, "index of dispersion \(variance / mean)")
    }

    @Test func `a random ramp follows its curve`() {
        let curve = RateCurve(from: 0, to: 2000, length: 50 * Self.second)
        let instants = Self.all(.poisson(curve), seed: 3)
        #expect(abs(Double(instants.count) - curve.total) < 5 * curve.total.squareRoot())
        // A quarter of the operations come in the first half.
        let early = Double(instants.count { $0 < 25 * Self.second })
        #expect(abs(early / Double(instants.count) - 0.25) < 0.01)
    }

    @Test func `the same seed gives the same instants, another or another load's gives others`() {
        let process = ArrivalProcess.poisson(RateCurve(from: 100, to: 100, length: Self.second))
        let first = Self.all(process, seed: 5, number: 1)
        #expect(first == Self.all(process, seed: 5, number: 1))
        #expect(first != Self.all(process, seed: 6, number: 1))
        #expect(first != Self.all(process, seed: 5, number: 2))
    }

    @Test func `a trace is played as it was recorded, or faster`() throws {
        let text = "# recorded\n0\n0.5,push\n0.5\n  1.25 # last\n\n"
        #expect(try ArrivalTrace(reading: text).instants == [0, 500_000_000, 500_000_000, 1_250_000_000])
        #expect(try ArrivalTrace(reading: text, speed: 2).instants == [0, 250_000_000, 250_000_000, 625_000_000])
        #expect(
            // Played a thousand times as slowly, that would end in 31,000 years.
            try ArrivalTrace(reading: "0\n999999999\n", speed: 0.001).instants == [0, 1_000_000_000_000_000_000]
        )
        #expect(
            try ArrivalTrace(reading: "0.000000001\r\n999999999.999999999\r\n").instants == [
                1, 999_999_999_999_999_999,
            ]
        )
    }

    @Test(arguments: [
        ("0\n1\nnow\n", 3, "must begin with seconds such as 12.345"),
        ("1.\n", 1, "must begin with seconds such as 12.345"),
        (".5\n", 1, "must begin with seconds such as 12.345"),
        ("-1\n", 1, "must begin with seconds such as 12.345"),
        ("1.0000000001\n", 1, "must begin with seconds such as 12.345"),
        ("1000000000\n", 1, "must begin with seconds such as 12.345"),
        ("0\n2\n1.999\n", 3, "is earlier than the line before; sort the file by time"),
        ("# nothing\n", 2, "ends the trace, which has no instant"),
    ])
    func `a faulty trace is refused with its line`(text: String, line: Int, sentence: String) {
        let error = #expect(throws: ArrivalTrace.ReadError.self) { try ArrivalTrace(reading: text) }
        #expect(error?.line == line)
        #expect(error?.sentence == sentence)
    }
}
