import WidgetModel

/// Makes the names of files absolute, and notes the purpose of each.
struct FileNameResolver: SettingsVisitor {
    private(set) var files: [ConfigurationFile.NamedFile] = []
    private let places: [String: SettingFault.Place]
    private let folders: ConfigurationFile.Folders
    private var sections: [String] = []

    init(places: [String: SettingFault.Place], folders: ConfigurationFile.Folders) {
        self.places = places
        self.folders = folders
    }

    mutating func file(_ key: String, _ value: inout String, _ purpose: FilePurpose, isRequired: Bool) {
        let path = (self.sections + [key]).joined(separator: ".")
        let place = self.places[path] ?? .nowhere
        let folder: String
        switch place {
        case .environment, .option: folder = self.folders.process
        // A default is relative to the same folder as if it had been written down.
        case .file, .wholeFile, .amendment, .nowhere: folder = self.folders.file
        }
        value = Self.resolve(value, in: folder)
        self.files.append(
            ConfigurationFile.NamedFile(path: value, purpose: purpose, key: path, place: place, isNeeded: true)
        )
    }

    mutating func optionalFile(_ key: String, _ value: inout String?, _ purpose: FilePurpose) {
        guard var name = value else { return }
        self.file(key, &name, purpose, isRequired: false)
        value = name
    }

    /// An absolute name as it is, a relative one behind the folder.
    static func resolve(_ name: String, in folder: String) -> String {
        if name.hasPrefix("/") || folder.isEmpty { return name }
        return folder.hasSuffix("/") ? folder + name : "\(folder)/\(name)"
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
        guard var inner = value else { return }
        self.section(key) { body(&inner, &$0) }
        value = inner
    }

    mutating func records<Value>(
        _ key: String,
        _ values: inout [Value],
        empty: Value,
        _ body: (inout Value, inout Self) -> Void
    ) {
        for index in values.indices {
            self.section("\(key)[\(index)]") { body(&values[index], &$0) }
        }
    }

    // Values that name no file.
    mutating func scalar<Value>(_ key: String, _ value: inout Value, _ type: SettingType<Value>, isRequired: Bool) {}
    mutating func optional<Value>(_ key: String, _ value: inout Value?, _ type: SettingType<Value>) {}
    mutating func scalars<Value>(_ key: String, _ values: inout [Value], _ type: SettingType<Value>) {}
    mutating func optionalScalars<Value>(
        _ key: String,
        _ values: inout [Value]?,
        _ type: SettingType<Value>,
        mayBeEmpty: Bool
    ) {}
    mutating func secrets(_ key: String, _ values: inout [Secret]) {}
    mutating func json(_ key: String, _ value: inout JSONValue?) {}
    mutating func nameOrSection<Value>(
        _ key: String,
        _ name: inout String?,
        _ value: inout Value?,
        empty: Value,
        _ body: (inout Value, inout Self) -> Void
    ) {}
}
