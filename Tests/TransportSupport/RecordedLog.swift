package import Logging
import Synchronization

/// A log, line by line: `warning <message> <name>=<value> …`, the members in alphabetical order.
package final class RecordedLog: Sendable {
    private let written = Mutex<[String]>([])

    package init() {}

    package var lines: [String] { self.written.withLock { $0 } }

    package var logger: Logger { Logger(label: "test") { _ in Handler(log: self) } }

    private struct Handler: LogHandler {
        let log: RecordedLog
        var logLevel = Logger.Level.trace
        var metadata: Logger.Metadata = [:]

        init(log: RecordedLog) { self.log = log }

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { self.metadata[key] }
            set { self.metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let details = (event.metadata ?? [:]).map { " \($0.key)=\($0.value)" }.sorted().joined()
            self.log.written.withLock { $0.append("\(event.level) \(event.message)\(details)") }
        }
    }
}
