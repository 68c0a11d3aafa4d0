package import HTTPTransport
package import Logging
import Synchronization
package import WidgetModel

/// Who changed what: every request of operators that is not a question, in the log and, the last ones, in memory.
package final class OperatorAudit: Sendable {
    /// One request.
    package struct Entry: Hashable, Sendable {
        package let at: Instant
        package let request: String
        /// The name of the token, of the certificate's subject, or `anybody`.
        package let caller: String
        package let remoteAddress: String
        package let method: String
        package let path: String
        /// What was sent, as far as it is shown: orders hold no secrets.
        package let body: String
        package let status: Int
    }

    /// How many are kept in memory.
    private static let entriesMax = 1000
    /// How much of a body is kept.
    private static let bodyBytesMax = 1024

    private let entries = Mutex<[Entry]>([])
    private let logger: Logger
    private let clock: LogClock
    private let feed: OperatorFeed

    package init(clock: LogClock, feed: OperatorFeed, logger: Logger) {
        self.clock = clock
        self.feed = feed
        self.logger = logger
    }

    /// The last ones, the newest first.
    package var last: [Entry] { self.entries.withLock { $0 }.reversed() }

    /// Notes a request, whatever came of it.
    package func note(_ request: HTTPRequest, id: String, caller: String, status: Int) {
        let entry = Entry(
            at: self.clock.now(),
            request: id,
            caller: caller,
            remoteAddress: request.remoteAddress,
            method: request.method,
            path: "/" + request.path.joined(separator: "/"),
            body: String(decoding: request.body.prefix(Self.bodyBytesMax), as: UTF8.self),
            status: status
        )
        self.entries.withLock { entries in
            if entries.count >= Self.entriesMax { entries.removeFirst(entries.count - Self.entriesMax + 1) }
            entries.append(entry)
        }
        self.feed.publish(.note(.order, Views.audit(entry)))
        self.logger.notice(
            "an operator's request",
            metadata: [
                "request": "\(entry.request)", "caller": "\(entry.caller)", "peer": "\(entry.remoteAddress)",
                "method": "\(entry.method)", "path": "\(entry.path)", "body": "\(entry.body)",
                "status": "\(entry.status)",
            ]
        )
    }
}

extension Views {
    static func audit(_ entry: OperatorAudit.Entry) -> JSONValue {
        JSONValue.object(of: [
            ("at", .instant(entry.at)),
            ("request", .string(entry.request)),
            ("caller", .string(entry.caller)),
            ("remoteAddress", .string(entry.remoteAddress)),
            ("method", .string(entry.method)),
            ("path", .string(entry.path)),
            ("body", .string(entry.body)),
            ("status", .count(entry.status)),
        ])
    }
}
