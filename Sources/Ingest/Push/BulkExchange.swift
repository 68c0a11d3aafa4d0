import APNSWire
import HTTP2
import HTTPTransport
import NIOCore
import Partitions
import Serving
import WidgetModel

/// A bulk of targeted pushes that is being taken.
///
/// Each line goes to the listener's handler as a request of its own, on a connection that stands for the one that the bulk came over.
/// So it is judged, limited and logged as a push that comes alone. The answers leave in the order of the lines, as soon as
/// those before have one. Belongs to the connection's event loop.
final class BulkExchange: HTTPConnectionBackend {
    private let connection: HTTPConnection
    private let streamID: Int32
    private let path: [UInt8]
    private let common: [(name: String, value: [UInt8])]
    private let limits: BulkLimits
    private let lineBytesMax: Int
    private let reader: JSONReader
    private let take: (borrowing RequestBatch, HTTPConnection) -> Void
    private let ended: () -> Void
    /// Those that were not taken yet, from ``next`` on.
    private var lines: [ArraySlice<UInt8>]
    private var next = 0
    /// The answers to the lines from ``written`` on that were taken; nil for one that has none yet.
    private var answers: [[UInt8]?] = []
    private var written = 0
    /// The lines' connection, as they see it; nil once this has ended.
    private var own: HTTPConnection?
    /// Whether the peer has no room for more.
    private var isBlocked = false
    private var isScheduled = false

    /// - Parameters:
    ///   - path: Where a push to the app goes, as one that comes alone would say it.
    ///   - common: Header fields of every line that has no such field itself.
    ///   - take: Takes requests as the listener's handler does.
    ///   - ended: Called once, when nothing more will come of it.
    init(
        _ lines: [ArraySlice<UInt8>],
        to path: [UInt8],
        common: [(name: String, value: [UInt8])],
        of streamID: Int32,
        on connection: HTTPConnection,
        _ limits: BulkLimits,
        lineBytesMax: Int,
        reader: JSONReader,
        take: @escaping (borrowing RequestBatch, HTTPConnection) -> Void,
        ended: @escaping () -> Void
    ) {
        self.lines = lines
        self.path = path
        self.common = common
        self.streamID = streamID
        self.connection = connection
        self.limits = limits
        self.lineBytesMax = lineBytesMax
        self.reader = reader
        self.take = take
        self.ended = ended
        self.own = HTTPConnection(standingFor: connection, backend: self)
    }

    /// Begins the answer, and the work behind this turn of the loop.
    func start() {
        var fields = ResponseFields()
        fields.append(name: "content-type", value: "application/x-ndjson")
        guard self.connection.beginStreaming(self.streamID, status: 200, fields: fields) else { return self.end() }
        self.connection.flush()
        self.schedule()
    }

    /// The peer has room again.
    func becameWritable() {
        self.isBlocked = false
        self.schedule()
    }

    /// The stream or its connection has gone: taken lines stay taken, and no more are.
    func end() {
        guard let own else { return }
        self.own = nil
        self.lines = []
        self.answers = []
        own.standDown()
        self.ended()
    }

    /// Goes on behind this turn, so that no handler is called from within itself.
    private func schedule() {
        guard !self.isScheduled else { return }
        self.isScheduled = true
        self.connection.eventLoop.assumeIsolated().execute {
            self.isScheduled = false
            self.writeAnswers()
            self.takeLines()
        }
    }

    /// Takes as many lines as may be without an answer at once.
    private func takeLines() {
        guard let own, !self.isBlocked else { return }
        var batch = RequestBatch()
        let start = self.next
        while self.next < self.lines.count, self.answers.count < self.limits.inFlightMax {
            let number = self.next + 1
            self.answers.append(nil)
            do throws(Problem) {
                let text = Array(self.lines[self.next])
                let line = try BulkLine(text, bytesMax: self.lineBytesMax, reader: self.reader)
                batch.append(line, Int32(number), to: self.path, common: self.common)
            } catch {
                self.setAnswer(of: number, Self.answer(number, error.code.status, body: error.json.jsonText, "problem"))
            }
            self.lines[self.next] = []
            self.next += 1
        }
        guard self.next > start else { return }
        if !batch.isEmpty { self.take(batch, own) }
        self.schedule()
    }

    /// Writes the answers of which all before are written, and ends with the last one.
    private func writeAnswers() {
        guard self.own != nil, !self.isBlocked else { return }
        let ready = self.answers.prefix { $0 != nil }
        if !ready.isEmpty {
            var text: [UInt8] = []
            for case .some(let answer) in ready { text += answer }
            self.written += ready.count
            self.answers.removeFirst(ready.count)
            switch self.connection.write(self.streamID, text.span) {
            case .accepted: break
            case .full: self.isBlocked = true
            case .closed: return self.end()
            }
        }
        if self.next == self.lines.count, self.answers.isEmpty {
            self.connection.finish(self.streamID)
            self.connection.flush()
            return self.end()
        }
        self.connection.flush()
    }

    private func setAnswer(of number: Int, _ answer: [UInt8]) {
        let place = number - 1 - self.written
        guard self.answers.indices.contains(place) else { return }
        self.answers[place] = answer
    }

    /// `{"line":3,"status":400,"apns-id":"…","rejection":{"reason":"BadPriority"}}` and the end of the line.
    private static func answer(
        _ number: Int,
        _ status: Int,
        _ fields: [(String, JSONValue)] = [],
        body: [UInt8] = [],
        _ name: String = ""
    ) -> [UInt8] {
        let members: [(String, JSONValue?)] = [("line", .count(number)), ("status", .count(status))] + fields
        var text = JSONValue.object(of: members).jsonText
        if !body.isEmpty {
            text.removeLast()
            text += Array(",\"\(name)\":".utf8) + body + [UInt8(ascii: "}")]
        }
        text.append(UInt8(ascii: "\n"))
        return text
    }
}

// MARK: - The connection of the lines

extension BulkExchange {
    func respond(_ streamID: Int32, status: Int, fields: borrowing ResponseFields, body: Span<UInt8>) -> Bool {
        var members: [(String, JSONValue)] = []
        var name = "rejection"
        for index in 0..<fields.count {
            let value = fields.value(at: index)
            switch fields.name(at: index) {
            case "content-type": if value == "application/problem+json" { name = "problem" }
            case "retry-after": members.append(("retry-after", Int(value).map { .count($0) } ?? .string(value)))
            case let other: members.append((other, .string(value)))
            }
        }
        self.setAnswer(of: Int(streamID), Self.answer(Int(streamID), status, members, body: Array(copying: body), name))
        return self.own != nil
    }

    func flush() { self.schedule() }

    func goAway(_ code: HTTP2ErrorCode, debug: String) { self.connection.goAway(code, debug: debug) }

    func end(for limit: HTTPListenerLimit, _ reason: String) { self.connection.paceByCredentials() }

    func closeNow() { self.connection.close() }

    var unacknowledgedSettings: Int { 0 }

    // Of no use for a push on a line.
    func limitBody(of streamID: Int32, to bytes: Int) {}
    func prefetch(_ streamIDs: Span<Int32>) {}
    func setMaxConcurrentStreams(_ limit: UInt32) {}
    func beginStreaming(_ streamID: Int32, status: Int, fields: borrowing ResponseFields) -> Bool { false }
    func write(_ streamID: Int32, _ bytes: Span<UInt8>) -> StreamWrite { .closed }
    func finish(_ streamID: Int32) {}
    func reset(_ streamID: Int32, _ code: HTTP2ErrorCode) {}
}
