import Foundation
import Synchronization

/// A bar on standard error that says how far a long job is; nothing where that is no terminal.
final class ProgressBar: Sendable {
    private let total: Int
    private let isShown: Bool
    private let done = Mutex(0)
    private static let width = 40

    /// - Parameters:
    ///   - total: How many steps there are.
    ///   - isQuiet: Whether nothing is to be shown.
    init(total: Int, isQuiet: Bool) {
        self.total = max(1, total)
        self.isShown = !isQuiet && isatty(STDERR_FILENO) == 1
    }

    /// One more step is done. May be called from any thread.
    func advance() {
        guard self.isShown else { return }
        self.done.withLock { done in
            let before = done * 1000 / self.total
            done += 1
            let now = done * 1000 / self.total
            guard now != before else { return }
            let filled = now * Self.width / 1000
            let bar = String(repeating: "█", count: filled) + String(repeating: "░", count: Self.width - filled)
            Output.standardError("\r  \(bar) \(now / 10) %", terminator: "")
        }
    }

    /// Takes the bar away.
    func finish() {
        guard self.isShown else { return }
        Output.standardError("\r\u{1B}[2K", terminator: "")
    }
}
