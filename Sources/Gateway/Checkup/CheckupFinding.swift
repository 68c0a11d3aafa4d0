package import WidgetModel

/// The finding of a look at a machine and a configuration, about one thing that a gateway needs.
package struct CheckupFinding: Hashable, Sendable {
    /// How things are.
    package enum Verdict: String, Hashable, Sendable, CaseIterable, Comparable {
        case good
        /// It works, and is hardly meant.
        case warning
        /// It has to be mended.
        case fault

        package static func < (left: Verdict, right: Verdict) -> Bool { left.rank < right.rank }

        private var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }
    }

    /// The key that it is about, as in `listeners.push.port`; a word such as `clock` where there is none.
    package let subject: String
    package let verdict: Verdict
    /// The finding and, unless it is good, what to do. Continues a sentence that starts with the subject.
    package let sentence: String

    package init(_ subject: String, _ verdict: Verdict, _ sentence: String) {
        self.subject = subject
        self.verdict = verdict
        self.sentence = sentence
    }

    /// For programs.
    package var json: JSONValue {
        JSONValue.object(of: [
            ("subject", .string(self.subject)), ("verdict", .string(self.verdict.rawValue)),
            ("sentence", .string(self.sentence)),
        ])
    }
}
