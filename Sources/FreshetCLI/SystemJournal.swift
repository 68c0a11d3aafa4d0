import Foundation
import Logging

/// The prefixes that systemd's journal reads of a service's lines (sd-daemon(3)).
enum SystemJournal {
    /// The beginning of a line of that level, so that `journalctl -p err` finds errors.
    static func prefix(of level: Logger.Level) -> String {
        switch level {
        case .trace, .debug: "<7>"
        case .info: "<6>"
        case .notice: "<5>"
        case .warning: "<4>"
        case .error: "<3>"
        case .critical: "<2>"
        }
    }

    /// Whether a stream goes to the journal.
    ///
    /// - Parameters:
    ///   - environment: `JOURNAL_STREAM` in it says which stream does, by device and inode (systemd.exec(5)).
    ///   - descriptor: Of the stream.
    static func takes(_ descriptor: Int32, _ environment: [String: String]) -> Bool {
        guard let inode = environment["JOURNAL_STREAM"]?.split(separator: ":").last,
            let stream = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(descriptor)")
        else { return false }
        // As in `socket:[4711]`.
        return stream.hasSuffix(":[\(inode)]")
    }
}
