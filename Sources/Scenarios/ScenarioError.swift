/// One thing that is wrong with a scenario: where, and what to do.
package struct ScenarioFault: Hashable, Sendable, CustomStringConvertible {
    /// The file's name.
    package let file: String
    /// From 1; 0 for the file as a whole.
    package let line: Int
    package let column: Int
    /// The key's path, as in `senders[0].events[1].every`.
    package let path: String
    /// The fault, with the remedy; continues a sentence that starts with the path.
    package let sentence: String

    /// `sports.yaml:12:5: senders[0].kind: …`.
    package var description: String {
        let place = self.line == 0 ? self.file : "\(self.file):\(self.line):\(self.column)"
        return [place, self.path, self.sentence].filter { !$0.isEmpty }.joined(separator: ": ")
    }
}

/// Everything that is wrong with a scenario, by line; at least one fault.
package struct ScenarioError: Error, Hashable, Sendable, CustomStringConvertible {
    package let faults: [ScenarioFault]

    package init(_ faults: [ScenarioFault]) {
        self.faults = faults.sorted { ($0.line, $0.column) < ($1.line, $1.column) }
    }

    package var description: String { self.faults.map(\.description).joined(separator: "\n") }
}
