import IntentMatching
import TestSupport
import WidgetModel

/// The instances that are measured: a kind with parameters as skewed as those of a large app, each instance drawn from
/// its number alone.
struct Population {
    static let app = BundleID("com.example.scores")
    static let kind = WidgetKind("scores")
    private static let families: [WidgetFamily] = [
        .systemSmall, .systemMedium, .systemLarge, .accessoryCircular, .accessoryInline, .accessoryRectangular,
    ]

    /// The configuration of one instance.
    struct Row {
        /// One topic has a tenth of the instances, nine have 3 % each, 990 share the rest.
        var topic: Int
        /// Of 1,000, skewed by the cube: the first has a tenth.
        var team: Int
        /// Of 10.
        var league: Int
        /// A hundred instances each.
        var account: Int
        /// 0 to 100.
        var health: Int
        /// One in four.
        var premium: Bool
        /// One to three of 200.
        var alliances: [Int]
    }

    let count: Int
    /// How many different configurations there are at most, if they repeat.
    var classes: Int?

    init(count: Int, classes: Int? = nil) {
        self.count = count
        self.classes = classes
    }

    /// A hundred instances have one of them, wherever they are among all instances.
    var accounts: Int { max(1, self.count / 100) }

    /// The configuration of an instance; in another version it has another team.
    func row(_ instance: Int, version: Int = 0) -> Row {
        let number = self.classes.map { instance % $0 } ?? instance
        var dice = SplitMix64(seed: UInt64(number) &* 0xD1B5_4A32_D192_ED03)
        var row = Row(
            topic: Self.topic(&dice),
            team: Self.team(&dice),
            league: dice.below(10),
            account: dice.below(self.accounts),
            health: dice.below(101),
            premium: dice.below(4) == 0,
            alliances: Array(Set((0..<(1 + dice.below(3))).map { _ in dice.below(200) })).sorted()
        )
        if version > 0 {
            var other = SplitMix64(seed: UInt64(number) &* 0xD1B5_4A32_D192_ED03 ^ UInt64(version) << 56)
            row.team = Self.team(&other)
        }
        return row
    }

    static func topic(_ dice: inout SplitMix64) -> Int {
        let place = dice.unit()
        return place < 0.1 ? 0 : place < 0.37 ? 1 + dice.below(9) : 10 + dice.below(990)
    }

    static func team(_ dice: inout SplitMix64) -> Int {
        let place = dice.unit()
        return Int(place * place * place * 1000)
    }

    static func configuration(_ row: Row) -> Configuration {
        Configuration([
            Configuration.Parameter(name: "account", value: .string("acct-\(row.account)")),
            Configuration.Parameter(name: "alliances", value: .array(row.alliances.map { .string("al-\($0)") })),
            Configuration.Parameter(name: "health", value: .int(Int64(row.health))),
            Configuration.Parameter(name: "league", value: .string("league-\(row.league)")),
            Configuration.Parameter(name: "premium", value: .bool(row.premium)),
            Configuration.Parameter(name: "team", value: .string("team-\(row.team)")),
            Configuration.Parameter(name: "topic", value: .string("k\(row.topic)")),
        ])
    }

    static func family(_ number: Int) -> WidgetFamily { Self.families[number % 6] }

    /// An instance's host, of which each has three.
    static func host(_ number: Int) -> HostNumber { HostNumber(number / 3) }

    static func id(ofHost host: UInt32) -> HostID { HostID("host-\(host)") }
    static func key(ofHost host: UInt32) -> HostKey { HostKey(app: Self.app, id: Self.id(ofHost: host)) }

    /// The ids of all hosts, made when they are asked for.
    struct Hosts: HostNaming {
        func number(ofHost id: [UInt8], of app: BundleID) -> HostNumber? {
            let text = String(decoding: id, as: UTF8.self)
            guard text.hasPrefix("host-"), let number = UInt32(text.dropFirst(5)) else { return nil }
            return Population.id(ofHost: number).rawValue == text ? HostNumber(raw: number) : nil
        }

        func forEachHost(in numbers: Range<HostNumber>, _ body: (HostNumber, Span<UInt8>) -> Void) {
            for number in numbers.lowerBound.raw..<numbers.upperBound.raw {
                body(HostNumber(raw: number), Population.id(ofHost: number).rawValue.utf8.span)
            }
        }
    }
}

extension SplitMix64 {
    /// From 0 to less than 1.
    mutating func unit() -> Double { Double(self.next() >> 11) * 0x1p-53 }
}
