import Engine
package import Partitions
package import Serving
package import WidgetModel

/// Moves a movable clock on, stopping at every instant at which a timer is due, an entry has its date or a timeline provider is to be
/// asked, so that everything happens when it would have happened, and in that order. No time passes while a provider makes up its
/// answer. A move ends early when the client that asked for it has gone: the time that has passed by
/// then has passed.
package actor TimeTravel {
    private let clock: MovableClock
    private let logClock: LogClock
    private let log: CommandLog
    /// Nil where no kind has one.
    private let providers: (any ProviderStatus)?
    /// The move that is under way; moves come one after the other.
    private var last: Task<Instant, any Error>?

    package init(
        _ clock: MovableClock,
        _ logClock: LogClock,
        _ log: CommandLog,
        providers: (any ProviderStatus)? = nil
    ) {
        self.providers = providers
        self.clock = clock
        self.logClock = logClock
        self.log = log
    }

    /// Lets so much time pass, and returns when every timer due by then has fired in every partition.
    ///
    /// - Parameter stopsMax: At how many instants it stops at most. Each costs a record of the log.
    /// - Returns: The log's time afterwards.
    /// - Throws: A refusal where that is beyond ``MovableClock/end``, or where more is due than it may stop for: the clock
    ///   then stands where the last of it was done.
    package func pass(_ interval: Interval, stopsMax: Int) async throws(Problem) -> Instant {
        let before = self.last
        let task = Task { () throws -> Instant in
            _ = await before?.result
            return try await self.travel(interval, stopsMax: stopsMax)
        }
        self.last = task
        do {
            return try await withTaskCancellationHandler {
                try await task.value
            } onCancel: {
                task.cancel()
            }
        } catch let problem as Problem {
            throw problem
        } catch {
            throw Problem(.unavailable, "the clock could not be moved")
        }
    }

    private func travel(_ interval: Interval, stopsMax: Int) async throws(Problem) -> Instant {
        let target = self.logClock.now() + interval
        guard target <= MovableClock.end else {
            let end = RFC3339.text(of: MovableClock.end) ?? ""
            throw Problem(
                .badRequest,
                "that is beyond \(end), the last time that the clock can be moved to; start another gateway"
            )
        }
        var stops = 0
        while let due = try await self.nextDue(), due <= target {
            guard !Task.isCancelled else { throw Problem(.unavailable, "the client left; the clock stays here") }
            guard stops < stopsMax else { throw self.tooManyStops(stopsMax) }
            stops += 1
            self.clock.move(by: due - self.logClock.now())
            // An entry's time is read when it is committed, not before now; each partition fires the timers that are
            // due by it.
            _ = try await self.log.appendToAll(.tick)
        }
        self.clock.move(by: target - self.logClock.now())
        _ = try await self.log.appendToAll(.tick)
        _ = await self.providers?.settle()
        return self.logClock.now()
    }

    private func tooManyStops(_ stopsMax: Int) -> Problem {
        let now = RFC3339.text(of: self.logClock.now()) ?? ""
        return Problem(
            .tooMuchWork,
            "the clock stopped at \(now), after \(stopsMax) instants at which something was due; move it on again, or raise limits.maxClockStops"
        )
    }

    /// Settles the work of the present. Returns when there is more to do; nil for never.
    private func nextDue() async throws(Problem) -> Instant? {
        // First: the answers of providers arm timers.
        let asked = await self.providers?.settle()
        let timers = try await self.log.askAll(ProgressQuestion()).map(\.nextTimer)
        return (timers + [asked]).compactMap(\.self).min()
    }
}
