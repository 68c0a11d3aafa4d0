import Engine
import NIOPosix
package import Partitions
package import Serving
import Synchronization
package import WidgetModel

/// The data that is kept for operators while the gateway runs: surveys of budgets, a history of totals, the live feed.
package final class GatewayWatch: Sendable {
    package let surveys: BudgetSurveys
    package let history: GatewayHistory
    package let feed: OperatorFeed
    package let startedAt: Instant
    private let log: CommandLog
    private let clock: LogClock
    private let counters: PushCounters
    private let senderLimits: SenderLimits
    private let due = Mutex(DueTimelines())

    package init(
        log: CommandLog,
        clock: LogClock,
        counters: PushCounters,
        senderLimits: SenderLimits,
        streams: HostStreams? = nil,
        surveys: BudgetSurveys? = nil,
        feed: OperatorFeed = OperatorFeed(epoch: 0),
        history: GatewayHistory = GatewayHistory()
    ) {
        self.log = log
        self.clock = clock
        self.counters = counters
        self.senderLimits = senderLimits
        self.surveys = surveys ?? BudgetSurveys(log: log, clock: clock, streams: streams)
        self.feed = feed
        self.history = history
        self.startedAt = clock.now()
    }

    /// Samples once a second and surveys now and then, until the task is cancelled. The history is written when it ends.
    package func run() async {
        await withTaskGroup { group in
            group.addTask { await self.surveys.run() }
            group.addTask { await self.sample() }
            group.addTask { await self.followSenders() }
        }
        // `runIfActive` would refuse, since this task is cancelled.
        await withCheckedContinuation { (written: CheckedContinuation<Void, Never>) in
            NIOThreadPool.singleton.submit { _ in
                self.history.write()
                written.resume()
            }
        }
    }

    /// How many timelines have asked for the next one, before smoothing and after.
    package var dueTimelines: DueTimelines { self.due.withLock { $0 } }

    /// Counts the timelines that have asked since the last time.
    package func countDueTimelines() async {
        guard let survey = await self.surveys.latest?.own else { return }
        let now = self.clock.now()
        self.due.withLock { $0.count(until: now, by: (survey.from, survey.asked, survey.planned)) }
    }

    /// Marks an event in the charts.
    ///
    /// - Parameter at: Nil for now.
    package func mark(_ kind: GatewayMark.Kind, _ text: String, at: Instant? = nil) {
        self.history.mark(GatewayMark(at: at ?? self.clock.now(), kind: kind, text: text))
    }

    private func sample() async {
        while !Task.isCancelled {
            await self.countDueTimelines()
            // A partition that has stopped is told of elsewhere.
            if let totals = try? await self.totals(), let sample = self.history.add(totals) {
                self.feed.publish(sample)
                NIOThreadPool.singleton.submit { _ in self.history.write() }
            }
            do {
                try await Task.sleep(for: .seconds(1))
            } catch {
                return
            }
        }
    }

    /// Counts the costs of senders once a minute. Other gateways' partitions that do not answer are counted later.
    private func followSenders() async {
        while !Task.isCancelled {
            try? await self.countSenders(by: self.log.noting(Coverage(of: self.log.partitions)))
            do {
                try await Task.sleep(for: .seconds(60))
            } catch {
                return
            }
        }
    }

    /// Counts the costs of senders since the last time.
    ///
    /// - Parameter log: Notes the partitions that are away.
    package func countSenders(by log: CommandLog) async throws(Problem) {
        let totals = try await log.askEach(SendersQuestion()).map { partition, senders in
            (partition, Dictionary(senders.map { ($0.team, $0.counts) }) { $1 })
        }
        self.history.add(Dictionary(totals) { $1 }, at: self.clock.now())
    }

    /// The counts up to now.
    package func totals() async throws(Problem) -> GatewayTotals {
        let sum = EngineStats(sumOf: try await self.log.askPresent(TotalsQuestion()).map(\.answer))
        var totals = GatewayTotals(at: self.clock.now())
        totals.matched = sum.matched
        totals.outcomes = sum.outcomes
        totals.reloadsIssued = sum.reloadsIssued
        totals.policyReloads = sum.reloadsByCause[Int(ReloadCause.policy.rawValue)]
        totals.freshness = sum.freshness
        totals.accepted = self.counters.accepted
        totals.rejected = self.counters.rejected.reduce(0) { $0 + $1.1 }
        totals.unavailable = self.counters.unavailable
        let limited = self.senderLimits.counters
        totals.rateLimited = limited[.app] + limited[.key] + limited[.token]
        totals.backlogFull = limited.backlogFull
        totals.inFlight = self.senderLimits.backlog.count
        let progress = await self.log.progress()
        totals.lag = progress.reduce(0) { $0 + Int(clamping: $1.lag) }
        totals.reloadsNotShown = self.feed.reloadsNotShown
        return totals
    }
}
