import APNSWire
import Gateway
import Logging
import WidgetModel

/// Writes each log message as one JSON object a line to standard error.
struct JSONLogHandler: LogHandler {
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
        var members: [(String, JSONValue?)] = [
            ("time", .instant(LogClock.wallTime())),
            ("level", .string(event.level.rawValue)),
            ("label", .string(self.label)),
            ("message", .string("\(event.message)")),
        ]
        let metadata = self.metadata.merging(event.metadata ?? [:]) { _, new in new }
        for key in metadata.keys.sorted() { members.append((key, metadata[key].map { .string("\($0)") })) }
        // One write a line, so that lines of several threads do not mix.
        Output.standardError(String(decoding: JSONValue.object(of: members).jsonText, as: UTF8.self))
    }
}
