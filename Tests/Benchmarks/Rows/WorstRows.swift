import Foundation
import IntentMatching
import WidgetModel

/// The costs of the costliest accepted patterns: those that `docs/limits.md` gives figures for.
///
/// Each instance has a text of its own, so that nothing is judged once for many.
struct WorstRows: ~Copyable {
    private static let app = BundleID("com.example.worst")
    private static let kind = WidgetKind("worst")

    private let count: Int
    private var index = IntentIndex()

    init(_ count: Int) {
        self.count = count
    }

    mutating func run() {
        self.load()
        let runs = String(repeating: "a", count: 504)
        self.ask("wildcards of runs", Array(repeating: .wildcard(Self.wildcard("*\(runs)b*")), count: 26), of: "long")
        self.ask("one wildcard of runs", [.wildcard(Self.wildcard("*\(runs)b*"))], of: "long")
        self.ask("wildcards", (0..<26).map { .wildcard(Self.wildcard("*x*y*\($0)*")) }, of: "text")
        self.ask("suffixes", (0..<512).map { .suffix(UTF8Text("x\($0)")) }, of: "text")
        self.ask("prefixes", (0..<512).map { .prefix(UTF8Text("x\($0)")) }, of: "text")
        self.ask("cases", (0..<512).map { .equalsIgnoreCase(UTF8Text("instance-of-length-x\($0)")) }, of: "text")
        self.ask("not one of", [.anythingBut((0..<512).map { .string(UTF8Text("x\($0)")) })], of: "text")
        self.ask(
            "not one of, twice",
            [.anythingBut((0..<256).map { .string(UTF8Text("x\($0)")) }), .anythingBut([.string("y")])],
            of: "text"
        )
        self.ask("ranges", (0..<512).map { .numeric(Self.range(from: -2 * Int64($0) - 2)) }, of: "number")
        self.ask("elements", [.suffix("x"), .wildcard(Self.wildcard("*x*"))], of: "list")
        self.ask("hosts", (0..<26).map { .wildcard(Self.wildcard("*x*y*\($0)*")) }, of: .host)
        for alternatives in [32, 128, 512] { self.askAlternatives(alternatives) }
        self.askConditions()
    }

    // MARK: Alternatives

    /// Of each two conditions, found by lists, by scans of columns, by scans of arrays, and judged on texts.
    private func askAlternatives(_ count: Int) {
        func any(_ condition: (Int) -> MatchPattern) -> MatchPattern { .any((0..<count).map(condition)) }
        let even = Self.field("league", [.equals(.string("league-0"))])
        let notOdd = Self.field("league", [.anythingBut([.string("league-1")])])
        self.ask(
            "\(count) alternatives on lists",
            any { .all([Self.field("team", [.equals(.string(UTF8Text("team-\($0)")))]), even]) }
        )
        self.ask(
            "\(count) alternatives on columns",
            any { .all([Self.field("team", [.anythingBut([.string(UTF8Text("team-\($0)"))])]), notOdd]) }
        )
        self.ask(
            "\(count) alternatives on arrays",
            any { number in
                let names = (0..<64).map { "element-\($0)" } + ["\(number)"]
                return Self.field("list", [.anythingBut(names.map { .string(UTF8Text($0)) })])
            }
        )
        self.ask("\(count) alternatives on texts", any { Self.field("text", [.suffix(UTF8Text("x\($0)"))]) })
    }

    // MARK: Conditions

    /// One push asks all conditions that no equality finds.
    private func askConditions() {
        var subscriptions = SubscriptionIndex()
        let conditions = min(self.count, 1000)
        let runs = String(repeating: "a", count: 500)
        for number in 0..<conditions {
            let atoms = (0..<4).map { MatchAtom.wildcard(Self.wildcard("*\(runs)b\(number)-\($0)*")) }
            _ = subscriptions.insert(Self.field("text", atoms))
        }
        let value = ParameterValue.array((0..<8).map { .string(String(repeating: "a", count: 1000) + "\($0)") })
        let attributes = Configuration([Configuration.Parameter(name: "text", value: value)])
        self.report("\(conditions) conditions of 4 wildcards") { _ = subscriptions.matches(attributes) }
        let expressions = Self.seconds {
            for number in 0..<100 {
                let literals = (0..<512).map { MatchAtom.equals(.string(UTF8Text("\(number)-\($0)"))) }
                let rest = (0..<63).map { Self.field("r\($0)", [.exists(true)]) }
                _ = subscriptions.insert(.all([Self.field("team", literals)] + rest))
            }
        }
        let bytes = Double(subscriptions.byteCount)
        Report.line("100 conditions of 512 literals", ["seconds": expressions, "bytes": bytes])
    }

    // MARK: Parts

    private mutating func load() {
        let runs = String(repeating: "a", count: 1000)
        self.index.startLoading()
        for number in 0..<self.count {
            var parameters = [
                Configuration.Parameter(name: "league", value: .string("league-\(number % 2)")),
                Configuration.Parameter(name: "number", value: .int(Int64(number))),
                Configuration.Parameter(name: "team", value: .string("team-\(number % 512)")),
                Configuration.Parameter(name: "text", value: .string("instance-of-length-\(number)")),
                Configuration.Parameter(name: "list", value: .array((0..<64).map { .string("element-\($0)") })),
            ]
            if self.count <= 1000 {
                parameters.append(Configuration.Parameter(name: "long", value: .string("\(runs)\(number)")))
            }
            self.index.insert(
                InstanceNumber(number),
                app: Self.app,
                kind: Self.kind,
                family: .systemSmall,
                host: HostNumber(number),
                tags: [],
                configuration: Configuration(parameters),
                pushEnabled: true
            )
        }
        self.index.finishLoading()
    }

    private static func wildcard(_ text: String) -> Wildcard {
        guard let wildcard = Wildcard(text) else { preconditionFailure("no wildcard") }
        return wildcard
    }

    private static func range(from first: Int64) -> NumericRange {
        NumericRange(
            lower: NumericRange.Bound(ExactNumber(first), isInclusive: true),
            upper: NumericRange.Bound(ExactNumber(first + 1), isInclusive: false)
        )
    }

    private static func field(_ name: String, _ atoms: [MatchAtom]) -> MatchPattern {
        .field(.parameter(UTF8Text(name)), atoms)
    }

    private func ask(_ row: String, _ atoms: [MatchAtom], of name: String) {
        self.ask(row, Self.field(name, atoms))
    }

    private func ask(_ row: String, _ atoms: [MatchAtom], of field: MatchField) {
        self.ask(row, .field(field, atoms))
    }

    /// The time of a question in all, and of its longest step, for which others wait.
    private func ask(_ row: String, _ pattern: MatchPattern) {
        let start = clock()
        var cursor = self.index.cursor(
            app: Self.app,
            kind: Self.kind,
            pattern: pattern,
            hosts: Population.Hosts(),
            batchLimit: 4096
        )
        let beginning = Self.seconds(since: start)
        var (isDone, longest) = (false, 0.0)
        while !isDone {
            let step = clock()
            isDone = !self.index.next(&cursor, Population.Hosts())
            longest = max(longest, Self.seconds(since: step))
        }
        let all = Self.seconds(since: start)
        Report.line(
            row,
            [
                "seconds": all, "nanosecondsEach": all * 1e9 / Double(self.count), "beginning": beginning,
                "longest": longest,
            ]
        )
    }

    private func report(_ row: String, _ body: () -> Void) {
        let seconds = Self.seconds(body)
        Report.line(row, ["seconds": seconds, "nanosecondsEach": seconds * 1e9 / Double(self.count)])
    }

    /// Seconds of the processor that `body` takes.
    private static func seconds(_ body: () -> Void) -> Double {
        let start = clock()
        body()
        return Self.seconds(since: start)
    }

    private static func seconds(since start: clock_t) -> Double { Double(clock() - start) / Double(CLOCKS_PER_SEC) }
}
