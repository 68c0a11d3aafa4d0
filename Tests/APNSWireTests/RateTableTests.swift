import APNSWire
import TestSupport
import Testing
import WidgetModel

/// The rates of many tokens in a table of fixed size.
@Suite struct RateTableTests {
    private static let start = Instant(seconds: 1_793_638_800)
    private static let slow = RateLimit(count: 1, per: .minutes(1), burst: 2)

    private static func tag(_ table: RateTable, _ hex: String) -> UInt64 {
        table.tag(ofHex: Array(hex.utf8).span)
    }

    @Test func `each token has a rate of its own`() {
        var table = RateTable(limit: Self.slow, entries: 64, seed: 7)
        let (first, second) = (Self.tag(table, "00ff00ff00ff00ff"), Self.tag(table, "00ff00ff00ff00fe"))
        #expect(table.admit(first, at: Self.start) == nil)
        #expect(table.admit(first, at: Self.start) == nil)
        #expect(table.admit(first, at: Self.start) == 60_000_000_000)
        #expect(table.admit(second, at: Self.start) == nil)
        table.giveBack(first)
        #expect(table.admit(first, at: Self.start) == nil)
        #expect(table.admit(first, at: Self.start) == 60_000_000_000)
        #expect(table.forgotten == 0)
    }

    @Test func `a token is the same in capital and small letters`() {
        let table = RateTable(limit: Self.slow, entries: 4, seed: 7)
        for digits in ["abcdef0123456789", "abcdef0123456789abcdef", "ab", "abcdefabcdef12"] {
            #expect(Self.tag(table, digits) == Self.tag(table, digits.uppercased()))
            #expect(Self.tag(table, digits) != Self.tag(table, digits.replacing("b", with: "c")))
        }
        #expect(Self.tag(table, "") != Self.tag(table, "00"))
    }

    @Test func `a full set forgets the token nearest to having recovered, and admits it anew`() {
        // One set of four entries.
        var table = RateTable(limit: Self.slow, entries: 4, seed: 7)
        let tags = (0..<5).map { Self.tag(table, "0000000000000\($0)00") }
        for (number, tag) in tags.prefix(4).enumerated() {
            let now = Self.start + .seconds(Int64(number))
            #expect(table.admit(tag, at: now) == nil)
            #expect(table.admit(tag, at: now) == nil)
            #expect(table.admit(tag, at: now) != nil)
        }
        let now = Self.start + .seconds(4)
        #expect(table.admit(tags[4], at: now) == nil)
        #expect(table.forgotten == 1)
        // The first one made room: it is admitted although its minute is not over, the others are still known.
        #expect(tags[1...3].map { table.admit($0, at: now) == nil } == [false, false, false])
        #expect(table.admit(tags[0], at: now) == nil)
    }

    @Test func `a table stands any time of the clock`() {
        var table = RateTable(limit: Self.slow, entries: 4, seed: 7)
        for (number, now) in Extremes.integers.reversed().enumerated() {
            _ = table.admit(Self.tag(table, String(100 + number)), at: Instant(milliseconds: now))
            if number.isMultiple(of: 2) { table.giveBack(Self.tag(table, String(100 + number))) }
        }
        #expect(table.forgotten > 0)
    }

    @Test func `nothing is lost where entries have recovered`() {
        var table = RateTable(limit: Self.slow, entries: 4, seed: 7)
        for number in 0..<4 { #expect(table.admit(Self.tag(table, "0\(number)"), at: Self.start) == nil) }
        #expect(table.admit(Self.tag(table, "05"), at: Self.start + .seconds(60)) == nil)
        #expect(table.forgotten == 0)
    }

    @Test(arguments: UInt64(1)...8)
    func `the table never refuses what a table without bounds would admit`(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        let limit = RateLimit(count: 5, per: .seconds(1), burst: 3)
        var table = RateTable(limit: limit, entries: 32, seed: seed)
        var model: [UInt64: Int64] = [:]
        var now = Self.start
        var (refused, admittedBeyond) = (0, 0)
        for _ in 0..<5000 {
            now = now + .milliseconds(Int64(random.next() % 4))
            let tag = Self.tag(table, String(random.next() % 60 + 4096, radix: 16))
            let verdict = limit.judge(model[tag] ?? RateLimit.idle, at: now)
            let wait = table.admit(tag, at: now)
            switch (verdict, wait) {
            case (.admitted(let next), nil): model[tag] = next
            case (.refused, nil):
                // It came all the same: the model counts it.
                model[tag] = (model[tag] ?? 0) + limit.interval
                admittedBeyond += 1
            case (.admitted, .some): Issue.record("seed \(seed): refused what came in time")
            case (.refused, .some): refused += 1
            }
        }
        #expect(refused > 100, "seed \(seed)")
        #expect(admittedBeyond <= table.forgotten * 3, "seed \(seed)")
    }
}
