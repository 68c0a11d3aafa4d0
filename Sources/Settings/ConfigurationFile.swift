package import Timelines
package import WidgetModel

/// The configuration as people write it: one YAML file, then environment variables, then command-line options.
///
/// Unknown keys are faults, and all faults are found in one run. ``parse(_:name:environment:options:folders:)`` is pure;
/// ``read(path:environment:options:)`` reads files.
package enum ConfigurationFile {
    /// The folders that relative names of files start from.
    package struct Folders: Hashable, Sendable {
        /// For names in the configuration file: the folder it is in. Empty leaves them relative.
        package var file = ""
        /// For names in environment variables and options: the process's working directory.
        package var process = ""

        package init(file: String = "", process: String = "") {
            self.file = file
            self.process = process
        }
    }

    /// A configuration, and the files that it names.
    package struct Parsed: Hashable, Sendable {
        /// File names are absolute if the folders were.
        package let configuration: GatewayConfiguration
        package let files: [NamedFile]
    }

    /// A file that a configuration names.
    package struct NamedFile: Hashable, Sendable {
        package let path: String
        package let purpose: FilePurpose
        /// The key that names it.
        package let key: String
        package let place: SettingFault.Place
        /// Whether the gateway can do without it: the listeners that would use it are off.
        package let isNeeded: Bool
    }

    /// Reads a configuration. Pure: no file is opened.
    ///
    /// - Parameters:
    ///   - text: The file's text.
    ///   - name: The file's name in faults.
    ///   - environment: The process's environment; variables that do not start with `FRESHET_` are ignored.
    ///   - options: Values by key path, as in `listeners.push.port` and `0`; they have the last word.
    ///   - folders: The folders that relative names of files start from.
    ///   - policies: The policies of the files in `policyFiles`.
    package static func parse(
        _ text: String,
        name: String = "freshet.yaml",
        environment: [String: String] = [:],
        options: [(path: String, text: String)] = [],
        folders: Folders = Folders(),
        policies: [BudgetPolicy] = []
    ) throws(SettingsError) -> Parsed {
        var configuration = GatewayConfiguration()
        configuration.filePolicies = policies
        var yaml = ConfigurationText(text, name: name)
        var reader = SettingsReader(name: name)
        if let root = yaml.compose() { reader.read(root, into: &configuration) }
        var faults = yaml.faults + reader.faults
        var places = reader.places

        let variables = EnvironmentNames.overrides(in: environment)
        faults += variables.faults
        var environmentReader = SettingsOverrides(variables.overrides, allowsSecrets: true)
        configuration.visit(&environmentReader)
        var overrides: [String: SettingsOverrides.Override] = [:]
        for option in options {
            let place = SettingFault.Place.option("--set \(option.path)")
            overrides[option.path] = SettingsOverrides.Override(place: place, text: option.text)
            if !SettingsKeyList.all.settable.contains(option.path) {
                let hint = SettingsKeyList.all.settable.closest(to: option.path).map { "; did you mean \($0)?" } ?? ""
                let sentence = "there is no such key that an option can set\(hint)"
                faults.append(SettingFault(place: place, path: option.path, sentence: sentence))
            }
        }
        var optionReader = SettingsOverrides(overrides, allowsSecrets: false)
        configuration.visit(&optionReader)
        faults += environmentReader.faults + optionReader.faults
        places.merge(environmentReader.places) { $1 }
        places.merge(optionReader.places) { $1 }

        faults += configuration.faults().map { path, sentence in
            SettingFault(place: places.place(nearest: path), path: path, sentence: sentence)
        }
        var files = FileNameResolver(places: places, folders: folders)
        configuration.visit(&files)
        guard faults.isEmpty else { throw SettingsError(faults) }
        return Parsed(configuration: configuration, files: files.files.map { $0.unneeded(in: configuration) })
    }

    /// The configuration as YAML: every key with its value, secrets left out. Reading it back gives the same.
    package static func text(of configuration: GatewayConfiguration) -> String {
        self.json(of: configuration).yamlText
    }

    /// The configuration as a JSON object, for programs. Secrets are left out.
    package static func json(of configuration: GatewayConfiguration) -> JSONValue {
        var printer = SettingsPrinter()
        var configuration = configuration
        configuration.visit(&printer)
        return printer.object
    }

    /// One entry of a list, as YAML or JSON, as `freshet config put` sends it.
    package static func entry(_ text: String, name: String) throws(SettingsError) -> JSONValue {
        var yaml = ConfigurationText(text, name: name)
        guard let root = yaml.compose(), yaml.faults.isEmpty else {
            let empty = SettingFault(place: .wholeFile(name), path: "", sentence: "is empty; give an entry")
            throw SettingsError(yaml.faults.isEmpty ? [empty] : yaml.faults)
        }
        return root.jsonValue
    }

    /// The defaults as YAML. `deploy/freshet.example.yaml` is the same with explanations.
    package static var defaultText: String { self.text(of: GatewayConfiguration()) }

    /// A JSON Schema of the file, for editors.
    package static var schema: JSONValue {
        var visitor = SettingsSchema()
        var configuration = GatewayConfiguration()
        configuration.visit(&visitor)
        return JSONSchema.file(visitor.schema, title: "Freshet's configuration")
    }

    /// The paths of all keys, those of list elements with `[]`.
    package static var keyPaths: [String] { SettingsKeyList.all.paths }
}

extension ConfigurationFile.NamedFile {
    /// Certificates of a listener that is off are not looked for.
    fileprivate func unneeded(in configuration: GatewayConfiguration) -> Self {
        let listeners = configuration.listeners.opened
        let withTLS = [
            ("push", listeners.push), ("manage", listeners.manage), ("host", listeners.host), ("ops", listeners.ops),
        ]
        let isNeeded: Bool
        if self.key.hasPrefix("tls.") {
            isNeeded = withTLS.contains { $0.1.isEnabled && $0.1.tls == nil }
        } else if let listener = withTLS.first(where: { self.key.hasPrefix("listeners.\($0.0).") })?.1 {
            isNeeded = listener.isEnabled
        } else {
            isNeeded = true
        }
        return Self(path: self.path, purpose: self.purpose, key: self.key, place: self.place, isNeeded: isNeeded)
    }
}
