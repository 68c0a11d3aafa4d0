import HTTP2
import NIOCore
import Scenarios
import TLS

/// Sends a scenario's operations when they are due and takes the answers, all on one event loop.
///
/// An open loop: a due operation is sent whether or not earlier answers have come, as long as a connection has a stream
/// left. An operation that finds none waits in the schedule, which is computed and takes no memory, and its latency
/// counts from when it was due. So a server that stalls is not asked less often meanwhile, and all operations that wait
/// behind its stall count their wait (no coordinated omission).
final class LoadDriver {
    /// How far it is.
    private enum Phase {
        case new
        /// So many connections are not there yet.
        case connecting(left: Int, EventLoopPromise<Void>)
        case connected
        case running(EventLoopPromise<Void>)
        case ended(at: Int64, failure: String?)
    }

    let scene: LoadScene
    let scenario: LoadScenario
    private let dialer: LoadDialer
    private var phase = Phase.new
    var tally: LoadTally
    var dice: Dice
    /// The nanosecond at which the run begins; operations are due after it.
    private(set) var beginning: Int64 = 0
    var lanes: [Lane]
    var requests: LoadRequests
    let hosts: HostSide
    private var tick: Scheduled<Void>?
    private var tickAt = Int64.max
    private var isPumping = false
    /// Nanoseconds between two attempts to connect again, at first and at most.
    private static let reconnectDelayMin: Int64 = 20_000_000
    private static let reconnectDelayMax: Int64 = 500_000_000
    private var onProgress: (@Sendable (LoadProgress) -> Void)?
    private var progressAt: Int64 = 0
    private var turns: [Int]

    /// Sending in batches that are so far apart saves wakeups; nothing is late by more than this for it.
    private static let shortestTick: Int64 = 100_000

    init(_ scenario: LoadScenario, _ dialer: LoadDialer, run: UInt64, firstRevision: Int) {
        self.scenario = scenario
        self.scene = LoadScene(scenario)
        self.dialer = dialer
        self.tally = LoadTally(loads: scenario.loads.count, interval: LoadTally.interval(of: scenario.length))
        self.dice = Dice(seed: scenario.seed, role: 2, number: 0)
        self.lanes = Lane.Listener.allCases.map { Lane($0, of: scenario) }
        self.requests = LoadRequests(LoadScene(scenario), dialer.target, run: run, firstRevision: firstRevision)
        self.hosts = HostSide(LoadScene(scenario), dialer, run: run)
        self.turns = scenario.loads.map { _ in 0 }
        self.hosts.driver = self
    }

    /// Nanoseconds after the run's beginning.
    func instant(_ now: Int64) -> Int64 { now - self.beginning }

    private var isRunning: Bool { if case .running = self.phase { true } else { false } }

    /// How long the run took, in nanoseconds, and why it ended early if it did; nil before its end.
    var ending: (elapsed: Int64, failure: String?)? {
        guard case .ended(let instant, let failure) = self.phase else { return nil }
        return (self.instant(instant), failure)
    }

    // MARK: Connecting

    /// Makes the connections of all listeners that operations go to.
    func open() -> EventLoopFuture<Void> {
        let promise = self.dialer.eventLoop.makePromise(of: Void.self)
        let used = self.lanes.indices.filter { self.lanes[$0].isUsed }
        let left = used.count * self.scenario.connections
        guard left > 0 else {
            self.phase = .connected
            return self.dialer.eventLoop.makeSucceededVoidFuture()
        }
        self.phase = .connecting(left: left, promise)
        for lane in used {
            for index in 0..<self.scenario.connections {
                let connection = self.dial(lane, index) { [weak self] in self?.failedToConnect($0) }
                if let connection { self.lanes[lane].connections.append(connection) }
            }
        }
        return promise.futureResult
    }

    private func dial(_ lane: Int, _ index: Int, failed: @escaping (String) -> Void) -> LoadConnection? {
        let (listener, streams) = (self.lanes[lane].listener, self.scenario.streams)
        return self.dialer.dial(listener, index: index, streams: streams, owner: self, failed: failed)
    }

    private func failedToConnect(_ reason: String) {
        guard case .connecting(_, let promise) = self.phase else { return }
        let target = self.dialer.target
        let failure = "cannot connect to \(target.address):\(target.pushPort): \(reason)"
        self.phase = .ended(at: self.beginning, failure: failure)
        promise.fail(LoadError(failure))
    }

    // MARK: The run

    /// Sends everything; the future ends with the last answer, or when no more of them are waited for.
    func run(_ onProgress: (@Sendable (LoadProgress) -> Void)?) -> EventLoopFuture<Void> {
        let promise = self.dialer.eventLoop.makePromise(of: Void.self)
        self.phase = .running(promise)
        self.onProgress = onProgress
        self.beginning = MonotonicTime.now
        self.pump()
        return promise.futureResult
    }

    private var end: Int64 { self.beginning + self.scenario.length }

    /// Sends the due operations, and arranges for the next time.
    func pump() {
        guard self.isRunning, !self.isPumping else { return }
        self.isPumping = true
        let now = MonotonicTime.now
        let due = min(self.instant(now), self.scenario.length - 1)
        var next = now < self.end ? self.end : self.end + self.scenario.settle
        for index in self.lanes.indices
        where self.lanes[index].isUsed || self.lanes[index].waiting > 0 || self.lanes[index].held != nil {
            self.send(index, by: due, now)
            if self.lanes[index].held == nil, let following = self.lanes[index].nextDue,
                following < self.scenario.length
            {
                next = min(next, self.beginning + following)
            }
        }
        if let hostsNext = self.hosts.pump(now) { next = min(next, hostsNext) }
        self.flush()
        self.isPumping = false
        self.progress(now)
        if self.onProgress != nil { next = min(next, self.progressAt) }
        if now >= self.end, self.isSettled(now) { return self.finish() }
        self.wake(at: max(next, now + Self.shortestTick))
    }

    private func wake(at instant: Int64) {
        if self.tick != nil, self.tickAt <= instant { return }
        self.tick?.cancel()
        self.tickAt = instant
        let eventLoop = self.dialer.eventLoop
        let bound = NIOLoopBound(self, eventLoop: eventLoop)
        self.tick = eventLoop.scheduleTask(deadline: MonotonicTime.deadline(instant)) {
            bound.value.tick = nil
            bound.value.pump()
        }
    }

    private func flush() {
        for lane in self.lanes { for connection in lane.connections { connection.flushIfWritten() } }
        self.hosts.flush()
    }

    /// Sends the due operations of one lane, as far as there is room.
    private func send(_ index: Int, by due: Int64, _ now: Int64) {
        while let again = self.lanes[index].refused.first {
            guard let connection = self.lanes[index].connection(), self.requests.send(again, on: connection) else {
                return
            }
            self.lanes[index].popRefused()
        }
        while let (operation, isNew) = self.lanes[index].next(by: due) {
            if isNew { self.tally.due(operation.load, at: operation.due) } else { self.lanes[index].endHold(at: due) }
            guard self.perform(operation, index, wasHeld: self.lanes[index].wasHeld(operation), now) else {
                return self.lanes[index].hold(operation, at: due)
            }
        }
        self.tally.caughtUp(self.lanes[index].listener.rawValue, at: self.instant(now))
        guard let load = self.lanes[index].saturating, now < self.end else { return }
        while let connection = self.lanes[index].connection() {
            self.tally.due(load, at: self.instant(now))
            guard self.request(load, intended: now, on: connection) else { return }
            self.tally.sent(load, late: 0, wasHeldBack: false)
        }
    }

    /// - Returns: False if there is no room for it now.
    private func perform(_ operation: LoadSchedule.Operation, _ lane: Int, wasHeld: Bool, _ now: Int64) -> Bool {
        let load = operation.load
        let intended = self.beginning + operation.due
        let late = now - intended
        if self.scenario.loads[load].kind == .reconnects {
            self.tally.sent(load, late: late, wasHeldBack: wasHeld)
            self.hosts.reconnect(self.pickStream(load), load: load, intended: intended)
            return true
        }
        guard let connection = self.lanes[lane].connection() else { return false }
        guard self.request(load, intended: intended, on: connection) else { return false }
        self.tally.sent(load, late: late, wasHeldBack: wasHeld)
        return true
    }

    private func request(_ load: Int, intended: Int64, on connection: LoadConnection) -> Bool {
        let number = self.requests.takeNumber()
        if self.scenario.hasHosts { self.hosts.sent(number, load: load, intended: intended) }
        let subject = self.pickSubject(load)
        return self.requests.send(
            Exchange(streamID: 0, load: Int32(load), intended: intended, number: number, subject: Int32(subject)),
            on: connection
        )
    }

    /// The next host of a load, or the next value of one that pushes to values.
    private func pickSubject(_ load: Int) -> Int {
        guard self.scenario.loads[load].kind == .targeted else { return self.pickHost(load) }
        self.turns[load] += 1
        return self.turns[load]
    }

    private func pickHost(_ load: Int) -> Int { self.pick(load, self.scenario.hosts.count) }

    private func pickStream(_ load: Int) -> Int { self.pick(load, self.scenario.hosts.streams) }

    private func pick(_ load: Int, _ count: Int) -> Int {
        guard self.scenario.loads[load].order == .sequence else { return self.dice.below(count) }
        self.turns[load] += 1
        return (self.turns[load] - 1) % count
    }

    // MARK: The end

    /// Whether nothing is on its way any more, or has been for too long.
    private func isSettled(_ now: Int64) -> Bool {
        if now >= self.end + self.scenario.settle { return true }
        let isSending = self.lanes.contains { $0.held != nil || $0.waiting > 0 }
        return !isSending && self.hosts.isQuiet(now)
    }

    /// Ends the run.
    ///
    /// - Parameter failure: Why it ends early.
    private func finish(_ failure: String? = nil) {
        guard case .running(let promise) = self.phase else { return }
        self.phase = .ended(at: MonotonicTime.now, failure: failure)
        self.tick?.cancel()
        // An operation that was due and never sent counts as failed: no server is fast because it was not asked.
        for index in self.lanes.indices {
            while let (operation, isNew) = self.lanes[index].next(by: self.scenario.length - 1) {
                if isNew { self.tally.due(operation.load, at: operation.due) }
                let failure = LoadTally.Failure(status: 0, reason: "never sent")
                self.tally.failed(operation.load, failure, intended: operation.due)
            }
            for exchange in self.lanes[index].endRefused() { self.failed(exchange, 0, "not processed in time") }
            for connection in self.lanes[index].connections {
                for exchange in connection.endAll() { self.failed(exchange, 0, "no answer in time") }
                connection.close()
            }
        }
        self.hosts.close()
        promise.succeed()
    }

    /// Connects again in the place of a connection that has gone, and goes on trying: a server that comes back is
    /// found, and the operations that were due meanwhile are sent then.
    ///
    /// - Parameter reason: Why there is none. The run ends by it once the listener has had no connection for as long as the
    ///   scenario's ``LoadScenario/outageMax``.
    private func reconnect(_ lane: Int, _ index: Int, _ reason: String) {
        guard self.isRunning else { return }
        let outage = self.lanes[lane].disconnectedAt.map { MonotonicTime.now - $0 } ?? 0
        guard outage <= self.scenario.outageMax else {
            return self.finish("no connection for \(LoadValue.text(outage)): \(reason)")
        }
        // Each attempt waits for as long as the outage is already, so that a server that starts is not flooded.
        let delay = min(max(outage, Self.reconnectDelayMin), Self.reconnectDelayMax)
        let bound = NIOLoopBound(self, eventLoop: self.dialer.eventLoop)
        self.dialer.eventLoop.scheduleTask(in: .nanoseconds(delay)) {
            let driver = bound.value
            guard driver.isRunning else { return }
            let connection = driver.dial(lane, index) { [weak driver] in driver?.reconnect(lane, index, $0) }
            if let connection { driver.lanes[lane].connections[index] = connection }
        }
    }

    private func progress(_ now: Int64) {
        guard let onProgress, now >= self.progressAt else { return }
        self.progressAt = now + 500_000_000
        onProgress(
            LoadProgress(
                elapsed: self.instant(now),
                length: self.scenario.length,
                sent: self.tally.sent,
                answered: self.tally.answered,
                failed: self.tally.failed,
                waiting: self.lanes.reduce(0) { $0 + $1.waiting },
                reloads: self.tally.reloads,
                acknowledged: self.tally.acknowledged
            )
        )
    }
}

extension LoadDriver: LoadConnectionOwner {
    func connectionOpened(_ connection: LoadConnection) {
        if case .connecting(let left, let promise) = self.phase {
            self.phase = left > 1 ? .connecting(left: left - 1, promise) : .connected
            if left == 1 { promise.succeed() }
        }
        guard self.isRunning else { return }
        if let lane = self.lanes.firstIndex(where: { $0.connections.contains { $0 === connection } }) {
            self.lanes[lane].disconnectedAt = nil
            self.tally.outageEnded(self.lanes[lane].listener.rawValue, at: self.instant(MonotonicTime.now))
        }
        self.pump()
    }

    func connection(_ connection: LoadConnection, received batch: borrowing ResponseBatch, at now: Int64) {
        for index in batch.responses.indices {
            let response = batch.responses[index]
            guard let exchange = connection.end(response.streamID) else { continue }
            let load = Int(exchange.load)
            if (200..<300).contains(response.status) {
                self.tally.answered(load, intended: self.instant(exchange.intended), at: self.instant(now))
                if self.scenario.followed > 0, self.scenario.loads[load].listener == .push {
                    self.hosts.follow(exchange)
                }
            } else {
                let reason = LoadAnswer.reason(batch.bytes.span.extracting(response.body.indices))
                self.failed(exchange, response.status, reason)
            }
        }
    }

    func connection(_ connection: LoadConnection, lost exchange: Exchange, _ reason: String) {
        self.failed(exchange, 0, reason)
    }

    func connection(_ connection: LoadConnection, refused exchange: Exchange, _ reason: String) {
        let lane = self.lanes.firstIndex { lane in lane.connections.contains { $0 === connection } }
        guard self.isRunning, let lane, self.lanes[lane].takeBack(exchange) else {
            return self.failed(exchange, 0, reason)
        }
    }

    private func failed(_ exchange: Exchange, _ status: Int, _ reason: String) {
        let failure = LoadTally.Failure(status: status, reason: reason)
        self.tally.failed(Int(exchange.load), failure, intended: self.instant(exchange.intended))
    }

    func connectionReadCompleted(_ connection: LoadConnection) {
        // Only a waiting part can use them: a lane that is held back, or the end of the run.
        let isWaitedFor = self.lanes.contains { $0.held != nil || !$0.refused.isEmpty || $0.saturating != nil }
        if isWaitedFor || MonotonicTime.now >= self.end { self.pump() }
    }

    func connectionClosed(_ connection: LoadConnection, _ waiting: [Exchange], _ reason: String) {
        for exchange in waiting { self.failed(exchange, 0, reason) }
        guard self.isRunning else { return self.failedToConnect(reason) }
        self.tally.lostConnections += 1
        guard let lane = self.lanes.firstIndex(where: { $0.connections.contains { $0 === connection } }) else { return }
        if !self.lanes[lane].isConnected, self.lanes[lane].disconnectedAt == nil {
            self.lanes[lane].disconnectedAt = MonotonicTime.now
            self.tally.outageBegan(self.lanes[lane].listener.rawValue, at: self.instant(MonotonicTime.now))
        }
        self.reconnect(lane, connection.index, reason)
    }
}
