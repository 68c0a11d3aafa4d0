import APNSWire
import Logging
import Partitions
import WidgetModel

/// Writes each log message as one line to standard error.
struct LineLogHandler: LogHandler {
    enum Format: Sendable {
        /// One JSON object.
        case json
        /// Words, for systemd's journal: it knows the time and the process itself.
        case words
    }

    var logLevel: Logger.Level
    var metadata: Logger.Metadata = [:]
    private let label: String
    private let format: Format
    /// Whether systemd's journal reads it, which is told the level.
    private let isForJournal: Bool

    init(label: String, level: Logger.Level, _ format: Format, isForJournal: Bool) {
        self.label = label
        self.logLevel = level
        self.format = format
        self.isForJournal = isForJournal
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { self.metadata[key] }
        set { self.metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let metadata = self.metadata.merging(event.metadata ?? [:]) { _, new in new }.sorted { $0.key < $1.key }
        let line =
            switch self.format {
            case .json: self.json(event, metadata)
            case .words: self.words(event, metadata)
            }
        // One write a line, so that lines of several threads do not mix.
        Output.standardError(self.isForJournal ? SystemJournal.prefix(of: event.level) + line : line)
    }

    private func json(_ event: LogEvent, _ metadata: [(key: String, value: Logger.Metadata.Value)]) -> String {
        let members: [(String, JSONValue?)] = [
            ("time", .instant(LogClock.wallTime())),
            ("level", .string(event.level.rawValue)),
            ("label", .string(self.label)),
            ("message", .string("\(event.message)")),
        ]
        let all = members + metadata.map { ($0.key, .string("\($0.value)")) }
        return String(decoding: JSONValue.object(of: all).jsonText, as: UTF8.self)
    }

    private func words(_ event: LogEvent, _ metadata: [(key: String, value: Logger.Metadata.Value)]) -> String {
        let pairs = metadata.map { " \($0.key)=\($0.value)" }.joined()
        // A line is a message of the journal's.
        return "\(self.label): \(event.message)\(pairs)".replacing("\n", with: " ")
    }
}
