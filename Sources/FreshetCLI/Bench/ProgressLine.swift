import Foundation

/// One line on standard error that says how far a job is, over and over; nothing where that is no terminal.
final class ProgressLine: Sendable {
    private let isShown: Bool

    init(isQuiet: Bool) {
        self.isShown = !isQuiet && isatty(STDERR_FILENO) == 1
    }

    /// May be called from any thread.
    func show(_ text: String) {
        guard self.isShown else { return }
        Output.standardError("\r\u{1B}[2K  \(text)", terminator: "")
    }

    /// Takes the line away.
    func finish() {
        guard self.isShown else { return }
        Output.standardError("\r\u{1B}[2K", terminator: "")
    }
}
