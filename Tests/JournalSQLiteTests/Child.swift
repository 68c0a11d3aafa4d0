import Foundation

/// A `JournalCrasher` process; its file stands beside the test program.
final class Child {
    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()
    private var unread: [UInt8] = []

    init(_ verb: String, _ directory: String) throws {
        let program = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        self.process.executableURL = URL(fileURLWithPath: program).deletingLastPathComponent()
            .appendingPathComponent("JournalCrasher")
        self.process.arguments = [verb, directory]
        self.process.standardInput = self.input
        self.process.standardOutput = self.output
        try self.process.run()
    }

    var processIdentifier: Int32 { self.process.processIdentifier }

    /// The next line it prints, without its end; nil after the last one.
    func line() -> String? {
        while true {
            if let end = self.unread.firstIndex(of: 0x0A) {
                defer { self.unread.removeFirst(end + 1) }
                return String(decoding: self.unread[..<end], as: UTF8.self)
            }
            let bytes = self.output.fileHandleForReading.availableData
            if bytes.isEmpty { return nil }
            self.unread.append(contentsOf: bytes)
        }
    }

    func endInput() { try? self.input.fileHandleForWriting.close() }

    /// kill -9.
    func kill() { Foundation.kill(self.process.processIdentifier, SIGKILL) }

    func waitForEnd() { self.process.waitUntilExit() }
}
