import NIOCore
import WidgetModel

/// The decisions of a pool of connections to one target: which connection gets a request, when to connect, which
/// requests to send again.
///
/// An event goes in as a call with the present; the resulting actions are appended to a list. It has no clock, no
/// channel and no dice. A request is `waiting` or `sent` on one connection until it ends by an answer, by a `fail`
/// action, or by ``gaveUp(_:now:)``; there is exactly one end.
///
/// A connection is *proven* by its first answer. No second one is opened beside one that is not proven yet: APNs allows
/// one stream until the first request of a connection has been authenticated, and a pool that took that for a full
/// connection would open all it may at once.
struct ConnectionPool {
    /// See ``HTTPClientConfiguration``, which these come from.
    struct Limits: Hashable, Sendable {
        var connectionsMax = 4
        var queueMax = 10_000
        var streamsPerConnectionMax = 1000
        var resendsMax = 3
        var idleTimeout = TimeAmount.hours(1)
        var reconnectDelayMin = TimeAmount.milliseconds(100)
        var reconnectDelayMax = TimeAmount.seconds(30)
    }

    enum Action: Hashable, Sendable {
        case connect(UInt64)
        case send(UInt64, on: UInt64)
        /// The request's end, for this reason.
        case fail(UInt64, Failure)
        /// Close it: it has been idle for too long.
        case close(UInt64)
    }

    enum Failure: Hashable, Sendable {
        case queueFull
        /// No connection came about, and there is no other.
        case notConnected
        /// It was refused unprocessed this often.
        case refused(resends: Int)
        /// Its connection broke; the server may have acted on it.
        case broken
    }

    private enum Phase { case connecting, open, draining }

    private struct Connection {
        let id: UInt64
        var phase = Phase.connecting
        var streamsMax = 0
        var inFlight = 0
        var isProven = false
        var idleSince = NIODeadline.uptimeNanoseconds(0)
    }

    private struct Request {
        /// The connection that it was sent on; nil while it waits.
        var connection: UInt64?
        var resends = 0
    }

    /// May change: those that hold more than they may take no more.
    var limits: Limits
    /// The seed of the jitter of reconnecting.
    private let seed: UInt64
    /// In the order made; few.
    private var connections: [Connection] = []
    private var requests: [UInt64: Request] = [:]
    private var queue = RequestQueue()
    private var lastConnection: UInt64 = 0
    /// Attempts and connections in a row that came to nothing.
    private var failures = 0
    private var mayConnectAt = NIODeadline.uptimeNanoseconds(0)

    init(_ limits: Limits, seed: UInt64) {
        self.limits = limits
        self.seed = seed
    }

    /// Requests that wait for a stream.
    var waitingCount: Int { self.queue.count }
    /// Requests that are on a connection.
    var sentCount: Int { self.requests.count - self.queue.count }
    /// Connections, those that are being made or drained included.
    var connectionCount: Int { self.connections.count }
    /// True if there is nothing that a new pool would not have: no connection, no request, and no failure lately that the
    /// next attempt has to keep its distance from.
    func isBlank(now: NIODeadline) -> Bool {
        self.connections.isEmpty && self.requests.isEmpty && (self.failures == 0 || now >= self.forgetsFailuresAt)
    }

    private var forgetsFailuresAt: NIODeadline { self.mayConnectAt + self.limits.reconnectDelayMax }

    /// When ``wake(now:_:)`` is due; nil if nothing waits for a time.
    var nextWake: NIODeadline? {
        var next: NIODeadline?
        if self.queue.count > 0, self.wantsConnection {
            next = self.mayConnectAt
        }
        if self.connections.isEmpty, self.requests.isEmpty, self.failures > 0 {
            next = self.forgetsFailuresAt
        }
        for connection in self.connections where connection.phase == .open && connection.inFlight == 0 {
            let end = connection.idleSince + self.limits.idleTimeout
            next = min(next ?? end, end)
        }
        return next
    }

    // MARK: Requests

    /// A new request; its number is higher than any before.
    mutating func request(_ id: UInt64, now: NIODeadline, _ actions: inout [Action]) {
        guard self.queue.count < self.limits.queueMax else {
            return actions.append(.fail(id, .queueFull))
        }
        self.requests[id] = Request()
        self.queue.append(id)
        self.settle(now, &actions)
    }

    /// The caller does not want the request's answer any more; its stream, if it has one, is reset.
    mutating func gaveUp(_ id: UInt64, now: NIODeadline, _ actions: inout [Action]) {
        self.end(id, now)
        self.settle(now, &actions)
    }

    /// The answer came.
    mutating func answered(_ id: UInt64, now: NIODeadline, _ actions: inout [Action]) {
        if let number = self.requests[id]?.connection, let index = self.index(of: number) {
            self.connections[index].isProven = true
            self.failures = 0
        }
        self.end(id, now)
        self.settle(now, &actions)
    }

    /// The server surely did not act on the request: REFUSED_STREAM, above the last stream of a GOAWAY, or never sent
    /// (RFC 9113, 8.7).
    mutating func refused(_ id: UInt64, now: NIODeadline, _ actions: inout [Action]) {
        self.sendAgain(id, orElse: .refused(resends: self.limits.resendsMax), now, &actions)
    }

    /// The connection broke under the request. Only one that may be repeated whatever the server did is sent again.
    mutating func broken(_ id: UInt64, isRepeatable: Bool, now: NIODeadline, _ actions: inout [Action]) {
        guard isRepeatable else {
            self.end(id, now)
            actions.append(.fail(id, .broken))
            return self.settle(now, &actions)
        }
        self.sendAgain(id, orElse: .broken, now, &actions)
    }

    private mutating func sendAgain(
        _ id: UInt64,
        orElse failure: Failure,
        _ now: NIODeadline,
        _ actions: inout [Action]
    ) {
        guard var request = self.requests[id], request.connection != nil else { return }
        self.end(id, now)
        if request.resends < self.limits.resendsMax {
            request.connection = nil
            request.resends += 1
            self.requests[id] = request
            self.queue.insert(id)
        } else {
            actions.append(.fail(id, failure))
        }
        self.settle(now, &actions)
    }

    /// Forgets a request and gives its place back.
    private mutating func end(_ id: UInt64, _ now: NIODeadline) {
        guard let request = self.requests.removeValue(forKey: id) else { return }
        guard let number = request.connection else { return self.queue.remove(id) }
        guard let index = self.index(of: number) else { return }
        self.connections[index].inFlight -= 1
        if self.connections[index].inFlight == 0 {
            self.connections[index].idleSince = now
        }
    }

    // MARK: Connections

    /// A connection takes so many streams.
    mutating func connected(_ id: UInt64, streamsMax: Int, now: NIODeadline, _ actions: inout [Action]) {
        guard let index = self.index(of: id), self.connections[index].phase == .connecting else { return }
        self.connections[index].phase = .open
        self.connections[index].streamsMax = streamsMax
        self.connections[index].idleSince = now
        self.settle(now, &actions)
    }

    /// An attempt to connect failed. If there is no other connection, waiting requests fail now and need not wait
    /// longer.
    mutating func connectFailed(_ id: UInt64, now: NIODeadline, _ actions: inout [Action]) {
        guard let index = self.index(of: id) else { return }
        self.connections.remove(at: index)
        self.delayConnecting(now)
        if !self.connections.contains(where: { $0.phase != .draining }) {
            for id in self.queue.removeAll() {
                self.requests[id] = nil
                actions.append(.fail(id, .notConnected))
            }
        }
        self.settle(now, &actions)
    }

    /// The server's SETTINGS changed how many streams it takes. Those that are open stay.
    mutating func streamsMax(_ id: UInt64, _ streamsMax: Int, now: NIODeadline, _ actions: inout [Action]) {
        guard let index = self.index(of: id) else { return }
        self.connections[index].streamsMax = streamsMax
        self.settle(now, &actions)
    }

    /// A GOAWAY came, or the connection's stream numbers are used up: it takes no more requests.
    mutating func draining(_ id: UInt64, now: NIODeadline, _ actions: inout [Action]) {
        guard let index = self.index(of: id), self.connections[index].phase != .draining else { return }
        self.leave(index, now)
        self.connections[index].phase = .draining
        self.settle(now, &actions)
    }

    /// A connection has gone. Its requests were told before.
    mutating func closed(_ id: UInt64, now: NIODeadline, _ actions: inout [Action]) {
        guard let index = self.index(of: id) else { return }
        if self.connections[index].phase != .draining {
            self.leave(index, now)
        }
        self.connections.remove(at: index)
        self.settle(now, &actions)
    }

    /// Something that waited for a time is due.
    mutating func wake(now: NIODeadline, _ actions: inout [Action]) {
        for index in self.connections.indices {
            let connection = self.connections[index]
            guard connection.phase == .open, connection.inFlight == 0,
                now >= connection.idleSince + self.limits.idleTimeout
            else { continue }
            self.connections[index].phase = .draining
            actions.append(.close(connection.id))
        }
        self.settle(now, &actions)
    }

    /// A connection that goes without ever having answered counts as an attempt that failed: a server that lets every
    /// client in and then hangs up must not be stormed.
    private mutating func leave(_ index: Int, _ now: NIODeadline) {
        if !self.connections[index].isProven {
            self.delayConnecting(now)
        }
    }

    private mutating func delayConnecting(_ now: NIODeadline) {
        self.failures += 1
        let backoff = Backoff(
            first: .milliseconds(self.limits.reconnectDelayMin.nanoseconds / 1_000_000),
            max: .milliseconds(self.limits.reconnectDelayMax.nanoseconds / 1_000_000)
        )
        let wait = backoff.wait(after: self.failures, seed: self.seed)
        self.mayConnectAt = now + .milliseconds(wait.milliseconds)
    }

    // MARK: Deciding

    /// Gives streams to waiting requests, the oldest first, and connects if that is not enough.
    private mutating func settle(_ now: NIODeadline, _ actions: inout [Action]) {
        // The first connection with room: those that are not needed stay idle and are closed in time.
        var index = 0
        while self.queue.count > 0, index < self.connections.count {
            guard self.hasRoom(self.connections[index]), let id = self.queue.popFirst() else {
                index += 1
                continue
            }
            self.requests[id]?.connection = self.connections[index].id
            self.connections[index].inFlight += 1
            actions.append(.send(id, on: self.connections[index].id))
        }
        guard self.queue.count > 0, self.wantsConnection, now >= self.mayConnectAt else { return }
        self.lastConnection += 1
        self.connections.append(Connection(id: self.lastConnection))
        actions.append(.connect(self.lastConnection))
    }

    private func hasRoom(_ connection: Connection) -> Bool {
        connection.phase == .open
            && connection.inFlight < min(connection.streamsMax, self.limits.streamsPerConnectionMax)
    }

    private var wantsConnection: Bool {
        var count = 0
        for connection in self.connections where connection.phase != .draining {
            guard connection.phase == .open, connection.isProven else { return false }
            count += 1
        }
        return count < self.limits.connectionsMax
    }

    private func index(of id: UInt64) -> Int? {
        self.connections.firstIndex { $0.id == id }
    }

    // MARK: Invariants

    /// The violated invariants; empty when all is well. For tests.
    func checkInvariants() -> [String] {
        var broken: [String] = []
        for connection in self.connections {
            let sent = self.requests.values.count { $0.connection == connection.id }
            if sent != connection.inFlight {
                broken.append("connection \(connection.id) counts \(connection.inFlight) in flight, has \(sent)")
            }
        }
        if self.requests.values.count(where: { $0.connection == nil }) != self.queue.count {
            broken.append("the queue holds \(self.queue.count) requests that are not those that wait")
        }
        let live = self.connections.count { $0.phase != .draining }
        if live > self.limits.connectionsMax {
            broken.append("\(live) connections above the limit of \(self.limits.connectionsMax)")
        }
        return broken
    }
}
