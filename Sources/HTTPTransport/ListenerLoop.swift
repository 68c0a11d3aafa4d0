import HTTP2
import Logging
import NIOCore
import Synchronization
import TLS

/// What the loops of one listener share.
final class ListenerShared: Sendable {
    let configuration: HTTPListenerConfiguration
    let logger: Logger
    /// Open connections on all loops.
    let connectionCount = Atomic<Int>(0)
    private static let lastConnectionID = Atomic<UInt64>(0)

    init(configuration: HTTPListenerConfiguration, logger: Logger) {
        self.configuration = configuration
        self.logger = logger
    }

    static func nextConnectionID() -> UInt64 {
        self.lastConnectionID.add(1, ordering: .relaxed).newValue
    }
}

/// A connection as its loop sees it: something that may be late, is asked to finish, and can be cut off.
protocol ListenerMember: AnyObject {
    /// Looks for missed deadlines; called once a second.
    func checkDeadlines(at second: UInt32)
    func beginDrain()
    func abort()
}

/// The part of a listener that lives on one event loop: the owner's handler, the connections, and buffers that they
/// take turns with.
///
/// Confined to its loop.
final class ListenerLoop {
    let eventLoop: any EventLoop
    let shared: ListenerShared
    let handler: any RequestBatchHandler
    var counters = HTTPListenerCounters()
    /// What the next connections are served under; nil on a plain-text listener.
    var tls: TLSContext?

    /// Completed requests of the wakeup that is running.
    var batch = RequestBatch()
    var events: [HTTP2Event] = []
    var plaintext = ByteBuffer()
    var output: [UInt8] = []

    private var members: [UInt64: any ListenerMember] = [:]
    private var ticker: RepeatedTask?
    private var isDraining = false
    private var emptied: EventLoopPromise<Void>?

    /// A batch that held more than this gives its memory back.
    private static let batchBytesKept = 1_048_576

    init(eventLoop: any EventLoop, shared: ListenerShared, handler: any RequestBatchHandler) {
        self.eventLoop = eventLoop
        self.shared = shared
        self.handler = handler
        self.tls = shared.configuration.tls
    }

    var configuration: HTTPListenerConfiguration { self.shared.configuration }

    /// Whole seconds of the monotonic clock, the unit of every deadline here.
    var second: UInt32 {
        UInt32(truncatingIfNeeded: self.eventLoop.now.uptimeNanoseconds / 1_000_000_000)
    }

    /// Starts the clock that deadlines are checked by.
    func start() {
        let loop = NIOLoopBound(self, eventLoop: self.eventLoop)
        self.ticker = self.eventLoop.scheduleRepeatedTask(initialDelay: .seconds(1), delay: .seconds(1)) { _ in
            loop.value.tick()
        }
    }

    private func tick() {
        let second = self.second
        // A copy: a member that is late leaves while the others are looked at. Their order does not matter.
        for member in Array(self.members.values) {
            member.checkDeadlines(at: second)
        }
    }

    // MARK: Members

    /// Takes a connection in, or a new handler in its place.
    func join(_ id: UInt64, _ member: any ListenerMember) {
        self.members[id] = member
        if self.isDraining {
            member.beginDrain()
        }
    }

    func leave(_ id: UInt64) {
        guard self.members.removeValue(forKey: id) != nil else { return }
        self.shared.connectionCount.subtract(1, ordering: .relaxed)
        guard self.members.isEmpty else { return }
        self.emptied?.succeed()
        self.emptied = nil
    }

    /// Counts a connection in; false if the listener is full or closing.
    func admit() -> Bool {
        let count = self.shared.connectionCount.add(1, ordering: .relaxed).newValue
        guard count <= self.configuration.connectionsMax, !self.isDraining else {
            self.shared.connectionCount.subtract(1, ordering: .relaxed)
            self.counters.connectionsRefused += 1
            return false
        }
        self.counters.connectionsAccepted += 1
        return true
    }

    var currentCounters: HTTPListenerCounters {
        var counters = self.counters
        counters.connections = self.members.count
        return counters
    }

    // MARK: Requests

    /// Hands the collected requests to the owner.
    func dispatch(from connection: HTTPConnection) {
        guard !self.batch.isEmpty else { return }
        self.counters.requests += self.batch.requests.count
        // The owner may close connections meanwhile, so the batch is not the loop's while it is lent.
        var batch = RequestBatch()
        swap(&batch, &self.batch)
        self.handler.receive(batch, from: connection)
        batch.removeAll()
        if batch.bytes.capacity > Self.batchBytesKept {
            batch = RequestBatch()
        }
        swap(&batch, &self.batch)
    }

    // MARK: The end

    /// Asks every connection to finish; the result succeeds when none is left.
    func drain() -> EventLoopFuture<Void> {
        self.isDraining = true
        let emptied = self.emptied ?? self.eventLoop.makePromise(of: Void.self)
        self.emptied = emptied
        for member in Array(self.members.values) {
            member.beginDrain()
        }
        if self.members.isEmpty {
            self.emptied = nil
            emptied.succeed()
        }
        return emptied.futureResult
    }

    func abortAll() {
        for member in Array(self.members.values) {
            member.abort()
        }
    }

    func stop() {
        self.ticker?.cancel()
        self.ticker = nil
    }
}
