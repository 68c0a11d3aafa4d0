import WidgetModel

/// The keys that a reader of scenarios asks for, noted as a JSON Schema for editors.
struct ScenarioNotes {
    private struct Section {
        /// Every key, in the order of messages.
        let keys: [String]
        var values: [String: JSONValue] = [:]
        var required: [String] = []
        var oneOf: [String] = []
    }

    /// By path, list elements with `[]`.
    private var sections: [String: Section] = [:]

    mutating func add(section path: String, keys: [String]) {
        self.sections[path] = Section(keys: keys)
    }

    mutating func add(value key: String, in path: String, _ schema: JSONValue) {
        self.sections[path]?.values[key] = schema
    }

    mutating func need(_ key: String, in path: String) { self.sections[path]?.required.append(key) }

    mutating func needOne(of keys: [String], in path: String) { self.sections[path]?.oneOf = keys }

    /// The schema of a section with all that is in it.
    func schema(of path: String = "") -> JSONValue {
        guard let section = self.sections[path] else { return .object([]) }
        let members = section.keys.map { key in
            let inner = path.isEmpty ? key : "\(path).\(key)"
            let schema =
                section.values[key]
                ?? (self.sections[inner] == nil
                    ? JSONSchema.list(of: self.schema(of: "\(inner)[]")) : self.schema(of: inner))
            return JSONValue.Member(name: key, value: schema)
        }
        return JSONSchema.section(members, required: section.required, oneOf: section.oneOf)
    }
}
