import APNSWire
import Gateway
import Logging
import WidgetModel

/// Writes each log message as one JSON object a line to standard error.
struct JSONLogHandler: LogHandler {
    var logLevel: Logger.Level
    var metadata: Logger.Metadata = [:]
    private let label: String
    /// Whether systemd's journal reads it.
    private let isForJournal: Bool

    init(label: String, level: Logger.Level, isForJournal: Bool = false) {
        self.label = label
        self.logLevel = level
        self.isForJournal = isForJournal
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { self.metadata[key] }
        set { self.metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        var members: [(String, JSONValue?)] = [
            ("time", .instant(LogClock.wallTime())),
            ("level", .string(event.level.rawValue)),
            ("label", .string(self.label)),
            ("message", .string("\(event.message)")),
        ]
        let metadata = self.metadata.merging(event.metadata ?? [:]) { _, new in new }
        for key in metadata.keys.sorted() { members.append((key, metadata[key].map { .string("\($0)") })) }
        // One write a line, so that lines of several threads do not mix.
        let line = String(decoding: JSONValue.object(of: members).jsonText, as: UTF8.self)
        Output.standardError(self.isForJournal ? SystemJournal.prefix(of: event.level) + line : line)
    }
}
