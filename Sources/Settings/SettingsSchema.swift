import WidgetModel

/// Makes a JSON Schema of the configuration, for editors: every key with the example's comment, the type of its value, and
/// its default.
struct SettingsSchema: SettingsVisitor {
    /// A section that is open.
    private struct Frame {
        /// The path of its members, with a dot.
        var prefix = ""
        var members: [JSONValue.Member] = []
        var required: [String] = []
    }

    private var open = [Frame()]

    /// The schema of all keys that were visited.
    var schema: JSONValue { JSONSchema.section(self.open[0].members, required: self.open[0].required) }

    private mutating func add(_ key: String, _ schema: JSONValue, isRequired: Bool = false) {
        let last = self.open.count - 1
        let explained = SettingExplanations.all[self.open[last].prefix + key].map { schema.explained(by: $0) }
        self.open[last].members.append(JSONValue.Member(name: key, value: explained ?? schema))
        if isRequired { self.open[last].required.append(key) }
    }

    /// - Parameter name: The section's key, with `[]` for a list's.
    private mutating func inside(_ name: String, mayBeEmpty: Bool = false, _ body: (inout Self) -> Void) -> JSONValue {
        self.open.append(Frame(prefix: "\(self.open[self.open.count - 1].prefix)\(name)."))
        body(&self)
        let frame = self.open.removeLast()
        return JSONSchema.section(frame.members, required: frame.required, mayBeEmpty: mayBeEmpty)
    }

    mutating func scalar<Value>(_ key: String, _ value: inout Value, _ type: SettingType<Value>, isRequired: Bool) {
        let fallback = isRequired ? nil : type.json(value)
        self.add(key, type.schema.described(as: type.phrase, default: fallback), isRequired: isRequired)
    }

    mutating func optional<Value>(_ key: String, _ value: inout Value?, _ type: SettingType<Value>) {
        self.add(key, type.schema.described(as: type.phrase))
    }

    mutating func file(_ key: String, _ value: inout String, _ purpose: FilePurpose, isRequired: Bool) {
        self.scalar(key, &value, .fileName, isRequired: isRequired)
    }

    mutating func optionalFile(_ key: String, _ value: inout String?, _ purpose: FilePurpose) {
        self.optional(key, &value, .fileName)
    }

    mutating func scalars<Value>(_ key: String, _ values: inout [Value], _ type: SettingType<Value>) {
        self.add(key, JSONSchema.list(of: type.schema.described(as: type.phrase), mayBeEmpty: true))
    }

    mutating func optionalScalars<Value>(
        _ key: String,
        _ values: inout [Value]?,
        _ type: SettingType<Value>,
        mayBeEmpty: Bool
    ) {
        let elements = type.schema.described(as: type.phrase)
        self.add(key, JSONSchema.list(of: elements, least: mayBeEmpty ? 0 : 1, mayBeEmpty: true))
    }

    /// Secrets may not stand in the file.
    mutating func secrets(_ key: String, _ values: inout [Secret]) {}

    mutating func json(_ key: String, _ value: inout JSONValue?) {
        self.add(key, JSONValue.object([]).described(as: "a value of any shape"))
    }

    mutating func section(_ key: String, _ body: (inout Self) -> Void) {
        let schema = self.inside(key, mayBeEmpty: true, body)
        self.add(key, schema)
    }

    mutating func optionalSection<Value>(
        _ key: String,
        _ value: inout Value?,
        empty: Value,
        _ body: (inout Value, inout Self) -> Void
    ) {
        var inner = empty
        let schema = self.inside(key) { body(&inner, &$0) }
        self.add(key, schema)
    }

    mutating func records<Value>(
        _ key: String,
        _ values: inout [Value],
        empty: Value,
        _ body: (inout Value, inout Self) -> Void
    ) {
        var inner = empty
        let schema = self.inside("\(key)[]") { body(&inner, &$0) }
        self.add(key, JSONSchema.list(of: schema, mayBeEmpty: true))
    }

    mutating func nameOrSection<Value>(
        _ key: String,
        _ name: inout String?,
        _ value: inout Value?,
        empty: Value,
        _ body: (inout Value, inout Self) -> Void
    ) {
        var inner = empty
        let schema = self.inside(key) { body(&inner, &$0) }
        self.add(key, JSONSchema.either(JSONSchema.anyText, schema).described(as: "a name, or a section in its place"))
    }
}
