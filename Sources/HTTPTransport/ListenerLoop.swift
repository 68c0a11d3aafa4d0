import HTTP2
import Logging
import NIOCore
import Synchronization
import TLS

/// The state that the loops of one listener share.
final class ListenerShared: Sendable {
    let logger: Logger
    /// Open connections on all loops.
    let connectionCount = Atomic<Int>(0)
    /// Those of them whose TLS handshake is not made yet.
    let handshakeCount = Atomic<Int>(0)
    /// Bytes that all connections make the listener hold.
    let heldBytes = Atomic<Int>(0)
    /// Open connections of each address that has any.
    private let addresses = Mutex<[PeerAddress: Int]>([:])
    /// Connections that ended because of a limit, by its key; their time is when the last one did.
    private let cutOff = Mutex<[String: (times: Int, peer: String, at: UInt32)]>([:])
    private static let lastConnectionID = Atomic<UInt64>(0)

    init(logger: Logger) {
        self.logger = logger
    }

    static func nextConnectionID() -> UInt64 {
        self.lastConnectionID.add(1, ordering: .relaxed).newValue
    }

    /// Counts a connection in, or names the limit that it would pass.
    func countIn(_ address: PeerAddress?, _ bounds: HTTPListenerConfiguration.Bounds) -> HTTPListenerLimit? {
        guard self.connectionCount.add(1, ordering: .relaxed).newValue <= bounds.connectionsMax else {
            self.connectionCount.subtract(1, ordering: .relaxed)
            return .maxConnections
        }
        guard let address else { return nil }
        let hasRoom = self.addresses.withLock { addresses in
            let count = addresses[address, default: 0]
            guard count < bounds.connectionsPerAddressMax else { return false }
            addresses[address] = count + 1
            return true
        }
        guard !hasRoom else { return nil }
        self.connectionCount.subtract(1, ordering: .relaxed)
        return .maxConnectionsPerAddress
    }

    /// Notes that a connection ends because it passed a limit.
    func noteCutOff(_ limit: String, of peer: String, at second: UInt32) {
        self.cutOff.withLock { $0[limit] = (($0[limit]?.times ?? 0) + 1, peer, second) }
    }

    func cutOff(at second: UInt32) -> [HTTPCutOff] {
        self.cutOff.withLock { $0 }.sorted { $0.key < $1.key }.map { limit, last in
            HTTPCutOff(limit: limit, times: last.times, peer: last.peer, secondsAgo: second &- last.at)
        }
    }

    func countOut(_ address: PeerAddress?) {
        self.connectionCount.subtract(1, ordering: .relaxed)
        guard let address else { return }
        self.addresses.withLock { addresses in
            let count = addresses[address, default: 1]
            addresses[address] = count > 1 ? count - 1 : nil
        }
    }
}

/// A connection as its loop sees it: something that may be late, is asked to finish, and can be cut off.
protocol ListenerMember: AnyObject {
    /// Looks for missed deadlines; called once a second.
    func checkDeadlines(at second: UInt32)
    func beginDrain()
    func abort()
    /// Bytes that the peer makes the listener hold.
    var heldBytes: Int { get }
    /// Ends the connection because it holds too much.
    func endForHeldBytes()
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
    /// The configuration in force; nothing outside of this loop changes it.
    private(set) var configuration: HTTPListenerConfiguration

    /// Completed requests of the wakeup that is running.
    var batch = RequestBatch()
    var events: [HTTP2Event] = []
    var plaintext = ByteBuffer()
    var output: [UInt8] = []

    private var members: [UInt64: any ListenerMember] = [:]
    /// The addresses of connections that were counted in.
    private var addresses: [UInt64: PeerAddress?] = [:]
    private var handshakes = HandshakeQueue()
    private var ticker: RepeatedTask?
    private var isDraining = false
    private var emptied: EventLoopPromise<Void>?

    /// A batch that held more than this gives its memory back.
    private static let batchBytesKept = 1_048_576

    init(
        eventLoop: any EventLoop,
        shared: ListenerShared,
        configuration: HTTPListenerConfiguration,
        handler: any RequestBatchHandler
    ) {
        self.eventLoop = eventLoop
        self.shared = shared
        self.configuration = configuration
        self.handler = handler
    }

    /// Serves the next connections under another context.
    func replaceContext(_ tls: TLSContext) {
        self.configuration.tls = tls
    }

    /// Keeps other bounds and deadlines from now on.
    func useBounds(_ bounds: HTTPListenerConfiguration.Bounds) {
        self.configuration.bounds = bounds
    }

    /// Whole seconds of the monotonic clock, the unit of every deadline here.
    var second: UInt32 {
        Self.second(of: self.eventLoop.now)
    }

    /// The present one of loops whose clock is the system's.
    static var second: UInt32 { self.second(of: .now()) }

    private static func second(of time: NIODeadline) -> UInt32 {
        UInt32(truncatingIfNeeded: time.uptimeNanoseconds / 1_000_000_000)
    }

    /// Nanoseconds of that clock, by which requests are timed.
    var stamp: UInt64 { self.eventLoop.now.uptimeNanoseconds }

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

    /// A connection under the present bounds.
    func makeConnection(_ id: UInt64, _ remoteAddress: String, _ version: HTTPVersion) -> HTTPConnection {
        HTTPConnection(
            id: id,
            remoteAddress: remoteAddress,
            eventLoop: self.eventLoop,
            version: version,
            refusedCredentials: RefusedCredentials(
                max: self.configuration.bounds.badCredentialsMax,
                perSecond: self.configuration.bounds.badCredentialsPerSecond
            )
        )
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
        self.members[id] = nil
        guard let address = self.addresses.removeValue(forKey: id) else { return }
        self.endHandshake(id)
        self.shared.countOut(address)
        guard self.addresses.isEmpty else { return }
        self.emptied?.succeed()
        self.emptied = nil
    }

    /// Counts a connection in; false if the listener is full or closing.
    func admit(_ id: UInt64, from address: PeerAddress?) -> Bool {
        guard !self.isDraining else {
            self.counters.connectionsRefused += 1
            return false
        }
        if let limit = self.shared.countIn(address, self.configuration.bounds) {
            self.counters.listenerLimits[limit] += 1
            self.counters.connectionsRefused += 1
            return false
        }
        self.counters.connectionsAccepted += 1
        self.addresses[id] = .some(address)
        return true
    }

    /// Counts a handshake in. If there are too many, the one that has taken longest makes room: honest ones are quick.
    func beginHandshake(_ id: UInt64) {
        self.handshakes.begin(id)
        let count = self.shared.handshakeCount.add(1, ordering: .relaxed).newValue
        guard count > self.configuration.bounds.handshakesMax, let oldest = self.handshakes.oldest else { return }
        self.counters.listenerLimits[.maxHandshakes] += 1
        self.counters.handshakesFailed += 1
        self.endHandshake(oldest)
        self.members[oldest]?.abort()
    }

    func endHandshake(_ id: UInt64) {
        guard self.handshakes.end(id) else { return }
        self.shared.handshakeCount.subtract(1, ordering: .relaxed)
    }

    /// Counts bytes that connections hold, in or out. If there are too many, the connection of this loop that holds the
    /// most ends.
    func hold(_ bytes: Int) {
        let held = self.shared.heldBytes.add(bytes, ordering: .relaxed).newValue
        guard bytes > 0, held > self.configuration.bounds.heldBytesMax else { return }
        // The lowest id among equals: a dictionary's order is no choice.
        let most = self.members.max { ($0.value.heldBytes, $1.key) < ($1.value.heldBytes, $0.key) }
        guard let most, most.value.heldBytes > 0 else { return }
        self.counters.listenerLimits[.maxListenerBytes] += 1
        most.value.endForHeldBytes()
    }

    var currentCounters: HTTPListenerCounters {
        var counters = self.counters
        counters.connections = self.addresses.count
        counters.allowance = self.configuration.allowance.max
        return counters
    }

    /// Notes that a connection ends because it passed a limit, and warns of it: the peer's loss should be known to
    /// those who can change the limit.
    func cutOff(_ peer: String, for limit: String, _ reason: String) {
        self.shared.noteCutOff(limit, of: peer, at: self.second)
        self.shared.logger.warning(
            "a connection is closed because it exceeded a limit",
            metadata: [
                "listener": "\(self.configuration.name)", "limit": "\(limit)", "peer": "\(peer)", "reason": "\(reason)",
            ]
        )
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

    /// Counts an answer that begins.
    ///
    /// - Parameter stamp: That of the time at which the owner got the request.
    func noteAnswer(_ status: Int, since stamp: UInt64) {
        let now = self.stamp
        self.counters.answers.add(status: status, nanoseconds: now > stamp ? now - stamp : 0)
    }

    /// Forgets the collected requests of a connection that has ended: the next connection's would be handed out with them, as its own.
    func forgetRequests() { self.batch.removeAll() }

    /// Lets the owner judge the collected heads, and hands out the requests whose bodies are too long by its limits.
    func judge(from connection: HTTPConnection) {
        var heads = RequestBatch()
        swap(&heads, &self.batch)
        self.handler.judge(heads, from: connection)
        self.dispatch(from: connection)
        heads.removeAll()
        swap(&heads, &self.batch)
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
        if self.addresses.isEmpty {
            self.emptied = nil
            emptied.succeed()
        }
        return emptied.futureResult
    }

    /// Cuts every connection off. A caller that waits for their end waits a second more at most.
    func abortAll() {
        for member in Array(self.members.values) {
            member.abort()
        }
        let loop = NIOLoopBound(self, eventLoop: self.eventLoop)
        self.eventLoop.scheduleTask(in: .seconds(1)) {
            loop.value.emptied?.succeed()
            loop.value.emptied = nil
        }
    }

    func stop() {
        self.ticker?.cancel()
        self.ticker = nil
    }
}
