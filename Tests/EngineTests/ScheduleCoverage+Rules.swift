import WidgetModel

@testable import Engine

/// The cells that schedules can meet by the engine's rules, and those that they meet but seldom.
extension ScheduleCoverage {
    private static let phases: [Phase] = [.atRest, .waiting, .outstanding, .waitingAndOutstanding]

    /// The outcomes of each kind of record. A record that decides an instance anew may find that its timeline's own reload has to wait.
    /// Channels, traces, notes on operators, invalidations and the settings of a start decide nothing. The outcomes of timers that were due are counted with the
    /// ticks.
    private static let outcomes: [Record.Tag: [PushOutcome]] = [
        .configure: [.deferred, .issued],
        .push: [.deferred, .issued, .coalesced, .superseded, .expired, .unchanged, .failed],
        .register: [.deferred, .issued, .removed],
        .unregister: [.deferred, .removed],
        .signal: [.deferred, .issued, .reloaded, .exempt],
        .timeline: [.deferred, .issued, .reloaded, .exempt],
        .delivery: [.deferred, .issued, .reloaded, .exempt, .failed],
        .appReload: [.deferred, .issued, .coalesced, .unchanged],
        .tick: [.deferred, .issued, .expired, .removed, .failed],
        .order: [.deferred, .issued, .coalesced, .cancelled],
    ]

    /// Why a cell is never met; nil if it can be.
    static func obstacle(_ cell: Cell) -> String? {
        guard let outcomes = self.outcomes[cell.record] else { return "such a record decides nothing" }
        // Between the millisecond at which a push expires and the second at which its timer fires, any record may find it.
        guard outcomes.contains(cell.outcome) || cell.outcome == .expired else {
            return "such a record does not come to that"
        }
        // Of several timers that one tick fires, a later one finds what an earlier one left.
        return cell.record == .tick ? nil : self.phaseObstacle(cell)
    }

    /// Why one step from this phase does not come to the outcome.
    private static func phaseObstacle(_ cell: Cell) -> String? {
        switch cell.outcome {
        case .superseded, .cancelled: cell.phase.isWaiting ? nil : "nothing waits"
        case .expired: cell.record == .push || cell.phase.isWaiting ? nil : "only what waits expires"
        case .coalesced: cell.record != .push || cell.phase.isWaiting ? nil : "nothing waits that it could join"
        case .failed where cell.record == .push:
            cell.phase.isWaiting ? nil : "there is room as long as nothing waits"
        case .unchanged: cell.phase == .atRest ? nil : "what it shows is known at rest only"
        case .removed: cell.phase != .atRest ? nil : "nothing is there to be removed"
        case .reloaded, .exempt, .failed: cell.phase.isOutstanding ? nil : "no reload is outstanding"
        case .deferred, .issued: nil
        }
    }

    /// Whether a cell is met too seldom to be demanded, though nothing forbids it.
    private static func isSeldom(_ cell: Cell) -> Bool {
        // The timelines of hosts behind APNs are their own.
        if cell.record == .tick, cell.outcome == .deferred { return cell.delivery == .apns }
        if cell.record == .tick { return self.phaseObstacle(cell) != nil }
        return switch (cell.record, cell.outcome) {
        // A timeline's own reload gets another reason to wait by some other record, or by none.
        case (let record, .deferred) where record != .push && record != .appReload: true
        // A push expires between two seconds, and a record comes before the second is over.
        case (let record, .expired) where record != .push: true
        // The answer to one reload lets another begin at that very instant.
        case (.delivery, .issued), (.timeline, .issued): true
        // A sibling of the widget that these release shares its token, or its timeline is due within the second.
        case (.configure, .issued), (.order, .issued): !cell.phase.isWaiting
        case (.signal, .issued): cell.delivery == .apns && !cell.phase.isWaiting
        // A widget that the system has just reloaded is acknowledged, or waits for more, before the app asks.
        case (.appReload, .coalesced): cell.delivery != .apns && !cell.phase.isOutstanding
        // Few orders are for reloads.
        case (.order, .coalesced): true
        default: false
        }
    }

    /// The cells that have to be met.
    static var demanded: [Cell] { self.all.filter { self.obstacle($0) == nil && !self.isSeldom($0) } }

    private static var all: [Cell] {
        Record.Tag.allCases.flatMap { record in
            HostDelivery.allCases.flatMap { delivery in
                Self.phases.flatMap { phase in
                    PushOutcome.allCases.map { outcome in
                        Cell(record: record, delivery: delivery, phase: phase, outcome: outcome)
                    }
                }
            }
        }
    }

    /// The cells that were met although they are impossible.
    var impossible: [String] {
        self.cells.keys.compactMap { cell in
            Self.obstacle(cell).map { "\(cell.record), \(cell.delivery), \(cell.phase), \(cell.outcome): \($0)" }
        }.sorted()
    }
}

extension ScheduleCoverage {
    /// The cells that were met less often than they should have been.
    ///
    /// - Parameter least: How often; nil if it is enough that each reason, kind of record and event was met at all.
    func missing(least: Int?) -> [String] {
        let most = least ?? 1
        var found: [String] = []
        for tag in Record.Tag.allCases where self.records[tag, default: 0] < most { found.append("record \(tag)") }
        // Nothing ends as `joined`: a match that joins another reload waits for it, and ends with it.
        for reason in DecisionReason.allCases where reason != .joined && self.reasons[reason, default: 0] < most {
            found.append("reason \(reason)")
        }
        if let least {
            for cell in Self.demanded where self.cells[cell, default: 0] < least {
                found.append("\(cell.record), \(cell.delivery), \(cell.phase), \(cell.outcome)")
            }
        }
        for event in Self.expectedEvents where self.events[event, default: 0] < most { found.append(event) }
        return found
    }

    /// Everything that was met, as Markdown: a row for each kind of record, delivery and outcome, by phase.
    var table: String {
        var lines = ["| record | met |", "|---|---|"]
        lines += Record.Tag.allCases.map { "| \($0) | \(self.records[$0, default: 0]) |" }
        lines += ["", "| reason | met |", "|---|---|"]
        lines += DecisionReason.allCases.map { "| \($0) | \(self.reasons[$0, default: 0]) |" }
        lines += ["", "| what else | met |", "|---|---|"]
        lines += Self.expectedEvents.map { "| \($0) | \(self.events[$0, default: 0]) |" }
        lines += ["", "| record | delivery | outcome | at rest | waiting | outstanding | both |"]
        lines.append("|" + String(repeating: "---|", count: 7))
        for tag in Record.Tag.allCases {
            for delivery in HostDelivery.allCases {
                for outcome in PushOutcome.allCases {
                    let counts = Self.phases.map { phase in
                        self.cells[Cell(record: tag, delivery: delivery, phase: phase, outcome: outcome), default: 0]
                    }
                    guard counts.contains(where: { $0 > 0 }) else { continue }
                    let numbers = counts.map(String.init).joined(separator: " | ")
                    lines.append("| \(tag) | \(delivery) | \(outcome) | \(numbers) |")
                }
            }
        }
        return lines.joined(separator: "\n")
    }
}
