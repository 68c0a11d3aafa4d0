import Foundation
import PackagePlugin

/// Makes Swift constants of text files, so that the installed program can serve them without a file beside it: of the
/// files in its `Page` folder for a target that has one, else of the target's one file.
///
/// As string literals: arrays of bytes, which SwiftPM's own embedding makes, take the compiler a second for 5 KB. The
/// constant of `main.js` is `EmbeddedText.main_js`.
@main struct EmbedText: BuildToolPlugin {
    private static let script = """
        out="$1"; shift
        {
            printf 'enum EmbeddedText {\\n'
            for file; do
                printf '    static let %s = #\"\"\"\\n' "$(basename "$file" | tr '.-' '__')"
                cat "$file"
                printf '\\n\"\"\"#\\n'
            done
            printf '}\\n'
        } > "$out"
        """

    /// The file that a target without a page embeds, by its name.
    private static let files = ["OperatorAPI": "docs/openapi.yaml", "Settings": "deploy/freshet.example.yaml"]

    func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
        let page = target.directoryURL.appending(path: "Page")
        var inputs = [Self.files[target.name]].compactMap {
            $0.map { context.package.directoryURL.appending(path: $0) }
        }
        if FileManager.default.fileExists(atPath: page.path()) {
            inputs = try FileManager.default.contentsOfDirectory(at: page, includingPropertiesForKeys: nil)
                .sorted { $0.path() < $1.path() }
        }
        let output = context.pluginWorkDirectoryURL.appending(path: "EmbeddedText.swift")
        return [
            .buildCommand(
                displayName: "Embedding \(inputs.map(\.lastPathComponent).joined(separator: ", "))",
                executable: URL(filePath: "/bin/sh"),
                arguments: ["-c", Self.script, "sh", output.path()] + inputs.map { $0.path() },
                inputFiles: inputs,
                outputFiles: [output]
            )
        ]
    }
}
