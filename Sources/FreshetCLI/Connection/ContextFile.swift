import APNSWire
import Foundation
import Scenarios
import WidgetModel

/// The file of contexts: the names of gateways, and how to talk to each.
struct ContextFile: Hashable, Sendable {
    /// One gateway.
    struct Context: Hashable, Sendable {
        let name: String
        var values: [GatewaySetting: String] = [:]
    }

    /// Why it cannot be used, with the remedy.
    struct ReadError: Error, Hashable, CustomStringConvertible {
        let description: String
    }

    /// The context that counts where none is named.
    var current: String?
    /// In the order of the file.
    var contexts: [Context] = []

    /// Names the file, and a context of it.
    static let pathVariable = "FRESHET_CONTEXTS"
    static let nameVariable = "FRESHET_CONTEXT"

    /// Where the file is.
    static func path(_ environment: [String: String]) -> String {
        if let path = environment[Self.pathVariable], !path.isEmpty { return path }
        let folder =
            environment["XDG_CONFIG_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil }
            ?? "\(environment["HOME"] ?? NSHomeDirectory())/.config"
        return "\(folder)/freshet/contexts.yaml"
    }

    /// The context of a name.
    ///
    /// - Throws: If there is none; the names of those that there are.
    func context(_ name: String, _ path: String) throws(ReadError) -> Context {
        if let found = self.contexts.first(where: { $0.name == name }) { return found }
        let names = self.contexts.map(\.name).joined(separator: ", ")
        throw ReadError(
            description:
                "\(path) has no context \(name); \(names.isEmpty ? "freshet context set makes one" : "it has \(names)")"
        )
    }

    // MARK: Reading

    /// The file's contexts; none where there is no file.
    ///
    /// - Throws: If it cannot be read, is none, or others than its user may read or write it: it names the gateways that tokens are shown
    ///   to, and may hold some.
    static func read(_ path: String) throws(ReadError) -> ContextFile {
        let target = URL(filePath: path).resolvingSymlinksInPath().path
        guard let attributes = try? FileManager.default.attributesOfItem(atPath: target) else { return ContextFile() }
        guard let mode = (attributes[.posixPermissions] as? NSNumber)?.intValue, mode & 0o077 == 0 else {
            throw ReadError(
                description:
                    "other users can read or write \(path), which names the servers that get tokens; run chmod 600 \(path)"
            )
        }
        guard let text = try? String(contentsOfFile: path, encoding: .utf8) else {
            throw ReadError(description: "\(path) cannot be read; check its owner and mode")
        }
        return try Self.parse(text, path)
    }

    /// Reads the text of a file of contexts.
    static func parse(_ text: String, _ path: String) throws(ReadError) -> ContextFile {
        // A file without content is no mistake.
        guard text.split(whereSeparator: \.isNewline).contains(where: { !$0.hasPrefix("#") }) else {
            return ContextFile()
        }
        var reader = ScenarioText(file: path)
        var file = ContextFile()
        if let root = reader.root(text, keys: ["current", "contexts"]) {
            let current = reader.value("current", in: root, "a name", else: "") { $0 }
            file.current = current.isEmpty ? nil : current
            let keys = ["name"] + GatewaySetting.ofContexts.map(\.rawValue)
            for section in reader.sections("contexts", in: root, keys: keys) {
                reader.need("name", in: section)
                let name = reader.value("name", in: section, "a name", else: "") { $0.isEmpty ? nil : $0 }
                if file.contexts.contains(where: { $0.name == name }) {
                    reader.fault(section, "name", "is also the name of another context")
                }
                var context = Context(name: name)
                for setting in GatewaySetting.ofContexts where section.has(setting.rawValue) {
                    let value = reader.value(setting.rawValue, in: section, "text", else: "") { $0.isEmpty ? nil : $0 }
                    context.values[setting] = setting.isPath ? Self.absolute(value, besides: path) : value
                }
                file.contexts.append(context)
            }
        }
        guard reader.faults.isEmpty else { throw ReadError(description: "\(ScenarioError(reader.faults))") }
        return file
    }

    /// A path in the file is as seen from its folder.
    private static func absolute(_ value: String, besides path: String) -> String {
        value.hasPrefix("/") ? value : URL(filePath: path).deletingLastPathComponent().appending(path: value).path
    }

    // MARK: Writing

    /// The file's text. Values are JSON's strings, which are YAML's, too.
    var text: String {
        func quoted(_ text: String) -> String { String(decoding: JSONValue.string(text).jsonText, as: UTF8.self) }
        var lines = ["# Written by freshet context. The next change removes comments that you add."]
        if let current { lines.append("current: \(quoted(current))") }
        lines.append(self.contexts.isEmpty ? "contexts: []" : "contexts:")
        for context in self.contexts {
            lines.append("  - name: \(quoted(context.name))")
            for setting in GatewaySetting.ofContexts {
                guard let value = context.values[setting] else { continue }
                lines.append("    \(setting.rawValue): \(quoted(value))")
            }
        }
        return lines.joined(separator: "\n") + "\n"
    }

    /// Writes the file whole before it has its name, for its user alone.
    func write(_ path: String) throws(ReadError) {
        let files = FileManager.default
        let folder = URL(filePath: path).deletingLastPathComponent().path
        let draft = path + ".new"
        do {
            if !files.fileExists(atPath: folder) {
                let attributes: [FileAttributeKey: Any] = [.posixPermissions: 0o700]
                try files.createDirectory(atPath: folder, withIntermediateDirectories: true, attributes: attributes)
            }
            try? files.removeItem(atPath: draft)
            let isMade = files.createFile(
                atPath: draft,
                contents: Data(self.text.utf8),
                attributes: [.posixPermissions: 0o600]
            )
            guard isMade else { throw CocoaError(.fileWriteNoPermission) }
            try? files.removeItem(atPath: path)
            try files.moveItem(atPath: draft, toPath: path)
        } catch {
            throw ReadError(description: "\(path) cannot be written; check that this user may write to \(folder)")
        }
    }
}
