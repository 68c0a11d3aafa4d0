import APNSWire
import IntentMatching
import WidgetModel

/// The target of libFuzzer: the way of a push's `match` from JSON text to an answer of the index.
///
/// A text is refused with a fault, or it is a pattern that keeps its meaning in every form it takes: as bytes, as JSON
/// again, and as a question to the index. `Tests/Fuzz/run.sh` builds and runs it.
private enum PatternFuzz {
    nonisolated(unsafe) private static let reader = JSONReader()
    private static let app = BundleID("com.example.fuzz")
    private static let subjects: [MatchSubject] = [
        subject([], .systemSmall, "h-1", []),
        subject(
            [("team", .string("seahawks")), ("health", .int(42)), ("premium", .bool(true))],
            .systemLarge,
            "h-2",
            ["beta"]
        ),
        subject(
            [
                ("alliances", .array([.string("a"), .string("ab")])), ("health", .int(.max)), ("ratio", .double(-0.0)),
                ("kickoff", .date(Instant(milliseconds: 1_795_280_400_000))), ("venue.city", .string("\u{E9}*\\")),
            ],
            .accessoryInline,
            "h-3",
            ["beta", "eu"]
        ),
        subject([("alliances", .array([])), ("team", .string("")), ("health", .int(.min))], .systemSmall, "", ["eu"]),
    ]
    /// The host of each subject, by its place.
    private struct Hosts: HostNaming {
        func number(ofHost id: [UInt8], of app: BundleID) -> HostNumber? {
            PatternFuzz.subjects.firstIndex { Array($0.host.rawValue.utf8) == id }.map { HostNumber($0) }
        }

        func forEachHost(in numbers: Range<HostNumber>, _ body: (HostNumber, Span<UInt8>) -> Void) {
            for number in numbers.lowerBound.index..<min(numbers.upperBound.index, PatternFuzz.subjects.count) {
                body(HostNumber(number), PatternFuzz.subjects[number].host.rawValue.utf8.span)
            }
        }
    }

    private static let index = {
        var index = IntentIndex()
        for (number, subject) in Self.subjects.enumerated() {
            index.insert(
                InstanceNumber(number),
                app: Self.app,
                kind: WidgetKind("fuzz"),
                family: subject.family,
                host: HostNumber(number),
                tags: subject.tags,
                configuration: subject.configuration,
                pushEnabled: true
            )
        }
        return index
    }()

    private static func subject(
        _ parameters: [(String, ParameterValue)],
        _ family: WidgetFamily,
        _ host: String,
        _ tags: [String]
    ) -> MatchSubject {
        MatchSubject(
            configuration: Configuration(parameters.map { Configuration.Parameter(name: $0.0, value: $0.1) }),
            family: family,
            host: HostID(host),
            tags: tags
        )
    }

    static func run(_ bytes: [UInt8]) {
        self.readBytes(bytes)
        guard let json = try? self.reader.parse(bytes) else { return }
        if let condition = try? MatchPattern.condition(from: json) {
            for subject in self.subjects { _ = condition.holds(for: subject.configuration) }
        }
        let pattern: MatchPattern
        do {
            pattern = try MatchPattern.parse(json)
        } catch {
            precondition(!error.description.isEmpty, "a fault that says nothing")
            return
        }
        self.keepsItsMeaning(pattern)
        var found: [UInt32] = []
        self.index.matches(
            app: self.app,
            kind: WidgetKind("fuzz"),
            pattern: pattern,
            hosts: Hosts(),
            batchLimit: 2
        ) { batch in
            for place in batch.indices { found.append(batch[place].raw) }
        }
        precondition(found.sorted() == self.answer(pattern), "the index answers something else")
    }

    /// Bytes of a record: damaged ones are told, whatever is read can be written and read again.
    private static func readBytes(_ bytes: [UInt8]) {
        var reader = ByteReader(bytes)
        guard let pattern = try? MatchPattern(from: &reader) else { return }
        var writer = ByteWriter()
        pattern.encode(into: &writer)
        var again = ByteReader(writer.bytes)
        precondition((try? MatchPattern(from: &again)) == pattern, "bytes that were read are written differently")
        _ = self.answer(pattern)
    }

    private static func keepsItsMeaning(_ pattern: MatchPattern) {
        var writer = ByteWriter()
        pattern.encode(into: &writer)
        var reader = ByteReader(writer.bytes)
        precondition((try? MatchPattern(from: &reader)) == pattern, "a pattern is not what its bytes are")
        // Alternatives that are written into one another can be more than the limits allow.
        guard let again = try? MatchPattern.parse(pattern.json) else { return }
        precondition(self.answer(again) == self.answer(pattern), "a pattern is not what its JSON is")
    }

    private static func answer(_ pattern: MatchPattern) -> [UInt32] {
        self.subjects.indices.filter { pattern.matches(self.subjects[$0]) }.map { UInt32($0) }
    }
}

/// libFuzzer's entry point.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ data: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    PatternFuzz.run(Array(UnsafeBufferPointer(start: data, count: count)))
    return 0
}
