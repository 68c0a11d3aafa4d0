import TestSupport
import Testing
import WidgetModel

@Suite struct RFC3339Tests {
    static let good: [(String, Int64)] = [
        ("1970-01-01T00:00:00Z", 0),
        ("1969-12-31T23:59:59.999Z", -1),
        ("2026-11-21T18:00:00+01:00", 1_795_280_400_000),
        ("2026-11-21T17:00:00.250Z", 1_795_280_400_250),
        ("2026-11-21t17:00:00z", 1_795_280_400_000),
        ("2026-11-21T16:30:00-00:30", 1_795_280_400_000),
        ("2024-02-29T00:00:00Z", 1_709_164_800_000),
        ("2000-02-29T00:00:00-00:00", 951_782_400_000),
        ("0000-01-01T00:00:00Z", -62_167_219_200_000),
        ("9999-12-31T23:59:59.999999999Z", 253_402_300_799_999),
        ("1985-04-12T23:20:50.52Z", 482_196_050_520),
        ("9999-12-31T23:59:59.999+00:01", 253_402_300_739_999),
        ("0000-01-01T00:00:00-00:01", -62_167_219_140_000),
    ]

    @Test(arguments: good)
    func `a date is read to the millisecond`(text: String, milliseconds: Int64) throws {
        #expect(try RFC3339.parse(text) == Instant(milliseconds: milliseconds))
    }

    static let bad: [(String, RFC3339.ParseError)] = [
        ("", .syntax),
        ("2026-11-21", .syntax),
        ("2026-11-21T18:00Z", .syntax),
        ("2026-11-21 18:00:00Z", .syntax),
        ("2026-11-21T18:00:00", .noOffset),
        ("2026-11-21T18:00:00.5", .noOffset),
        ("2026-11-21T18:00:00.Z", .syntax),
        ("2026-11-21T18:00:00.1234567890Z", .syntax),
        ("2026-11-21T18:00:00+0100", .syntax),
        ("2026-11-21T18:00:00+01", .syntax),
        ("2026-11-21T18:00:00Z ", .syntax),
        ("2026-11-21T18:00:00ZZ", .syntax),
        ("26-11-21T18:00:00+01:00", .syntax),
        ("2026-00-21T18:00:00Z", .outOfRange),
        ("2026-13-21T18:00:00Z", .outOfRange),
        ("2026-11-00T18:00:00Z", .outOfRange),
        ("2026-11-31T18:00:00Z", .outOfRange),
        ("2026-02-29T18:00:00Z", .outOfRange),
        ("1900-02-29T18:00:00Z", .outOfRange),
        ("2026-11-21T24:00:00Z", .outOfRange),
        ("2026-11-21T18:60:00Z", .outOfRange),
        ("2026-11-21T18:00:61Z", .outOfRange),
        ("2026-11-21T18:00:00+24:00", .outOfRange),
        ("2026-11-21T18:00:00+01:60", .outOfRange),
        ("2016-12-31T23:59:60Z", .leapSecond),
        ("0000-01-01T00:00:00+00:01", .outOfYears),
        ("9999-12-31T23:59:59-00:01", .outOfYears),
        ("２026-11-21T18:00:00Z", .syntax),
    ]

    @Test(arguments: bad)
    func `what is no date is told why`(text: String, fault: RFC3339.ParseError) {
        #expect(throws: fault) { try RFC3339.parse(text) }
    }

    @Test(arguments: UInt64(0)..<8)
    func `text and instant are each other's inverse`(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        for _ in 0..<200 {
            let instant = Instant(
                milliseconds: Int64.random(in: -62_167_219_200_000...253_402_300_799_999, using: &random)
            )
            let text = try #require(RFC3339.text(of: instant))
            #expect(try RFC3339.parse(text) == instant, "seed \(seed), \(text)")
        }
    }

    @Test func `years that four digits do not hold have no text`() {
        #expect(RFC3339.text(of: Instant(milliseconds: 253_402_300_800_000)) == nil)
        #expect(RFC3339.text(of: Instant(milliseconds: -62_167_219_200_001)) == nil)
        #expect(RFC3339.text(of: Instant(milliseconds: .min)) == nil)
        #expect(RFC3339.text(of: .distantFuture) == nil)
    }

    @Test func `the nearest text is the instant's own where it has one`() {
        let last = "9999-12-31T23:59:59.999Z"
        #expect(RFC3339.nearestText(to: Instant(milliseconds: 253_402_300_799_999)) == last)
        #expect(RFC3339.nearestText(to: Instant(milliseconds: 253_402_300_800_000)) == last)
        #expect(RFC3339.nearestText(to: .distantFuture) == last)
        #expect(RFC3339.nearestText(to: Instant(milliseconds: -62_167_219_200_000)) == "0000-01-01T00:00:00Z")
        #expect(RFC3339.nearestText(to: Instant(milliseconds: -62_167_219_200_001)) == "0000-01-01T00:00:00Z")
        #expect(RFC3339.nearestText(to: Instant(milliseconds: .min)) == "0000-01-01T00:00:00Z")
    }
}
