@testable import FreshetCLI
import Testing
import WidgetModel

/// What `top` makes of numbers that no gateway counts: it shows something, and goes on.
@Suite struct TopNumberTests {
    private static func object(_ members: [(String, JSONValue)]) -> JSONValue {
        .object(members.map { JSONValue.Member(name: $0.0, value: $0.1) })
    }

    /// An answer in which every number is the same.
    private static func reading(_ number: JSONValue, matched: JSONValue) -> TopReading {
        let outcomes = Self.object(TopReading.outcomes.map { ($0, number) })
        let limited = Self.object(["app", "key", "token"].map { ($0, number) })
        let partition = Self.object([("lag", number), ("failed", .bool(false))])
        let shown = Self.object([("shown", number), ("p50Milliseconds", number), ("p95Milliseconds", number)])
        let sender = Self.object(
            [("team", .string("TEAM123456")), ("matched", matched)]
                + ["reloadsCharged", "pushes", "unchanged"].map { ($0, number) }
        )
        return TopReading(
            stats: Self.object([
                ("pushes", Self.object([("accepted", number), ("matched", matched), ("outcomes", outcomes)])),
                ("reloads", Self.object([("issued", number), ("freshness", shown)])),
                (
                    "freshness",
                    Self.object(["instances", "behind", "late", "burnRate"].map { ($0, number) })
                ), ("http", Self.object([("inFlight", number), ("unavailable", number), ("rateLimited", limited)])),
                ("partitions", .array(Array(repeating: partition, count: 3))),
            ]),
            senders: Self.object([("senders", .array([sender, sender]))])
        )
    }

    static let numbers: [JSONValue] = [
        .int(.min), .int(-1), .int(0), .int(1), .int(.max), .unsigned(1 << 63), .unsigned(.max), .double(1e300), .null,
    ]

    @Test(arguments: numbers, numbers)
    func `extremes are shown`(number: JSONValue, matched: JSONValue) {
        let (reading, other) = (Self.reading(number, matched: matched), Self.reading(matched, matched: number))
        var screen = TopScreen(address: "localhost:9443")
        for seconds in [0, .leastNonzeroMagnitude, 1e-9, 1, 1e300] {
            screen.reading = reading
            screen.rates = TopScreen.Rates(from: other, to: reading, seconds: seconds)
            #expect(screen.lines(columns: 100, rows: 40).count > 10)
        }
        #expect(reading.lag >= 0 && reading.rateLimited >= 0)
        #expect(reading.json["lag"] != nil)
    }

    @Test(
        arguments: [
            (0, nil, .int(0), .unknown), (20, true, .int(1), .fresh), (20, false, .int(2), .gettingOld),
            (20, false, .double(1.5), .gettingOld), (20, false, .double(2.01), .stale), (20, false, nil, .stale),
        ] as [(Int64, Bool?, JSONValue?, TopReading.Freshness)]
    )
    func `freshness is judged by the goal, as on the dashboard`(
        widgets: Int64,
        isMet: Bool?,
        burnRate: JSONValue?,
        freshness: TopReading.Freshness
    ) {
        let row = [("instances", JSONValue.int(widgets))] + (isMet.map { [("isMet", .bool($0))] } ?? [])
        let stats = Self.object([("freshness", Self.object(row + (burnRate.map { [("burnRate", $0)] } ?? [])))])
        #expect(TopReading(stats: stats, senders: .null).freshness == freshness)
        #expect(TopReading(stats: Self.object([]), senders: .null).freshness == .unknown)
    }

    @Test func `sums end at the largest number there is`() {
        let reading = Self.reading(.int(.max), matched: .int(1))
        #expect(reading.lag == .max)
        #expect(reading.rateLimited == .max)
        #expect(Self.reading(.int(-5), matched: .int(1)).lag == 0)
    }
}
