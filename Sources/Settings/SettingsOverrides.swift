import WidgetModel

/// Changes single values of a configuration by their key paths, as the environment and the command line say.
///
/// A value inside a list has no name of its own and is not reached.
struct SettingsOverrides: SettingsVisitor {
    /// A text for one key path.
    struct Override: Sendable {
        let place: SettingFault.Place
        let text: String
    }

    /// By key path.
    private let overrides: [String: Override]
    private let allowsSecrets: Bool
    private(set) var faults: [SettingFault] = []
    /// Where the values that were changed come from, by key path.
    private(set) var places: [String: SettingFault.Place] = [:]
    private var sections: [String] = []

    init(_ overrides: [String: Override], allowsSecrets: Bool) {
        self.overrides = overrides
        self.allowsSecrets = allowsSecrets
    }

    private func path(_ key: String) -> String {
        (self.sections + [key]).joined(separator: ".")
    }

    private mutating func takeOverride(_ key: String) -> (path: String, text: String)? {
        let path = self.path(key)
        guard let override = self.overrides[path] else { return nil }
        self.places[path] = override.place
        return (path, override.text)
    }

    private mutating func read<Value>(_ key: String, _ type: SettingType<Value>) -> Value? {
        guard let (path, text) = self.takeOverride(key) else { return nil }
        if let value = type.value(text) { return value }
        self.fault(at: path, type.sentence(refusing: text))
        return nil
    }

    private mutating func fault(at path: String, _ sentence: String) {
        let place = self.overrides[path]?.place ?? .nowhere
        self.faults.append(SettingFault(place: place, path: path, sentence: sentence))
    }

    mutating func scalar<Value>(_ key: String, _ value: inout Value, _ type: SettingType<Value>, isRequired: Bool) {
        if let read = self.read(key, type) { value = read }
    }

    mutating func optional<Value>(_ key: String, _ value: inout Value?, _ type: SettingType<Value>) {
        if let read = self.read(key, type) { value = read }
    }

    mutating func file(_ key: String, _ value: inout String, _ purpose: FilePurpose, isRequired: Bool) {
        if let read = self.read(key, .fileName) { value = read }
    }

    mutating func optionalFile(_ key: String, _ value: inout String?, _ purpose: FilePurpose) {
        if let read = self.read(key, .fileName) { value = read }
    }

    mutating func secrets(_ key: String, _ values: inout [Secret]) {
        guard self.allowsSecrets else {
            // Every user of the machine can read a command line.
            let sentence = "is a secret and must not be on a command line; use a variable or a file"
            if self.overrides[self.path(key)] != nil { self.fault(at: self.path(key), sentence) }
            return
        }
        guard let (_, text) = self.takeOverride(key) else { return }
        values = text.split(whereSeparator: { $0 == "," || $0.isNewline }).map { Secret(String($0)) }
    }

    mutating func section(_ key: String, _ body: (inout Self) -> Void) {
        self.sections.append(key)
        body(&self)
        self.sections.removeLast()
    }

    mutating func optionalSection<Value>(
        _ key: String,
        _ value: inout Value?,
        empty: Value,
        _ body: (inout Value, inout Self) -> Void
    ) {
        let prefix = self.path(key) + "."
        guard self.overrides.keys.contains(where: { $0.hasPrefix(prefix) }) else { return }
        var inner = value ?? empty
        self.section(key) { body(&inner, &$0) }
        value = inner
    }

    // Inside a list, or of a shape that one text does not have.
    mutating func scalars<Value>(_ key: String, _ values: inout [Value], _ type: SettingType<Value>) {}
    mutating func optionalScalars<Value>(
        _ key: String,
        _ values: inout [Value]?,
        _ type: SettingType<Value>,
        mayBeEmpty: Bool
    ) {}
    mutating func json(_ key: String, _ value: inout JSONValue?) {}
    mutating func records<Value>(
        _ key: String,
        _ values: inout [Value],
        empty: Value,
        _ body: (inout Value, inout Self) -> Void
    ) {}
    mutating func nameOrSection<Value>(
        _ key: String,
        _ name: inout String?,
        _ value: inout Value?,
        empty: Value,
        _ body: (inout Value, inout Self) -> Void
    ) {}
}
