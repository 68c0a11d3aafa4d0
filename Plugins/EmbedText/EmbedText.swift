import Foundation
import PackagePlugin

/// Makes a Swift constant of `docs/openapi.yaml`, so that the installed program can serve it without a file beside it.
///
/// As a string literal: an array of bytes, which SwiftPM's own embedding makes, takes the compiler a second for 5 KB.
@main struct EmbedText: BuildToolPlugin {
    func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
        let input = context.package.directoryURL.appending(path: "docs/openapi.yaml")
        let output = context.pluginWorkDirectoryURL.appending(path: "OpenAPIText.swift")
        let script = """
            { printf 'enum OpenAPIText {\\n    static let yaml = #\"\"\"\\n'; cat "$1"; printf '\"\"\"#\\n}\\n'; } > "$2"
            """
        return [
            .buildCommand(
                displayName: "Embedding docs/openapi.yaml",
                executable: URL(filePath: "/bin/sh"),
                arguments: ["-c", script, "sh", input.path(), output.path()],
                inputFiles: [input],
                outputFiles: [output]
            )
        ]
    }
}
