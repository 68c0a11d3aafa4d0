package import WidgetModel
import Yams

/// A section of a scenario file: its keys with their values and places.
package struct ScenarioSection {
    /// The key's path, empty for the whole file.
    package let path: String
    fileprivate let members: [(key: String, node: Node)]
    fileprivate let mark: Mark?

    package func has(_ key: String) -> Bool { self.members.contains { $0.key == key } }

    /// Whether a key's value is a list.
    package func isList(_ key: String) -> Bool { self.node(key)?.sequence != nil }

    /// A key's value as YAML of its own, for a reader that knows its rules; nil if it is no section.
    package func sectionText(_ key: String) -> String? {
        guard let node = self.node(key), node.mapping != nil else { return nil }
        return try? Yams.serialize(node: node)
    }

    /// Where the innermost part of a key path that is there is.
    fileprivate func mark(of path: String) -> Mark? {
        var (node, mark) = (Node?.none, self.mark)
        for key in path.split(separator: ".") {
            node = node.map { $0.mapping?[String(key)] } ?? self.node(String(key))
            guard let found = node else { break }
            mark = found.mark ?? mark
        }
        return mark
    }

    fileprivate func node(_ key: String) -> Node? { self.members.first { $0.key == key }?.node }

    fileprivate func path(of key: String) -> String {
        key.isEmpty ? self.path : self.path.isEmpty ? key : "\(self.path).\(key)"
    }
}

/// Reads sections and values out of YAML, and collects everything that is wrong with them.
package struct ScenarioText {
    private let file: String
    package private(set) var faults: [ScenarioFault] = []
    /// Notes of the keys that are asked for, if there is no file but its schema is to be made.
    private var notes: ScenarioNotes?

    package init(file: String) {
        self.file = file
    }

    /// For finding out the keys that a reader reads: each section is there, each list has one element, and every value is the default.
    /// ``schema(title:)`` gives the keys that were asked for.
    package init(describing: Void) {
        self.file = ""
        self.notes = ScenarioNotes()
    }

    /// A JSON Schema of the keys that were asked for.
    package func schema(title: String) -> JSONValue {
        JSONSchema.file(self.notes?.schema() ?? .object([]), title: title)
    }

    /// The section of that path, noted.
    private mutating func described(_ path: String, _ keys: [String]) -> ScenarioSection {
        self.notes?.add(section: path, keys: keys)
        return ScenarioSection(path: path, members: [], mark: nil)
    }

    /// The file's outermost section, or nil with a fault.
    package mutating func root(_ text: String, keys: [String]) -> ScenarioSection? {
        if self.notes != nil { return self.described("", keys) }
        do {
            guard let node = try Yams.compose(yaml: text) else {
                self.fault(nil, "", "is empty; give kinds, populations and senders")
                return nil
            }
            return self.section(node, "", keys)
        } catch let error as YamlError {
            self.report(error)
        } catch {
            self.fault(nil, "", "is not YAML: \(error)")
        }
        return nil
    }

    private mutating func report(_ error: YamlError) {
        switch error {
        case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _),
            .composer(_, let problem, let mark, _):
            self.fault(mark, "", "is not YAML: \(problem)")
        case .duplicatedKeysInMapping(let keys, let context):
            let names = keys.sorted().joined(separator: ", ")
            self.fault(context.mark, "", "\(names) is given twice in one section; keep one of them")
        default: self.fault(nil, "", "is not YAML: \(error)")
        }
    }

    private mutating func fault(_ mark: Mark?, _ path: String, _ sentence: String) {
        self.faults.append(
            ScenarioFault(
                file: self.file,
                line: mark?.line ?? 0,
                column: mark?.column ?? 0,
                path: path,
                sentence: sentence
            )
        )
    }

    /// Notes a fault of a key's value, or of its section if the key is not there.
    package mutating func fault(_ section: ScenarioSection, _ key: String, _ sentence: String) {
        self.fault(section.node(key)?.mark ?? section.mark, section.path(of: key), sentence)
    }

    /// Notes a fault that another reader found at a path from a section.
    package mutating func fault(_ section: ScenarioSection, path: String, _ sentence: String) {
        self.fault(section.mark(of: path), section.path(of: path), sentence)
    }

    private mutating func section(_ node: Node, _ path: String, _ keys: [String]) -> ScenarioSection? {
        guard let mapping = node.mapping else {
            self.fault(node.mark, path, "must be a section with the keys \(keys.joined(separator: ", "))")
            return nil
        }
        var members: [(key: String, node: Node)] = []
        for (keyNode, value) in mapping {
            let key = keyNode.scalar?.string ?? ""
            if keys.contains(key) {
                members.append((key, value))
            } else {
                let place = path.isEmpty ? key : "\(path).\(key)"
                self.fault(
                    keyNode.mark,
                    place,
                    "is not a key of this section; the keys are \(keys.joined(separator: ", "))"
                )
            }
        }
        return ScenarioSection(path: path, members: members, mark: node.mark)
    }

    /// The section of a key, nil if it is not there.
    package mutating func section(_ key: String, in section: ScenarioSection, keys: [String]) -> ScenarioSection? {
        if self.notes != nil { return self.described(section.path(of: key), keys) }
        return section.node(key).flatMap { self.section($0, section.path(of: key), keys) }
    }

    /// The sections of a list, empty if the key is not there.
    package mutating func sections(_ key: String, in section: ScenarioSection, keys: [String]) -> [ScenarioSection] {
        if self.notes != nil { return [self.described("\(section.path(of: key))[]", keys)] }
        var sections: [ScenarioSection] = []
        for (index, node) in self.elements(key, in: section).enumerated() {
            if let found = self.section(node, "\(section.path(of: key))[\(index)]", keys) { sections.append(found) }
        }
        return sections
    }

    private mutating func elements(_ key: String, in section: ScenarioSection) -> [Node] {
        guard let node = section.node(key) else { return [] }
        if let sequence = node.sequence { return Array(sequence) }
        self.fault(node.mark, section.path(of: key), "must be a list")
        return []
    }

    /// Reports a key that has to be there and is not.
    package mutating func need(_ key: String, in section: ScenarioSection, _ sentence: String = "is missing") {
        self.notes?.need(key, in: section.path)
        if !section.has(key) { self.fault(section, key, sentence) }
    }

    /// The one key of these that is there, or nil with a fault.
    package mutating func one(of keys: [String], in section: ScenarioSection) -> String? {
        self.notes?.needOne(of: keys, in: section.path)
        let found = keys.filter { section.has($0) }
        if found.count == 1 { return found[0] }
        let names = "\(keys.dropLast().joined(separator: ", ")) and \(keys.last ?? "")"
        self.fault(section, "", "needs exactly one of \(names)")
        return nil
    }

    // MARK: Values

    /// A value, as a rule reads its text. The default, if the key is not there, or with a fault if its text is no such
    /// value.
    ///
    /// - Parameters:
    ///   - phrase: The expected value; continues "has to be".
    ///   - schema: Its schema for editors.
    package mutating func value<Value>(
        _ key: String,
        in section: ScenarioSection,
        _ phrase: String,
        else fallback: Value,
        as schema: JSONValue = JSONSchema.anyText,
        _ read: (String) -> Value?
    ) -> Value {
        self.notes?.add(value: key, in: section.path, schema.described(as: phrase))
        guard let node = section.node(key) else { return fallback }
        guard let text = node.scalar?.string, let value = read(text) else {
            let found = node.scalar.map { "\"\($0.string)\"" } ?? (node.mapping == nil ? "a list" : "a section")
            self.fault(node.mark, section.path(of: key), "must be \(phrase), not \(found)")
            return fallback
        }
        return value
    }

    /// The values of a list, as a rule reads them; elements that are no such value are faults.
    package mutating func values<Value>(
        _ key: String,
        in section: ScenarioSection,
        _ phrase: String,
        _ read: (String) -> Value?
    ) -> [Value] {
        self.notes?.add(value: key, in: section.path, JSONSchema.list(of: JSONSchema.anyText.described(as: phrase)))
        var values: [Value] = []
        for (index, node) in self.elements(key, in: section).enumerated() {
            if let text = node.scalar?.string, let value = read(text) {
                values.append(value)
            } else {
                let found = node.scalar.map { "\"\($0.string)\"" } ?? "a section"
                self.fault(node.mark, "\(section.path(of: key))[\(index)]", "must be \(phrase), not \(found)")
            }
        }
        return values
    }

    /// The keys of a section that has any, with whole numbers as values; `known` says which keys there may be.
    package mutating func weights(_ key: String, in section: ScenarioSection, known: [String]) -> [(
        name: String, weight: Int
    )] {
        guard let inner = self.section(key, in: section, keys: known) else { return [] }
        return inner.members.map { member in
            let weight = self.integer(member.key, in: inner, 1...1_000_000, else: 1)
            return (member.key, weight)
        }
    }

    package mutating func integer(
        _ key: String,
        in section: ScenarioSection,
        _ range: ClosedRange<Int>,
        else fallback: Int
    ) -> Int {
        self.value(
            key,
            in: section,
            "an integer from \(range.lowerBound) to \(range.upperBound)",
            else: fallback,
            as: JSONSchema.integer(range)
        ) { text in
            Int(text.filter { $0 != "_" }).flatMap { range.contains($0) ? $0 : nil }
        }
    }

    package mutating func number(
        _ key: String,
        in section: ScenarioSection,
        _ range: ClosedRange<Double>,
        else fallback: Double
    ) -> Double {
        self.value(
            key,
            in: section,
            "a number from \(range.lowerBound) to \(range.upperBound)",
            else: fallback,
            as: JSONSchema.number(range)
        ) { text in
            Double(text).flatMap { range.contains($0) ? $0 : nil }
        }
    }

    package mutating func flag(_ key: String, in section: ScenarioSection, else fallback: Bool) -> Bool {
        self.value(key, in: section, "true or false", else: fallback, as: JSONSchema.flag) { text in
            text == "true" ? true : text == "false" ? false : nil
        }
    }

    package mutating func text(_ key: String, in section: ScenarioSection, else fallback: String) -> String {
        self.value(key, in: section, "a text", else: fallback) { $0.isEmpty ? nil : $0 }
    }

    /// A length of time such as `90s`, `15m`, `4h` or `1d12h`.
    package mutating func duration(
        _ key: String,
        in section: ScenarioSection,
        _ range: ClosedRange<Interval>,
        else fallback: Interval
    ) -> Interval {
        let phrase =
            "a length of time (90s, 15m, 4h, 1d12h) from \(ScenarioValue.text(range.lowerBound)) to "
            + ScenarioValue.text(range.upperBound)
        return self.value(key, in: section, phrase, else: fallback) { text in
            ScenarioValue.duration(text).flatMap { range.contains($0) ? $0 : nil }
        }
    }

    /// A part of a whole: `25%` or `0.25`.
    package mutating func share(_ key: String, in section: ScenarioSection, else fallback: Double) -> Double {
        self.value(key, in: section, "a share such as 25% or 0.25", else: fallback) { ScenarioValue.share($0) }
    }

    /// One of an enumeration's names.
    package mutating func choice<Value: RawRepresentable & CaseIterable>(
        _ key: String,
        in section: ScenarioSection,
        else fallback: Value
    ) -> Value where Value.RawValue == String {
        let names = Value.allCases.map(\.rawValue)
        return self.value(
            key,
            in: section,
            "one of \(names.joined(separator: ", "))",
            else: fallback,
            as: JSONSchema.choice(names.map { .string($0) })
        ) { Value(rawValue: $0) }
    }
}
