package import WidgetModel

/// One thing that is wrong with a configuration: where, and what to do.
package struct SettingFault: Hashable, Sendable, CustomStringConvertible {
    /// Where a value was written.
    package enum Place: Hashable, Sendable {
        /// A line and a column, both from 1.
        case file(String, line: Int, column: Int)
        /// A file as a whole.
        case wholeFile(String)
        case environment(String)
        /// A command-line option.
        case option(String)
        /// An entry that operators have changed by a request: `app com.example.scores`.
        case amendment(String)
        /// Nowhere: the fault is in a default, or in something that is missing.
        case nowhere

        /// As a person is told: `freshet.yaml:12:5`; nil for nowhere.
        package var text: String? {
            switch self {
            case .file(let name, let line, let column): "\(name):\(line):\(column)"
            case .wholeFile(let name): name
            case .environment(let name): "environment \(name)"
            case .option(let name): "option \(name)"
            case .amendment(let entry): "the changed \(entry)"
            case .nowhere: nil
            }
        }
    }

    package let place: Place
    /// The key path, as in `apps[0].kinds[2].parameters[1].default`; empty if the fault is about no key.
    package let path: String
    /// The fault, with the remedy; continues a sentence that starts with the path.
    package let sentence: String

    package init(place: Place, path: String, sentence: String) {
        self.place = place
        self.path = path
        self.sentence = sentence
    }

    /// `freshet.yaml:12:5: listeners.push.port: has to be …`.
    package var description: String {
        [self.place.text, self.path.isEmpty ? nil : self.path, self.sentence].compactMap { $0 }.joined(separator: ": ")
    }
}

/// Everything that is wrong with a configuration; at least one fault.
package struct SettingsError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Those of the file first, by line.
    package let faults: [SettingFault]

    package init(_ faults: [SettingFault]) {
        func rank(_ fault: SettingFault) -> (Int, Int, Int) {
            switch fault.place {
            case .file(_, let line, let column): (0, line, column)
            case .wholeFile: (1, 0, 0)
            case .environment: (2, 0, 0)
            case .option: (3, 0, 0)
            case .amendment: (4, 0, 0)
            case .nowhere: (5, 0, 0)
            }
        }
        let ranked = faults.enumerated().map { (rank: rank($0.element), index: $0.offset, fault: $0.element) }
        self.faults = ranked.sorted { ($0.rank, $0.index) < ($1.rank, $1.index) }.map(\.fault)
    }

    /// One line a fault.
    package var description: String { self.faults.map(\.description).joined(separator: "\n") }
}

/// Orders by the first, then by the second.
private func < (left: ((Int, Int, Int), Int), right: ((Int, Int, Int), Int)) -> Bool {
    left.0 == right.0 ? left.1 < right.1 : left.0 < right.0
}

extension SettingFault {
    /// For programs: the place, the path and the fault.
    package var json: JSONValue {
        let (source, line, column): (String?, Int?, Int?) =
            switch self.place {
            case .file(let name, let line, let column): (name, line, column)
            case .wholeFile(let name), .environment(let name), .option(let name): (name, nil, nil)
            case .amendment, .nowhere: (nil, nil, nil)
            }
        let entry: String? = if case .amendment(let entry) = self.place { entry } else { nil }
        return JSONValue.object(of: [
            ("file", source.map { .string($0) }),
            ("line", line.map { .count($0) }),
            ("column", column.map { .count($0) }),
            ("entry", entry.map { .string($0) }),
            ("key", self.path.isEmpty ? nil : .string(self.path)),
            ("reason", .string(self.sentence)),
        ])
    }
}
