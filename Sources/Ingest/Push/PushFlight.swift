import HTTP2
import HTTPTransport
import Partitions
import WidgetModel

/// The pushes of one submission that wait for its commit: where to answer each, and with which id.
///
/// Belongs to one event loop. Requests of one connection lie together.
struct PushFlight {
    /// The bytes of an `apns-id` as it is echoed.
    static let idBytes = 36

    private struct Group {
        let connection: HTTPConnection
        var end: Int
    }

    private var groups: [Group] = []
    private var streams: [Int32] = []
    /// ``idBytes`` for each stream, as the client spelled it.
    private var ids: [UInt8] = []
    /// Those of ``streams`` whose pushes are to apps in development, ascending.
    private var inDevelopment: [Int] = []
    /// The spans of those that are traced; they end with the answer.
    private(set) var traces: [TracedSpan] = []

    /// Which kinds they are for, with the numbers of their apps; an app may come more than once. Gathered here, since an
    /// object that all loops share is nothing to take hold of for each push.
    private(set) var kinds: [(app: Int, kinds: PushedKinds.Kinds)] = []

    var count: Int { self.streams.count }

    /// - Parameters:
    ///   - kind: The push's kind, nil for all kinds.
    ///   - app: The app's number.
    mutating func noteKind(_ kind: WidgetKind?, of app: Int) {
        let kinds = PushedKinds.Kinds(kind)
        if let last = self.kinds.indices.last, self.kinds[last].app == app {
            self.kinds[last].kinds.formUnion(kinds)
        } else {
            self.kinds.append((app, kinds))
        }
    }

    mutating func append(_ push: borrowing PushContext, _ id: AnswerID, isInDevelopment: Bool) {
        id.append(to: &self.ids, push.bytes)
        self.append(push.connection, push.request.streamID, isInDevelopment, push.trace)
    }

    mutating func append(_ pending: PendingAnswer, isInDevelopment: Bool) {
        self.ids += pending.id
        self.append(pending.connection, pending.streamID, isInDevelopment, pending.trace)
    }

    private mutating func append(
        _ connection: HTTPConnection,
        _ streamID: Int32,
        _ isInDevelopment: Bool,
        _ trace: TracedSpan?
    ) {
        if let trace { self.traces.append(trace) }
        if isInDevelopment { self.inDevelopment.append(self.streams.count) }
        self.streams.append(streamID)
        if let last = self.groups.indices.last, self.groups[last].connection === connection {
            self.groups[last].end = self.streams.count
        } else {
            self.groups.append(Group(connection: connection, end: self.streams.count))
        }
    }

    /// Flushes the answers. To be called once for flights that land together, so that a connection is flushed once.
    func flush() {
        for group in self.groups { group.connection.flush() }
    }

    /// Answers every push. ``flush()`` is still to come.
    ///
    /// - Parameter body: Gets connection, stream, `apns-id` and whether the push is to an app in development.
    func answer(_ body: (HTTPConnection, Int32, Span<UInt8>, Bool) -> Void) {
        var start = 0
        var development = self.inDevelopment[...]
        for group in self.groups {
            group.connection.prefetch(self.streams.span.extracting(start..<group.end))
            for index in start..<group.end {
                let offset = index * Self.idBytes
                let isInDevelopment = development.first == index
                if isInDevelopment { development.removeFirst() }
                let id = self.ids.span.extracting(offset..<(offset + Self.idBytes))
                body(group.connection, self.streams[index], id, isInDevelopment)
            }
            start = group.end
        }
    }
}
