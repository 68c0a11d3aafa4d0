import Timelines
import WidgetModel

@testable import Engine

/// The coverage of random schedules: records by their outcomes, and every reason for a decision.
struct ScheduleCoverage {
    /// The outcome of one record for one instance.
    struct Cell: Hashable {
        let record: Record.Tag
        let delivery: HostDelivery
        /// The instance's phase before the record.
        let phase: Phase
        let outcome: PushOutcome
    }

    /// An instance before a record.
    struct Standing {
        let instance: InstanceNumber
        let delivery: HostDelivery
        let phase: Phase
        let lastDecision: UInt64
    }

    private(set) var cells: [Cell: Int] = [:]
    private(set) var records: [Record.Tag: Int] = [:]
    private(set) var reasons: [DecisionReason: Int] = [:]
    /// Events of a schedule beside records and decisions.
    private(set) var events: [String: Int] = [:]

    /// The ``events`` that must have been met.
    static let expectedEvents = [
        "pushes to tokens", "pushes to a control's token", "invalidations", "leases that ended",
        "policies that changed",
        "records with tombstones", "records under a standing pause", "records with channels", "snapshots read back",
        "orders: pause", "orders: resume", "orders: cancel", "orders: grant", "orders: reload",
    ]

    static func standings(_ engine: borrowing Engine) -> [Standing] {
        var found: [Standing] = []
        for instance in engine.registry.usedInstances() {
            found.append(
                Standing(
                    instance: instance,
                    delivery: engine.registry[engine.registry[instance].host].delivery,
                    phase: engine.schedule.phase(of: instance),
                    lastDecision: engine.schedule[instance].lastDecision
                )
            )
        }
        return found
    }

    mutating func note(_ record: Record.Tag) { self.records[record, default: 0] += 1 }

    /// Why an instance waits, from a record on.
    mutating func note(_ reason: DecisionReason) { self.reasons[reason, default: 0] += 1 }

    mutating func note(_ event: String) { self.events[event, default: 0] += 1 }

    /// - Parameter isAlone: Whether no timer fired before the record: then its outcomes are its own. The outcomes of timers are counted
    ///   with the ticks.
    mutating func note(_ decision: DecisionLog.Entry, of standing: Standing?, _ record: Record.Tag, isAlone: Bool) {
        self.reasons[decision.reason, default: 0] += 1
        guard let standing, isAlone else { return }
        let cell = Cell(
            record: record,
            delivery: standing.delivery,
            phase: standing.phase,
            outcome: decision.outcome
        )
        self.cells[cell, default: 0] += 1
    }

    mutating func add(_ other: ScheduleCoverage) {
        self.cells.merge(other.cells, uniquingKeysWith: +)
        self.records.merge(other.records, uniquingKeysWith: +)
        self.reasons.merge(other.reasons, uniquingKeysWith: +)
        self.events.merge(other.events, uniquingKeysWith: +)
    }
}
