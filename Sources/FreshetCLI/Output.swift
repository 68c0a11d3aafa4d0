import Foundation

/// Writing beside the answer, and answers that come bit by bit.
enum Output {
    /// A line of the answer, written at once: `print` gathers what goes to a pipe.
    static func line(_ text: String) {
        FileHandle.standardOutput.write(Data((text + "\n").utf8))
    }

    static func standardError(_ text: String, terminator: String = "\n") {
        FileHandle.standardError.write(Data((text + terminator).utf8))
    }
}
