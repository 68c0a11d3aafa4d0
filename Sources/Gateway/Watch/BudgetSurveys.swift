package import Engine
package import NIOCore
package import WidgetModel

/// What all instances together have left of their budgets, kept fresh by walking over them in small steps.
///
/// A walk over a million instances takes some hundred milliseconds of the partitions' time, so the question is answered
/// with the last walk's result, and walks are rare: how old it is stands in the answer.
package actor BudgetSurveys {
    /// One walk's result.
    package struct Survey: Sendable {
        package let sum: BudgetSurvey
        /// When the walk began, and when it was through.
        package let from: Instant
        package let until: Instant
    }

    /// Instances that are looked at in one step: about half a millisecond of a partition.
    private static let stepRows = 2048
    /// A walk is followed by a rest of so many times its length: it takes two percent of the time at most.
    private static let restFactor: Int64 = 50
    /// How long after a question walks stay frequent.
    private static let interest = TimeAmount.minutes(1)

    private let log: CommandLog
    private let clock: LogClock
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
    ///   - idle: How long a result is good while nobody asks. Default 30 s.
    package init(log: CommandLog, clock: LogClock, ageMin: TimeAmount = .seconds(5), idle: TimeAmount = .seconds(30)) {
        self.log = log
        self.clock = clock
        self.ageMin = ageMin
        self.idle = idle
    }

    /// The result to answer with: the last one, or if there is none that is young enough, that of a new walk.
    ///
    /// - Throws: ``Problem`` if a partition has stopped.
    package func current() async throws(Problem) -> Survey {
        let now = NIODeadline.now()
        self.askedAt = now
        if let last = self.last, self.isWalking || now - self.walkedAt < self.ageMin { return last }
        return try await self.walk()
    }

    /// The last result, if there is any: for metrics, which never wait.
    package var latest: Survey? { self.last }

    /// Walks again whenever the result is old, until the task is cancelled.
    package func run() async {
        while !Task.isCancelled {
            _ = try? await self.walk()
            let rest = max(self.ageMin, .nanoseconds(self.length.nanoseconds * Self.restFactor))
            let isWanted = self.askedAt.map { NIODeadline.now() - $0 < Self.interest } ?? false
            let nanoseconds = isWanted ? rest.nanoseconds : max(rest, self.idle).nanoseconds
            do {
                try await Task.sleep(for: .nanoseconds(nanoseconds))
            } catch {
                return
            }
        }
    }

    private func walk() async throws(Problem) -> Survey {
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
        let from = self.clock.now()
        var sum = BudgetSurvey(from: from)
        for number in 0..<self.log.partitions {
            sum += try await self.walk(PartitionID(UInt16(number)), from)
        }
        let survey = Survey(sum: sum, from: from, until: self.clock.now())
        self.last = survey
        self.walkedAt = NIODeadline.now()
        self.length = self.walkedAt - started
        return survey
    }

    private func walk(_ partition: PartitionID, _ from: Instant) async throws(Problem) -> BudgetSurvey {
        var survey = BudgetSurvey(from: from)
        var next: UInt32? = 0
        while let start = next {
            let before = survey
            (survey, next) = try await self.log.ask(partition) { engine in
                var survey = before
                let next = engine.survey(&survey, from: start, count: Self.stepRows)
                return (survey, next)
            }
        }
        return survey
    }
}
