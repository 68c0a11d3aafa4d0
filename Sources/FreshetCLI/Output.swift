import ArgumentParser
import Foundation

/// Writing beside the answer, answers that come bit by bit, and files, with faults in words for people.
enum Output {
    /// A line of the answer, written at once: `print` buffers its output to a pipe.
    static func line(_ text: String) {
        // Where the reader has gone, as head does, there is nothing more to say.
        do { try FileHandle.standardOutput.write(contentsOf: Data((text + "\n").utf8)) } catch { exit(1) }
    }

    static func standardError(_ text: String, terminator: String = "\n") {
        FileHandle.standardError.write(Data((text + terminator).utf8))
    }

    /// Wrong usage that shows only when a verb runs, told without the usage of all verbs.
    static func wrongUsage(_ text: String) -> ExitCode {
        Self.standardError(text)
        return ExitCode(64)
    }

    /// How far a job is: one line that changes on a terminal; elsewhere the last line alone.
    static func progress(_ text: String, isLast: Bool) {
        if isatty(STDERR_FILENO) == 1 {
            Self.standardError("\r\(text)", terminator: isLast ? "\n" : "")
        } else if isLast {
            Self.standardError(text)
        }
    }

    /// The bytes of a file; - for standard input.
    ///
    /// - Throws: Exit code 1, if it cannot be read.
    static func read(_ file: String) throws(ExitCode) -> Data {
        if file == "-" {
            if let data = try? FileHandle.standardInput.readToEnd() { return data }
        } else if let data = try? Data(contentsOf: URL(filePath: file)) {
            return data
        }
        Self.standardError("\(file) cannot be read; check that it exists, and its owner and mode")
        throw ExitCode(1)
    }

    /// Makes a file; a secret one for its user alone.
    ///
    /// - Throws: Exit code 1, if it cannot be made.
    static func make(_ text: String, at path: String, isSecret: Bool) throws {
        let attributes: [FileAttributeKey: Any] = [.posixPermissions: isSecret ? 0o600 : 0o644]
        // The permissions stand before the secret does.
        guard FileManager.default.createFile(atPath: path, contents: Data(), attributes: attributes) else {
            Self.standardError("\(path) cannot be made; check that you may write to its folder")
            throw ExitCode.failure
        }
        try Data(text.utf8).write(to: URL(filePath: path))
        try FileManager.default.setAttributes(attributes, ofItemAtPath: path)
    }

    /// Writes a file whole; - for standard output.
    ///
    /// - Throws: Exit code 1, if it cannot be written.
    static func write(_ data: Data, to file: String) throws(ExitCode) {
        guard file != "-" else { return FileHandle.standardOutput.write(data) }
        do {
            try data.write(to: URL(filePath: file))
        } catch {
            Self.standardError("\(file) cannot be written; check that its folder exists, and that you may write to it")
            throw ExitCode(1)
        }
    }
}
