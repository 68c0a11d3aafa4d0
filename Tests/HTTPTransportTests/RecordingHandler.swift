import HTTP2
import HTTPTransport

/// An owner that remembers what it is told and answers as it is asked to.
final class RecordingHandler: RequestBatchHandler {
    enum Event: Hashable {
        case batch([String])
        case connectionClosed
        case streamClosed(Int32)
        case streamWritable(Int32)
    }

    var events: [Event] = []
    var flags: [RequestBatch.Flags] = []
    /// The last connection that sent something; kept to answer later.
    var connection: HTTPConnection?
    var status: Int? = 200
    /// Runs before a request is answered.
    var beforeAnswer: (HTTPConnection) -> Void = { _ in }
    var admission = HTTPAdmission.accepted(streamsMax: nil)

    func admit(_ connection: HTTPConnection) -> HTTPAdmission { self.admission }

    /// How requests are judged by their heads: a status that refuses them, or how much of a body is taken.
    enum Judgement {
        case refused(Int)
        case accepted(bodyBytesMax: Int)
    }

    var judgement: Judgement?
    var heads: [String] = []

    func judge(_ batch: borrowing RequestBatch, from connection: HTTPConnection) {
        for index in batch.requests.indices {
            let head = batch.requests[index]
            self.heads.append(batch.string(head.path))
            switch self.judgement {
            case .refused(let status): connection.respond(head.streamID, status: status, fields: ResponseFields())
            case .accepted(let bytes): connection.limitBody(of: head.streamID, to: bytes)
            case nil: break
            }
        }
        connection.flush()
    }

    func receive(_ batch: borrowing RequestBatch, from connection: HTTPConnection) {
        self.connection = connection
        var paths: [String] = []
        for index in batch.requests.indices {
            let request = batch.requests[index]
            paths.append(batch.string(request.path))
            self.flags.append(request.flags)
            if let status {
                self.beforeAnswer(connection)
                connection.respond(request.streamID, status: status, fields: ResponseFields())
            }
        }
        self.events.append(.batch(paths))
        connection.flush()
    }

    func connectionClosed(_ connection: HTTPConnection) {
        self.connection = connection
        self.events.append(.connectionClosed)
    }

    func streamClosed(_ streamID: Int32, on connection: HTTPConnection) {
        self.events.append(.streamClosed(streamID))
    }

    func streamWritable(_ streamID: Int32, on connection: HTTPConnection) {
        self.events.append(.streamWritable(streamID))
    }
}
