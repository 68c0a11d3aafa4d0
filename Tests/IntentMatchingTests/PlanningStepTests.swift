import IntentMatching
import TestSupport
import Testing
import WidgetModel

/// Plans are made in steps: however many values a pattern is judged by, and however costly it is, no step looks at more of them
/// than its work allows.
@Suite struct PlanningStepTests {
    private static let app = BundleID("com.example.steps")
    private static let kind = WidgetKind("steps")
    private static let count = 20_000

    /// A text, a number and an array of their own for each instance, and a text of its own for each `texts`.
    private static func index(texts: Int = count, bytes: Int = 0) -> IntentIndex {
        var index = IntentIndex()
        index.startLoading()
        let filling = String(repeating: "-", count: bytes)
        for number in 0..<UInt32(self.count) {
            let own = "\(filling)v\(Int(number) % texts)"
            index.insert(
                number,
                app: self.app,
                kind: self.kind,
                family: .systemSmall,
                host: number,
                tags: [],
                configuration: Configuration([
                    "text": .string(own), "number": .int(Int64(Int(number) % texts)),
                    "list": .array([.string(own), .string("all")]),
                ]),
                pushEnabled: true
            )
        }
        index.finishLoading()
        return index
    }

    private struct Answer {
        var found: [UInt32] = []
        var judged = 0
        /// The most values of one step, and how many steps there were.
        var mostJudged = 0
        var steps = 0
    }

    private static func ask(_ index: borrowing IntentIndex, _ pattern: MatchPattern, _ hosts: HostList) -> Answer {
        var cursor = index.cursor(app: self.app, kind: self.kind, pattern: pattern, hosts: hosts, batchLimit: 4096)
        var found: [InstanceNumber] = []
        var answer = Answer()
        while index.next(&cursor, hosts) {
            cursor.appendBatch(to: &found)
            answer.mostJudged = max(answer.mostJudged, cursor.judged - answer.judged)
            answer.judged = cursor.judged
            answer.steps += 1
        }
        answer.found = found.map(\.raw)
        return answer
    }

    private static let hosts = HostList((0..<count).map { "v\($0)" })

    /// As many conditions on one parameter as a pattern may have.
    private static func widest(_ field: MatchField, _ atom: (Int) -> MatchAtom) -> MatchPattern {
        var atoms = [atom(7)]
        while MatchPattern.field(field, atoms + [atom(1)]).cost <= PatternLimits().costMax {
            atoms.append(atom(1_000_000 + atoms.count))
        }
        return .field(field, atoms)
    }

    private static func wildcard(_ text: String) -> MatchAtom {
        guard let wildcard = Wildcard(text) else { preconditionFailure("no wildcard") }
        return .wildcard(wildcard)
    }

    private static func range(_ first: Int) -> MatchAtom {
        .numeric(
            NumericRange(
                lower: NumericRange.Bound(ExactNumber(Int64(first)), isInclusive: true),
                upper: NumericRange.Bound(ExactNumber(Int64(first + 1)), isInclusive: false)
            )
        )
    }

    static let text = MatchField.parameter("text")
    static let widestPatterns: [(MatchPattern, [UInt32])] = [
        (widest(text) { .suffix(UTF8Text("v\($0)")) }, [7]),
        (widest(text) { .equalsIgnoreCase(UTF8Text("v\($0)")) }, [7]),
        (widest(text) { .prefix(UTF8Text("v1999\($0)")) }, [19_997]),
        (widest(text) { wildcard("*v*\($0)999*") }, [7999, 17_999]),
        (widest(.parameter("number"), range), [7]),
        (widest(.parameter("list")) { .suffix(UTF8Text("v\($0)")) }, [7]),
        (widest(.host) { .suffix(UTF8Text("v\($0)")) }, [7]),
    ]

    @Test(arguments: widestPatterns)
    func `no step judges more values than its work allows`(question: (MatchPattern, [UInt32])) {
        let answer = Self.ask(Self.index(), question.0, Self.hosts)
        #expect(answer.found == question.1)
        #expect(answer.judged >= Self.count)
        #expect(answer.mostJudged <= MatchCursor.workMax / 400, "\(answer.mostJudged)")
        #expect(answer.steps >= answer.judged / answer.mostJudged)
    }

    @Test func `long texts are fewer a step`() {
        let pattern = MatchPattern.field(Self.text, [.suffix("v7"), .suffix("-8")])
        let short = Self.ask(Self.index(), pattern, Self.hosts)
        let long = Self.ask(Self.index(bytes: 2000), pattern, Self.hosts)
        #expect(short.found == [7] && long.found == [7])
        #expect(short.judged == long.judged)
        #expect(long.mostJudged * 20 < short.mostJudged)
    }

    /// Of each condition all values are judged, one condition after the other.
    @Test func `many conditions that are judged are many steps`() {
        let parts = (0..<25).map { MatchPattern.field(Self.text, [.suffix(UTF8Text("v\($0)")), .suffix("v")]) }
        let index = Self.index()
        let any = Self.ask(index, .any(parts), Self.hosts)
        let ends = (0..<25).map { "v\($0)" }
        let wanted = (0..<UInt32(Self.count)).filter { number in ends.contains { "v\(number)".hasSuffix($0) } }
        #expect(any.found == wanted)
        #expect(any.judged >= 25 * Self.count)
        #expect(any.mostJudged <= MatchCursor.workMax / 8)
        let all = Self.ask(index, .all(Array(parts.prefix(3))), Self.hosts)
        #expect(all.found.isEmpty)
    }

    /// Where few rows are asked, their values are judged by themselves.
    @Test func `a list that leaves few rows spares judging all values`() {
        let index = Self.index()
        let pattern = MatchPattern.all([
            .field(.parameter("number"), [.equals(.number(.int(7)))]), .field(Self.text, [.suffix("7")]),
        ])
        let answer = Self.ask(index, pattern, Self.hosts)
        #expect(answer.found == [7] && answer.judged == 0)
    }

    @Test func `literals are looked up, also where anything else passes`() {
        let index = Self.index()
        let all = Array(0..<UInt32(Self.count))
        let neither = MatchAtom.anythingBut([.string("v1"), .string("v2")])
        let questions: [([MatchAtom], [UInt32])] = [
            ([neither, .anythingBut([.string("v2")])], all.filter { $0 != 2 }),
            ([neither, .equals(.string("v1"))], all.filter { $0 != 2 }),
            ([.anythingBut([.string("v1")]), .anythingBut([.string("v2")])], all),
            ([.anythingBut([.string("v1")]), .exists(false)], all.filter { $0 != 1 }),
            ([.exists(true), .exists(false)], all),
        ]
        for (atoms, wanted) in questions {
            let answer = Self.ask(index, .field(Self.text, atoms), Self.hosts)
            #expect(answer.found == wanted && answer.judged == 0, "\(atoms)")
        }
    }

    /// The kinds of an app are planned one after the other.
    @Test func `a question about many kinds is many steps`() {
        var index = IntentIndex()
        for number in UInt32(0)..<200 {
            index.insert(
                number,
                app: Self.app,
                kind: WidgetKind("kind\(number)"),
                family: .systemSmall,
                host: number,
                tags: [],
                configuration: Configuration(["text": .string("v\(number % 2)")]),
                pushEnabled: true
            )
        }
        let pattern = MatchPattern.field(Self.text, [.suffix("v1")])
        var cursor = index.cursor(app: Self.app, kind: nil, pattern: pattern, hosts: Self.hosts, batchLimit: 64)
        var (found, steps) = ([InstanceNumber](), 0)
        while index.next(&cursor, Self.hosts) {
            cursor.appendBatch(to: &found)
            steps += 1
        }
        #expect(found.map(\.raw) == (0..<200).filter { $0 % 2 == 1 })
        #expect(steps > 10)
    }
}
