import WidgetModel

/// Lists the paths of all keys, those of list elements with `[]` for the index.
struct SettingsKeyList: SettingsVisitor {
    /// Every key, sections and lists included, in the order of the file.
    private(set) var paths: [String] = []
    /// The paths of single values outside of lists: those that the environment and the command line can set.
    private(set) var settable: [String] = []
    private var sections: [String] = []
    private var lists = 0

    /// The keys of the configuration.
    static let all: SettingsKeyList = {
        var list = SettingsKeyList()
        var configuration = GatewayConfiguration()
        configuration.visit(&list)
        return list
    }()

    private mutating func noteKey(_ key: String, isSettable: Bool) {
        let path = (self.sections + [key]).joined(separator: ".")
        self.paths.append(path)
        if isSettable, self.lists == 0 { self.settable.append(path) }
    }

    private mutating func inside(_ section: String, _ body: (inout Self) -> Void) {
        self.sections.append(section)
        body(&self)
        self.sections.removeLast()
    }

    mutating func scalar<Value>(_ key: String, _ value: inout Value, _ type: SettingType<Value>, isRequired: Bool) {
        self.noteKey(key, isSettable: true)
    }

    mutating func optional<Value>(_ key: String, _ value: inout Value?, _ type: SettingType<Value>) {
        self.noteKey(key, isSettable: true)
    }

    mutating func file(_ key: String, _ value: inout String, _ purpose: FilePurpose, isRequired: Bool) {
        self.noteKey(key, isSettable: true)
    }

    mutating func optionalFile(_ key: String, _ value: inout String?, _ purpose: FilePurpose) {
        self.noteKey(key, isSettable: true)
    }

    mutating func scalars<Value>(_ key: String, _ values: inout [Value], _ type: SettingType<Value>) {
        self.noteKey(key, isSettable: false)
    }

    mutating func optionalScalars<Value>(
        _ key: String,
        _ values: inout [Value]?,
        _ type: SettingType<Value>,
        mayBeEmpty: Bool
    ) {
        self.noteKey(key, isSettable: false)
    }

    mutating func secrets(_ key: String, _ values: inout [Secret]) {
        let path = (self.sections + [key]).joined(separator: ".")
        self.settable.append(path)
    }

    mutating func json(_ key: String, _ value: inout JSONValue?) {
        self.noteKey(key, isSettable: false)
    }

    mutating func section(_ key: String, _ body: (inout Self) -> Void) {
        self.noteKey(key, isSettable: false)
        self.inside(key, body)
    }

    mutating func optionalSection<Value>(
        _ key: String,
        _ value: inout Value?,
        empty: Value,
        _ body: (inout Value, inout Self) -> Void
    ) {
        var inner = empty
        self.section(key) { body(&inner, &$0) }
    }

    mutating func records<Value>(
        _ key: String,
        _ values: inout [Value],
        empty: Value,
        _ body: (inout Value, inout Self) -> Void
    ) {
        self.noteKey(key, isSettable: false)
        self.lists += 1
        var inner = empty
        self.inside("\(key)[]") { body(&inner, &$0) }
        self.lists -= 1
    }

    mutating func nameOrSection<Value>(
        _ key: String,
        _ name: inout String?,
        _ value: inout Value?,
        empty: Value,
        _ body: (inout Value, inout Self) -> Void
    ) {
        self.optionalSection(key, &value, empty: empty, body)
    }
}
