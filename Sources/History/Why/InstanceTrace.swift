package import Engine
package import WidgetModel

/// The history of one widget instance, with reasons: the answer to `freshet why`.
package struct InstanceTrace: Sendable {
    package let address: InstanceAddress
    package let partition: PartitionID
    /// The beginning of the told time; nothing earlier is told.
    package let since: Instant
    /// The log's time at the end.
    package internal(set) var until: Instant
    /// The last entry that was read.
    package internal(set) var position = LogPosition.start
    /// The instance at the beginning and at the end; nil where no host showed it.
    package internal(set) var first: InstanceView?
    package internal(set) var last: InstanceView?
    /// Why it is behind now: of a gateway, which knows its hosts and targets, by name and in words; nil of a log alone.
    package var cause: (name: String, words: String)?
    /// The steps that changed it, in order.
    package internal(set) var steps: [TraceStep] = []
    /// The pushes that matched it, in order.
    package internal(set) var pushes: [TracedPush] = []
    package internal(set) var misses = TraceMisses()
    /// The instance's number in the gateway, by the position at which a reload was issued: see ``id(of:)``.
    package internal(set) var numbers: [LogPosition: InstanceNumber] = [:]
    /// The work of the search.
    package internal(set) var work = TraceWork()

    /// The id of one of the instance's reloads as hosts were told it. A replay of one host's records numbers instances
    /// otherwise than the gateway does; the outputs say how that did.
    package func id(of reload: ReloadID) -> ReloadID {
        self.numbers[reload.position].map { reload.numbered($0) } ?? reload
    }

    /// The same for a reader who may know of the instance's app alone: without other apps in records of several apps, and without the size
    /// of the part of the log that was read, which has all apps' records.
    package func ofOwnApp() -> InstanceTrace {
        let app = self.address.app
        var trace = self
        trace.work = TraceWork(droppedSteps: self.work.droppedSteps)
        for index in trace.steps.indices {
            switch trace.steps[index].record {
            case .settings(var settings):
                settings.apps.removeAll { $0.app != app }
                trace.steps[index].record = .settings(settings)
            case .configure(let change):
                var settings = change.settings
                settings?.apps.removeAll { $0.app != app }
                // Who has changed which app, or which team's keys, is for operators to see.
                trace.steps[index].record = .configure(SettingsChange(settings, from: change.base))
            case .register(let registration) where registration.app != app: trace.steps[index].record = nil
            case .unregister(let removal) where removal.host.app != app: trace.steps[index].record = nil
            default: break
            }
        }
        return trace
    }
}

/// One moment at which something happened to the instance.
package struct TraceStep: Sendable {
    package let at: Instant
    package let position: LogPosition
    /// The record that it came from; nil if it was time.
    package internal(set) var record: Record?
    /// The engine's answer to the record.
    package let answer: RecordAnswer.Result?
    /// The decisions about the instance, in order.
    package let decisions: [DecisionView]
    /// The reload that was issued, with the pushes that it serves.
    package let reload: ReloadEffect?
    package let served: [ServedPush]
    /// The reloads of which this was the end.
    package let ended: [ReloadID]
    /// Nil where no host showed the instance.
    package let before: BudgetView?
    package let after: BudgetView?
}

/// A push that matched the instance, and its outcomes there.
package struct TracedPush: Sendable {
    package struct Change: Hashable, Sendable {
        package let at: Instant
        package let position: LogPosition
        package let outcome: PushOutcome
        package let reason: DecisionReason
        /// Deferred until then.
        package let until: Instant?
        /// The reload that it is part of.
        package let reload: ReloadID?
    }

    package let record: PushRecord
    package let position: LogPosition
    package let acceptedAt: Instant
    package let verdict: MatchVerdict
    package internal(set) var changes: [Change] = []
    /// Whether the reload that serves it is on its account.
    var isPrimary = false

    /// Its outcome so far; nil for a moment while it is accepted.
    package var outcome: PushOutcome? { self.changes.last?.outcome }
}

/// The pushes that were for the instance's app or host, and not for the instance.
package struct TraceMisses: Sendable {
    package struct Miss: Sendable {
        package let at: Instant
        package let record: PushRecord
        package let verdict: MatchVerdict
    }

    package static let keptMax = 20

    package private(set) var count = 0
    /// The names of the conditions that failed first, and how often.
    private var byCondition: [String: Int] = [:]
    /// The newest, the oldest of them first.
    package private(set) var newest: [Miss] = []
    /// Repeats of pushes that were accepted before.
    package internal(set) var repeats = 0

    mutating func add(_ miss: Miss) {
        self.count += 1
        self.byCondition[miss.verdict.failed?.name ?? "", default: 0] += 1
        if self.newest.count == Self.keptMax { self.newest.removeFirst() }
        self.newest.append(miss)
    }

    /// By the name of the condition that failed first, the most frequent one first.
    package var counts: [(condition: String, count: Int)] {
        self.byCondition.map { ($0.key, $0.value) }.sorted { ($1.1, $0.0) < ($0.1, $1.0) }
    }
}

/// How much of the log was read and applied.
package struct TraceWork: Hashable, Sendable {
    package var entries = 0
    package var records = 0
    package var bytes = 0
    /// Records that were applied: those that may concern the instance, and time where a timer was due.
    package var applied = 0
    /// Steps that are not told, since there were too many.
    package var droppedSteps = 0
}
