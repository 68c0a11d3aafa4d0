import Foundation

/// The result of a command of the machine's `openssl` program.
struct Verdict {
    let status: Int32
    /// Standard output.
    let output: String
    /// Standard error.
    let complaint: String
}

/// Runs the `openssl` program, the tests' judge from outside.
func openssl(_ arguments: [String], input: String = "") throws -> Verdict {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = ["openssl"] + arguments
    let (input_, output, complaint) = (Pipe(), Pipe(), Pipe())
    process.standardInput = input_
    process.standardOutput = output
    process.standardError = complaint
    try process.run()
    // All of it fits in a pipe's buffer, so nothing waits for anything here.
    try input_.fileHandleForWriting.write(contentsOf: Data(input.utf8))
    try input_.fileHandleForWriting.close()
    let said = try output.fileHandleForReading.readToEnd() ?? Data()
    let complained = try complaint.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    return Verdict(
        status: process.terminationStatus,
        output: String(decoding: said, as: UTF8.self),
        complaint: String(decoding: complained, as: UTF8.self)
    )
}

/// A directory that is gone when the test is over.
final class Scratch {
    private let folder: URL

    init() throws {
        self.folder = FileManager.default.temporaryDirectory.appendingPathComponent("freshet-tls-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: self.folder, withIntermediateDirectories: false)
    }

    deinit {
        // Nothing can be done about a directory that will not go.
        try? FileManager.default.removeItem(at: self.folder)
    }

    /// Writes a file and returns its path.
    func write(_ name: String, _ bytes: [UInt8]) throws -> String {
        let file = self.folder.appendingPathComponent(name)
        try Data(bytes).write(to: file)
        return file.path
    }
}

func hex(_ text: String) -> [UInt8] {
    let digits = Array(text.utf8).map { UInt8(String(UnicodeScalar($0)), radix: 16) ?? 0 }
    return stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
}

func pem(_ label: String, _ bytes: [UInt8]) -> String {
    let text = Data(bytes).base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
    return "-----BEGIN \(label)-----\n\(text)\n-----END \(label)-----\n"
}

extension String {
    var trimmed: String { self.trimmingCharacters(in: .whitespacesAndNewlines) }
}
