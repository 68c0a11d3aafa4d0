package import HTTPTransport
package import Journaling
package import Logging
import NIOPosix
import Synchronization
package import WidgetModel

/// Who changed what: every request of operators that is not a question, in the log and, the last ones, in an archive that
/// outlives the process.
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

    private struct State {
        var entries: [Entry] = []
        /// Of the newest record in the archive.
        var number: UInt64 = 0
    }

    private let state: Mutex<State>
    private let archive: any RecordArchive
    private let logger: Logger
    private let clock: LogClock
    private let feed: OperatorFeed

    /// - Parameter archive: Where the last requests are kept; those in it are read now. Blocks.
    package init(
        clock: LogClock,
        feed: OperatorFeed,
        logger: Logger,
        archive: any RecordArchive = MemoryArchive()
    ) {
        var state = State()
        do throws(JournalError) {
            try archive.readAll { record in
                state.number = record.number
                if let entry = Entry(record.bytes) { state.entries.append(entry) }
            }
        } catch {
            logger.error("the audit log cannot be read", metadata: ["error": "\(error)"])
        }
        state.entries = Array(state.entries.suffix(Self.entriesMax))
        self.state = Mutex(state)
        self.archive = archive
        self.clock = clock
        self.feed = feed
        self.logger = logger
    }

    /// The last ones, the newest first.
    package var last: [Entry] { self.state.withLock { $0.entries }.reversed() }

    /// Notes a request, whatever came of it; once this returns, it is in the archive.
    package func note(_ request: HTTPRequest, id: String, caller: String, status: Int) async {
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
        let number = self.state.withLock { state in
            if state.entries.count >= Self.entriesMax {
                state.entries.removeFirst(state.entries.count - Self.entriesMax + 1)
            }
            state.entries.append(entry)
            state.number += 1
            return state.number
        }
        let old = number > UInt64(Self.entriesMax) ? [number - UInt64(Self.entriesMax)] : []
        let record = ArchivedRecord(number: number, bytes: entry.bytes)
        do {
            try await NIOThreadPool.singleton.runIfActive { [archive = self.archive] in
                try archive.write([record], removing: old)
            }
        } catch {
            self.logger.error("a request is not in the audit log", metadata: ["request": "\(id)", "error": "\(error)"])
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

extension OperatorAudit.Entry {
    /// The version of an archived entry's bytes.
    private static let version: UInt8 = 1

    /// As it is archived.
    fileprivate var bytes: [UInt8] {
        var writer = ByteWriter(reserving: 256)
        writer.write(byte: Self.version)
        writer.write(self.at)
        for text in [self.request, self.caller, self.remoteAddress, self.method, self.path, self.body] {
            writer.write(text)
        }
        writer.write(count: self.status)
        return writer.bytes
    }

    /// Nil if the bytes are of another version or damaged.
    fileprivate init?(_ bytes: [UInt8]) {
        var reader = ByteReader(bytes)
        do throws(ByteFault) {
            guard try reader.readByte() == Self.version else { return nil }
            self.at = try reader.readInstant()
            self.request = try reader.readString()
            self.caller = try reader.readString()
            self.remoteAddress = try reader.readString()
            self.method = try reader.readString()
            self.path = try reader.readString()
            self.body = try reader.readString()
            self.status = Int(clamping: try reader.readVarint())
        } catch {
            return nil
        }
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
