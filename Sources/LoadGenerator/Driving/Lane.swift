import DequeModule

/// One listener's part of a run: its connections, and the operations that go there, in the order in which they are due.
struct Lane {
    enum Listener: String, Hashable, CaseIterable {
        case push
        case host
    }

    let listener: Listener
    private(set) var schedule: LoadSchedule
    /// Of loads without a schedule: as many requests as there is room for.
    let saturating: Int?
    var connections: [LoadConnection] = []
    /// Since when there is none that takes requests, in nanoseconds of the monotonic clock; nil while there is one.
    var disconnectedAt: Int64?
    /// An operation that is due and has found no room yet.
    private(set) var held: LoadSchedule.Operation?
    /// Until when a due operation found no room, in nanoseconds after the run's beginning. All operations that were due by then had to wait
    /// for answers, not only the first.
    private(set) var heldUntil: Int64 = -1
    /// Requests that a server did not process, to be sent again before the operations that are due now.
    private(set) var refused: Deque<Exchange> = []
    private var turn = 0

    /// How often one request is sent again; then it counts as failed.
    private static let resendsMax: Int32 = 8

    /// - Parameter scenario: All loads; those of this listener are its own.
    init(_ listener: Listener, of scenario: LoadScenario) {
        self.listener = listener
        let isOwn = scenario.loads.map { $0.listener == listener }
        self.schedule = LoadSchedule(
            zip(scenario.loads, isOwn).map { load, isOwn in
                isOwn ? load.process.map { (load.start, $0) } : nil
            },
            seed: scenario.seed
        )
        self.saturating = scenario.loads.firstIndex { $0.listener == listener && $0.process == nil }
    }

    var isUsed: Bool { self.schedule.nextDue != nil || self.saturating != nil }

    var nextDue: Int64? { self.schedule.nextDue }

    /// The next operation that is due, the one that was held first; `isNew` unless it was held.
    mutating func next(by instant: Int64) -> (operation: LoadSchedule.Operation, isNew: Bool)? {
        if let held = self.held.take() { return (held, false) }
        return self.schedule.next(by: instant).map { ($0, true) }
    }

    /// An operation finds no room: it waits, and so does all that is due until there is some.
    mutating func hold(_ operation: LoadSchedule.Operation, at now: Int64) {
        self.held = operation
        self.heldUntil = max(self.heldUntil, now)
    }

    /// There is room again for the held operation.
    mutating func endHold(at now: Int64) { self.heldUntil = max(self.heldUntil, now) }

    /// Takes back a request that was not processed.
    ///
    /// - Returns: Whether it is sent again: false if it was, often enough.
    mutating func takeBack(_ exchange: Exchange) -> Bool {
        guard exchange.resends < Self.resendsMax else { return false }
        var exchange = exchange
        exchange.resends += 1
        self.refused.append(exchange)
        return true
    }

    /// The request that is to be sent again first has been.
    mutating func popRefused() { self.refused.removeFirst() }

    /// Gives up the requests that are still to be sent again.
    mutating func endRefused() -> [Exchange] {
        defer { self.refused = [] }
        return Array(self.refused)
    }

    /// Whether an operation had to wait for answers.
    func wasHeld(_ operation: LoadSchedule.Operation) -> Bool { operation.due <= self.heldUntil }

    /// A connection with room, each in its turn; nil if there is none.
    mutating func connection() -> LoadConnection? {
        for _ in self.connections.indices {
            self.turn += 1
            if self.turn >= self.connections.count { self.turn = 0 }
            if self.connections[self.turn].room > 0 { return self.connections[self.turn] }
        }
        return nil
    }

    /// Whether requests can be sent, now or when answers have come.
    var isConnected: Bool { self.connections.contains { $0.isUsable } }

    /// Requests that wait for answers, or to be sent again.
    var waiting: Int { self.connections.reduce(self.refused.count) { $0 + $1.waiting } }
}

extension Load {
    /// Where its requests go.
    var listener: Lane.Listener {
        switch self.kind {
        case .pushes, .targeted: .push
        case .registrations, .signals, .reconnects: .host
        }
    }
}
