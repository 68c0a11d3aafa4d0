import Foundation
import Logging

/// What systemd's journal reads of the lines that a service writes (sd-daemon(3)).
enum SystemJournal {
    /// What a line begins with to have its level, so that `journalctl -p err` finds errors.
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

/// Writes each log message as a line that systemd's journal takes apart: it knows the time and the process itself.
struct SystemJournalLogHandler: LogHandler {
    var logLevel: Logger.Level
    var metadata: Logger.Metadata = [:]
    private let label: String

    init(label: String, level: Logger.Level) {
        self.label = label
        self.logLevel = level
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { self.metadata[key] }
        set { self.metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        Output.standardError(Self.line(event.level, self.label, "\(event.message)", self.metadata, event.metadata))
    }

    static func line(
        _ level: Logger.Level,
        _ label: String,
        _ message: String,
        _ metadata: Logger.Metadata,
        _ own: Logger.Metadata?
    ) -> String {
        let all = metadata.merging(own ?? [:]) { _, new in new }
        let pairs = all.keys.sorted().map { " \($0)=\(all[$0] ?? "")" }.joined()
        // A line is a message of the journal's.
        let text = "\(label): \(message)\(pairs)".replacing("\n", with: " ")
        return SystemJournal.prefix(of: level) + text
    }
}
