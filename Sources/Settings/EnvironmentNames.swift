/// The names of environment variables that set single values of the configuration.
///
/// `FRESHET_`, then the key path in capitals with an underscore for every dot and before every capital:
/// `listeners.push.port` is `FRESHET_LISTENERS_PUSH_PORT`, `dataDirectory` is `FRESHET_DATA_DIRECTORY`.
package enum EnvironmentNames {
    package static let prefix = "FRESHET_"

    /// Variables with the prefix that are not keys of the configuration: the program's own, those by which its verbs find a
    /// gateway, and the tests'.
    package static let others = [
        "FRESHET_CONFIG", "FRESHET_SEED", "FRESHET_CONTEXT", "FRESHET_CONTEXTS", "FRESHET_SERVER",
        "FRESHET_PUSH_SERVER", "FRESHET_HOST_SERVER", "FRESHET_CA", "FRESHET_SERVER_NAME", "FRESHET_CERT",
        "FRESHET_CERT_KEY",
        "FRESHET_TOKEN_FILE", "FRESHET_OPERATOR_TOKEN", "FRESHET_KEY", "FRESHET_KID", "FRESHET_TEAM",
        "FRESHET_PROVIDER_TOKEN",
    ]

    /// The variable for a key path.
    package static func name(of path: String) -> String {
        var name = Self.prefix
        var previous: Character = "."
        for character in path {
            if character == "." {
                name += "_"
            } else {
                // clientCA is CLIENT_CA: a capital after a capital begins no word.
                if character.isUppercase, previous.isLowercase || previous.isNumber { name += "_" }
                name += character.uppercased()
            }
            previous = character
        }
        return name
    }

    /// The overrides in an environment, and the faults of variables that set nothing.
    static func overrides(
        in environment: [String: String]
    ) -> (overrides: [String: SettingsOverrides.Override], faults: [SettingFault]) {
        let paths = SettingsKeyList.all.settable
        let names = paths.map { Self.name(of: $0) }
        var overrides: [String: SettingsOverrides.Override] = [:]
        for (path, name) in zip(paths, names) {
            guard let text = environment[name] else { continue }
            overrides[path] = SettingsOverrides.Override(place: .environment(name), text: text)
        }
        let known = Set(names)
        let strays = environment.keys.filter { $0.hasPrefix(Self.prefix) && !known.contains($0) && !Self.isForeign($0) }
        let faults = strays.sorted().map { name in
            let hint = names.closest(to: name).map { "did you mean \($0)?" } ?? "unset it"
            return SettingFault(
                place: .environment(name),
                path: "",
                sentence: "this variable sets no key; \(hint)"
            )
        }
        return (overrides, faults)
    }

    /// Whether another program sets the variable: Kubernetes makes `FRESHET_PORT…` and `FRESHET_SERVICE_…` for a
    /// service that is called freshet, and tests may have their own.
    private static func isForeign(_ name: String) -> Bool {
        Self.others.contains(name)
            || ["FRESHET_PORT", "FRESHET_SERVICE_", "FRESHET_TEST_"].contains { name.hasPrefix($0) }
    }
}
