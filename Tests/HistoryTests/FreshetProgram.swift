import Foundation

/// The program that was built beside the tests, run to its end.
enum FreshetProgram {
    struct Result {
        let status: Int32
        let output: String
        let errors: String

        var json: [String: Any] {
            (try? JSONSerialization.jsonObject(with: Data(self.output.utf8))) as? [String: Any] ?? [:]
        }
    }

    static func run(_ arguments: [String]) throws -> Result {
        let program = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let process = Process()
        process.executableURL = URL(filePath: program).deletingLastPathComponent().appending(path: "freshet")
        process.arguments = arguments
        // Files, since two pipes would have to be read at once.
        let folder = FileManager.default.temporaryDirectory.appending(path: "freshet-run-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let files = try ["output", "errors"].map { name in
            let url = folder.appending(path: name)
            try Data().write(to: url)
            return (url, try FileHandle(forWritingTo: url))
        }
        process.standardOutput = files[0].1
        process.standardError = files[1].1
        try process.run()
        process.waitUntilExit()
        let texts = try files.map { String(decoding: try Data(contentsOf: $0.0), as: UTF8.self) }
        return Result(status: process.terminationStatus, output: texts[0], errors: texts[1])
    }
}
