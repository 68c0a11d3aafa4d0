/// One listener's part of a run: its connections, and the operations that go there, in the order in which they are due.
struct Lane {
    enum Listener: Int, Hashable, CaseIterable {
        case push
        case host
    }

    let listener: Listener
    private(set) var schedule: LoadSchedule
    /// Of loads without a schedule: as many requests as there is room for.
    let saturating: Int?
    var connections: [LoadConnection] = []
    /// An operation that is due and has found no room yet.
    var held: LoadSchedule.Operation?
    /// Whether what is due now has waited for answers.
    var wasHeld = false
    private var turn = 0

    /// - Parameter loads: All loads of the scenario; those of this listener are its own.
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

    /// The next operation that is due, the one that was held first.
    mutating func next(by instant: Int64) -> LoadSchedule.Operation? {
        if let held = self.held {
            self.held = nil
            return held
        }
        return self.schedule.next(by: instant)
    }

    /// A connection with room, each in its turn; nil if there is none.
    mutating func connection() -> LoadConnection? {
        for _ in self.connections.indices {
            self.turn += 1
            if self.turn >= self.connections.count { self.turn = 0 }
            if self.connections[self.turn].room > 0 { return self.connections[self.turn] }
        }
        return nil
    }

    /// Requests that wait for answers.
    var waiting: Int { self.connections.reduce(0) { $0 + $1.waiting } }
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
