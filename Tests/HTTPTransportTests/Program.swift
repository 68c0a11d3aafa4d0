import Foundation

/// Another program, run to its end.
enum Program {
    struct Result {
        var status: Int32
        /// Standard output and standard error.
        var output: String
    }

    /// Runs a program found by `PATH`, with a bound on its time.
    static func run(_ arguments: [String]) async throws -> Result {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["timeout", "600"] + arguments
        let pipe = Pipe()
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = pipe
        process.standardError = pipe
        try process.run()
        // A thread of its own: waiting for the end of output blocks.
        let output = await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(returning: (try? pipe.fileHandleForReading.readToEnd()) ?? Data())
            }
        }
        process.waitUntilExit()
        return Result(status: process.terminationStatus, output: String(decoding: output, as: UTF8.self))
    }
}
