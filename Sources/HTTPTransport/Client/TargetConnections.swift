import NIOCore
import TLS

/// One target's connections and requests, on one event loop, by the decisions of ``ConnectionPool``.
final class TargetConnections {
    typealias Completion = @Sendable (Result<HTTPClientResponse, HTTPTransportError>) -> Void

    private struct Request {
        let request: HTTPClientRequest
        let deadline: Scheduled<Void>
        let completion: Completion
        /// Where it was sent.
        var sent: (connection: UInt64, streamID: Int32)?
        /// The error that ended its last attempt.
        var error: HTTPTransportError?
    }

    private let eventLoop: any EventLoop
    private let target: HTTPTarget
    private let client: HTTPClient
    private var configuration: HTTPClientConfiguration
    private var pool: ConnectionPool
    private var actions: [ConnectionPool.Action] = []
    private var isPerforming = false
    private var connections: [UInt64: HTTP2ClientHandler] = [:]
    private var requests: [UInt64: Request] = [:]
    private var lastRequest: UInt64 = 0
    private var lastFailure: HTTPTransportError?
    private var wakeTask: Scheduled<Void>?
    private var wakeAt = NIODeadline.distantFuture
    private var isClosing = false
    /// Nothing is left here, and the client has forgotten it: requests go to its successor.
    private(set) var isRetired = false

    init(_ target: HTTPTarget, _ seed: UInt64, _ client: HTTPClient, _ eventLoop: any EventLoop) {
        self.eventLoop = eventLoop
        self.target = target
        self.client = client
        self.configuration = client.configuration
        self.pool = ConnectionPool(client.configuration.pool, seed: seed)
    }

    /// Keeps another configuration from now on.
    func applyConfiguration(_ configuration: HTTPClientConfiguration) {
        self.configuration = configuration
        self.pool.limits = configuration.pool
        // Requests that waited for a limit may go.
        self.pool.wake(now: self.now, &self.actions)
        self.perform()
    }

    private var now: NIODeadline { self.eventLoop.now }

    // MARK: Requests

    func send(_ request: HTTPClientRequest, _ cancellation: RequestCancellation, _ completion: @escaping Completion) {
        guard !cancellation.isCancelled else { return completion(.failure(HTTPTransportError.cancelled)) }
        self.lastRequest += 1
        let id = self.lastRequest
        let bound = NIOLoopBound(self, eventLoop: self.eventLoop)
        let deadline = self.eventLoop.scheduleTask(in: request.timeout) { bound.value.timedOut(id) }
        self.requests[id] = Request(request: request, deadline: deadline, completion: completion)
        self.client.count { $0.requestsInWork += 1 }
        cancellation.queued(as: id)
        self.pool.request(id, now: self.now, &self.actions)
        self.perform()
    }

    func cancel(_ cancellation: RequestCancellation) {
        guard let id = cancellation.request else { return }
        self.giveUp(id, HTTPTransportError.cancelled)
    }

    private func timedOut(_ id: UInt64) {
        guard let request = self.requests[id] else { return }
        self.client.count { $0.limits[.request] += 1 }
        let origin = self.target.origin
        let isUnsent = request.sent == nil
        let why = isUnsent ? "the request was not sent" : "no response"
        let cause = request.error.map { " (before: \($0.message))" } ?? ""
        self.giveUp(id, HTTPTransportError(.timeout, "\(origin): \(why) in time\(cause)", isUnprocessed: isUnsent))
    }

    private func giveUp(_ id: UInt64, _ error: HTTPTransportError) {
        guard let sent = self.requests[id].map(\.sent) else { return }
        if let sent, let connection = self.connections[sent.connection] {
            // Its completion, below, finds the request gone.
            self.end(id, .failure(error))
            connection.giveUp(sent.streamID, error)
        } else {
            self.end(id, .failure(error))
        }
        self.pool.gaveUp(id, now: self.now, &self.actions)
        self.perform()
    }

    private func end(_ id: UInt64, _ result: Result<HTTPClientResponse, HTTPTransportError>) {
        guard let request = self.requests.removeValue(forKey: id) else { return }
        request.deadline.cancel()
        self.client.count {
            $0.requestsInWork -= 1
            if case .success = result { $0.responses += 1 }
        }
        request.completion(result)
    }

    /// Takes the result of an attempt.
    private func attempted(_ id: UInt64, _ result: Result<HTTPClientResponse, HTTPTransportError>) {
        guard self.requests[id] != nil else { return }
        switch result {
        case .success:
            self.pool.answered(id, now: self.now, &self.actions)
            self.end(id, result)
        case .failure(let error):
            self.requests[id]?.sent = nil
            self.requests[id]?.error = error
            self.failedAttempt(id, error)
        }
        self.perform()
    }

    private func failedAttempt(_ id: UInt64, _ error: HTTPTransportError) {
        if error.isUnprocessed {
            self.client.count { $0.refused += 1 }
            return self.pool.refused(id, now: self.now, &self.actions)
        }
        switch error.code {
        case .connectionClosed, .goAway, .timeout, .tls:
            self.client.count { $0.broken += 1 }
            let isRepeatable = self.requests[id]?.request.isRepeatable ?? false
            self.pool.broken(id, isRepeatable: isRepeatable, now: self.now, &self.actions)
        default:
            // The stream alone ended: there was an answer of sorts.
            if error.code == .responseTooLarge { self.client.count { $0.limits[.maxResponseBytes] += 1 } }
            self.pool.answered(id, now: self.now, &self.actions)
            self.end(id, .failure(error))
        }
    }

    // MARK: The pool's actions

    /// Performs the actions, and those that they lead to, until none is left.
    private func perform() {
        guard !self.isPerforming else { return }
        self.isPerforming = true
        var touched: Set<UInt64> = []
        while !self.actions.isEmpty || !touched.isEmpty {
            var actions: [ConnectionPool.Action] = []
            swap(&actions, &self.actions)
            for action in actions {
                switch action {
                case .connect(let id): self.connect(id)
                case .send(let id, let connection): self.submit(id, on: connection, &touched)
                case .fail(let id, let failure): self.fail(id, failure)
                case .close(let id):
                    self.client.count { $0.limits[.idle] += 1 }
                    self.connections[id]?.close()
                }
            }
            guard self.actions.isEmpty else { continue }
            // One record and one write for all that was submitted at once.
            for id in touched.sorted() { self.connections[id]?.flush() }
            touched.removeAll()
        }
        self.isPerforming = false
        self.rearm()
        if self.connections.isEmpty, self.pool.isBlank(now: self.now) {
            self.isRetired = true
            self.wakeTask?.cancel()
            self.client.forget(self.target.key)
        }
    }

    private func submit(_ id: UInt64, on connection: UInt64, _ touched: inout Set<UInt64>) {
        guard let request = self.requests[id] else { return }
        if request.error != nil { self.client.count { $0.resent += 1 } }
        do throws(HTTPTransportError) {
            guard let handler = self.connections[connection] else {
                throw HTTPTransportError(.connectionClosed, "the connection is closed", isUnprocessed: true)
            }
            let streamID = try handler.submit(request.request) { [weak self] in self?.attempted(id, $0) }
            self.requests[id]?.sent = (connection, streamID)
            touched.insert(connection)
        } catch {
            self.requests[id]?.error = error
            self.failedAttempt(id, error)
        }
    }

    private func fail(_ id: UInt64, _ failure: ConnectionPool.Failure) {
        let origin = self.target.origin
        let before = self.requests[id]?.error
        switch failure {
        case .queueFull:
            self.client.count { $0.limits[.maxQueue] += 1 }
            let max = self.configuration.queueMax
            let error = HTTPTransportError(
                .queueFull,
                "\(max) requests already wait for \(origin)",
                isUnprocessed: true
            )
            self.end(id, .failure(error))
        case .notConnected:
            let cause = self.lastFailure ?? HTTPTransportError(.connect, "no connection to \(origin)")
            self.end(id, .failure(HTTPTransportError(cause.code, cause.message, isUnprocessed: true)))
        case .refused(let resends):
            self.client.count { $0.limits[.maxResends] += 1 }
            let why = before?.message ?? "refused"
            self.end(
                id,
                .failure(
                    HTTPTransportError(
                        before?.code ?? .connectionClosed,
                        "\(why); sent \(resends + 1) times",
                        isUnprocessed: true
                    )
                )
            )
        case .broken:
            self.end(id, .failure(before ?? HTTPTransportError(.connectionClosed, "the connection to \(origin) broke")))
        }
    }

    // MARK: Connections

    private func connect(_ id: UInt64) {
        let dial = HTTP2Dial(
            origin: self.target.origin,
            tls: self.target.tls,
            serverName: self.target.serverName,
            addresses: self.target.addresses,
            configuration: self.configuration.connection
        )
        let bound = NIOLoopBound(self, eventLoop: self.eventLoop)
        dial.run(on: self.eventLoop).whenComplete { result in
            switch result {
            case .success(let made):
                bound.value.connected(id, made.handler.value)
                made.channel.closeFuture.whenComplete { _ in bound.value.closed(id) }
            case .failure(let error):
                bound.value.connectFailed(id, error)
            }
        }
    }

    private func connected(_ id: UInt64, _ handler: HTTP2ClientHandler) {
        // The connection was being made when the client closed, and has no use any more.
        if self.isClosing { handler.close() }
        self.client.count {
            $0.connectionsOpened += 1
            $0.connections += 1
        }
        self.connections[id] = handler
        handler.onChange = { [weak self] in self?.changed(id, $0) }
        self.pool.connected(id, streamsMax: handler.streamsMax, now: self.now, &self.actions)
        if !handler.isUsable {
            self.pool.draining(id, now: self.now, &self.actions)
        }
        self.perform()
    }

    private func connectFailed(_ id: UInt64, _ error: any Error) {
        let failure = error as? HTTPTransportError ?? HTTPTransportError(.connect, ConnectionFailure.sentence(error))
        self.client.count {
            $0.connectsFailed += 1
            switch failure.code {
            case .addressRefused: $0.limits[.address] += 1
            case .timeout: $0.limits[.handshake] += 1
            case .connectTimeout: $0.limits[.connect] += 1
            default: break
            }
        }
        self.lastFailure = failure
        self.pool.connectFailed(id, now: self.now, &self.actions)
        self.perform()
    }

    private func changed(_ id: UInt64, _ change: HTTP2ClientHandler.Change) {
        switch change {
        case .streamsMax(let streamsMax):
            self.pool.streamsMax(id, streamsMax, now: self.now, &self.actions)
        case .goAway:
            self.client.count { $0.goAways += 1 }
        case .draining:
            self.pool.draining(id, now: self.now, &self.actions)
        case .pinged:
            self.client.count { $0.pings += 1 }
        case .silent:
            self.client.count { $0.limits[.ping] += 1 }
        }
        self.perform()
    }

    private func closed(_ id: UInt64) {
        guard self.connections.removeValue(forKey: id) != nil else { return }
        self.client.count { $0.connections -= 1 }
        self.pool.closed(id, now: self.now, &self.actions)
        self.perform()
    }

    func closeAll() -> EventLoopFuture<Void> {
        self.isClosing = true
        let closing = HTTPTransportError(.connectionClosed, "the client closes", isUnprocessed: true)
        for id in self.requests.keys.sorted() {
            self.giveUp(id, closing)
        }
        let gone = self.connections.keys.sorted().compactMap { self.connections[$0]?.closeAndWait() }
        return .andAllComplete(gone, on: self.eventLoop)
    }

    /// Wakes when the pool wants to be; a wake that comes too early does no harm.
    private func rearm() {
        guard let next = self.pool.nextWake else { return }
        guard self.wakeTask == nil || next < self.wakeAt else { return }
        self.wakeTask?.cancel()
        self.wakeAt = next
        let bound = NIOLoopBound(self, eventLoop: self.eventLoop)
        self.wakeTask = self.eventLoop.scheduleTask(deadline: next) {
            let connections = bound.value
            connections.wakeTask = nil
            connections.pool.wake(now: connections.now, &connections.actions)
            connections.perform()
        }
    }
}
