package import Timelines

/// A file with one budget policy: the keys of an element of `policies`, with the place where its numbers are from and the day on
/// which they were read there. The presets are such files, under `deploy/policies`.
package enum PolicyFile {
    /// The longest file.
    package static let bytesMax = 65_536

    /// Reads a policy. Pure: no file is opened.
    ///
    /// - Parameters:
    ///   - text: The file's text.
    ///   - name: The file's name in faults.
    package static func parse(_ text: String, name: String) throws(SettingsError) -> BudgetPolicy {
        try self.parse(text, name: name, isAlone: true)
    }

    /// Reads a policy that stands in another file, as a kind's `budget` does: it need not say its name, nor where its numbers
    /// are from. The paths of faults begin in it.
    package static func parse(section text: String) throws(SettingsError) -> BudgetPolicy {
        try self.parse(text, name: "", isAlone: false)
    }

    private static func parse(
        _ text: String,
        name: String,
        isAlone: Bool
    ) throws(SettingsError) -> BudgetPolicy {
        var draft = PolicyDraft()
        var yaml = ConfigurationText(text, name: name)
        var reader = SettingsReader(name: name)
        guard let root = yaml.compose() else {
            let sentence = "is empty; give at least a name, a source and a date"
            let fault = SettingFault(place: .wholeFile(name), path: "", sentence: sentence)
            throw SettingsError(yaml.faults.isEmpty ? [fault] : yaml.faults)
        }
        reader.read(root) { draft.visit(&$0, isNamed: isAlone, isSourced: isAlone) }
        let faults = yaml.faults + reader.faults
        guard faults.isEmpty else { throw SettingsError(faults) }
        return draft.policy
    }
}
