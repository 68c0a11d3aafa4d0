package import Engine
package import NIOCore
package import Partitions
package import Serving
package import WidgetModel

/// The rest of all instances' budgets together, kept fresh by walking over them in small steps.
///
/// A walk over a million instances takes some hundred milliseconds of the partitions' time, so a question is answered with the
/// last walk's result at once and never waits for one. The answer says how old it is: at most a rest and a walk's length while questions
/// come, and ``idle`` and a walk's length at the first question after a pause.
package actor BudgetSurveys {
    /// One walk's result.
    package struct Survey: Sendable {
        package let sum: BudgetSurvey
        /// The part of it that this node's partitions have.
        package let own: BudgetSurvey
        /// The partitions that are not in it: other nodes' while no question comes, and those that did not answer.
        package let missing: [PartitionID]
        /// When the walk began, and when it was through.
        package let from: Instant
        package let until: Instant
    }

    /// A walk is followed by a rest of so many times its length: it takes two percent of the time at most.
    private static let restFactor: Int64 = 50
    /// How long after a question walks stay frequent.
    private static let interest = TimeAmount.minutes(1)
    /// How often it is looked whether a walk is due.
    private static let look = Duration.seconds(1)

    private let log: CommandLog
    private let clock: LogClock
    /// Nil where hosts have none.
    private let streams: HostStreams?
    private let ageMin: TimeAmount
    private let idle: TimeAmount
    private var last: Survey?
    private var isWalking = false
    private var walkedAt = NIODeadline.uptimeNanoseconds(0)
    private var length = TimeAmount.zero
    private var askedAt: NIODeadline?
    private var waiting: [CheckedContinuation<Void, Never>] = []

    /// - Parameters:
    ///   - ageMin: A result that is younger is not replaced. Default 5 s.
    ///   - idle: How long a result is good while it is not asked for. Default 30 s.
    package init(
        log: CommandLog,
        clock: LogClock,
        streams: HostStreams? = nil,
        ageMin: TimeAmount = .seconds(5),
        idle: TimeAmount = .seconds(30)
    ) {
        self.log = log
        self.clock = clock
        self.streams = streams
        self.ageMin = ageMin
        self.idle = idle
    }

    /// The last walk's result, nil until the first since the start is through. Never waits; walks are frequent for a minute.
    package func current() -> Survey? {
        self.askedAt = NIODeadline.now()
        return self.last
    }

    /// The last result, for metrics: their constant readers must not cause frequent walks.
    package var latest: Survey? { self.last }

    /// Walks whenever the result is old, until the task is cancelled.
    package func run() async {
        while !Task.isCancelled {
            if self.isDue(NIODeadline.now()) { _ = try? await self.renew() }
            do {
                try await Task.sleep(for: Self.look)
            } catch {
                return
            }
        }
    }

    private func isDue(_ now: NIODeadline) -> Bool {
        guard self.last != nil else { return true }
        let rest = max(self.ageMin, .nanoseconds(self.length.nanoseconds * Self.restFactor))
        return now - self.walkedAt >= (self.isWanted(now) ? rest : max(rest, self.idle))
    }

    private func isWanted(_ now: NIODeadline) -> Bool { self.askedAt.map { now - $0 < Self.interest } ?? false }

    /// Walks now, or waits for the walk that is under way.
    ///
    /// - Throws: ``Problem`` if a partition has stopped, or the task was cancelled.
    @discardableResult
    package func renew() async throws(Problem) -> Survey {
        // Again and again: of several who waited for a walk that failed, one walks next.
        while self.isWalking {
            await withCheckedContinuation { self.waiting.append($0) }
            if let last = self.last { return last }
        }
        self.isWalking = true
        defer {
            self.isWalking = false
            for waiter in self.waiting { waiter.resume() }
            self.waiting = []
        }
        let started = NIODeadline.now()
        // A whole second, so that the seconds of all surveys are the same.
        let from = Instant(seconds: self.clock.now().seconds)
        var (sum, own) = (BudgetSurvey(from: from), BudgetSurvey(from: from))
        var missing: [PartitionID] = []
        let connected = self.streams?.connected ?? ([], [])
        for partition in self.log.partitionIDs {
            let isOwn = self.log.isPresent(partition)
            // Each node walks over its own all the time; over others' only for those who ask.
            guard isOwn || self.isWanted(started) else {
                missing.append(partition)
                continue
            }
            do throws(Problem) {
                let part = try await self.walk(partition, from, connected)
                sum += part
                if isOwn { own += part }
            } catch {
                guard error.code == .partitionAway else { throw error }
                missing.append(partition)
            }
        }
        let survey = Survey(sum: sum, own: own, missing: missing, from: from, until: self.clock.now())
        self.last = survey
        self.walkedAt = NIODeadline.now()
        self.length = self.walkedAt - started
        return survey
    }

    private func walk(
        _ partition: PartitionID,
        _ from: Instant,
        _ connected: (hosts: Set<HostKey>, apps: Set<BundleID>)
    ) async throws(Problem) -> BudgetSurvey {
        var survey = BudgetSurvey(from: from)
        var next: InstanceNumber? = InstanceNumber(0)
        while let start = next {
            // A gateway that ends does not wait for the rest of a million rows.
            guard !Task.isCancelled else { throw Problem(.unavailable, "the client of this survey left") }
            let step = try await self.log.ask(partition, SurveyQuestion(from: from, at: start))
            survey.add(step) { connected.apps.contains($0.app) || connected.hosts.contains($0) }
            next = step.next
        }
        return survey
    }
}

extension BudgetSurvey.KindRow {
    /// The share of a kind's instances without budget above which it is told of.
    private static let spentShare = 0.25

    /// Whether so many instances have used up their budgets that the log, To do and an alert tell of the kind.
    package var isSpent: Bool { Double(self.exhausted) > Double(self.instances) * Self.spentShare }
}
