import Engine
import HTTPTransport
import Logging
import OperatorAPI
import Ownership
import Partitions
import Serving
import Settings
import Synchronization
import WidgetModel

extension Gateway {
    /// The snapshotter that writes the partitions' states down, if there is a place for them.
    func makeSnapshotter() -> Snapshotter? {
        guard let store = self.stores.snapshots else { return nil }
        let snapshotter = Snapshotter(
            owners: self.owners,
            journal: self.watched,
            store: store,
            settings: self.configuration.snapshots,
            clock: self.clock,
            logger: self.logs.logger(.snapshots),
            storage: self.storage
        )
        self.settings.follow(\.snapshots) { snapshotter.applySettings($0) }
        return snapshotter
    }

    /// Forgets the history of the partitions that are here: the log, earlier states and the decisions on disk. Nil where there are no
    /// snapshots to go on with.
    func forgetHistory(_ parts: Parts) -> ForgetHistory? {
        guard let snapshotter = parts.snapshotter else { return nil }
        return { [logger = self.logs.logger(.snapshots)] in
            do {
                let forgotten = try await snapshotter.forgetHistory()
                try await parts.filer?.removeAll()
                return forgotten
            } catch let absence as OwnerError {
                throw absence
            } catch {
                logger.error("history could not be forgotten", metadata: ["error": "\(error)"])
                throw Problem(.unavailable, "\(error)")
            }
        }
    }
}

// MARK: End

extension Gateway {
    /// Has the log end with a snapshot of every partition, if that does not take too long.
    ///
    /// - Parameter writing: Makes the usual ones, and was cancelled: one may be under way.
    func makeLastSnapshots(_ snapshotter: Snapshotter, after writing: Task<Void, Never>) async {
        let time = self.settings.inForce.timeouts.lastSnapshot
        let (ends, end) = AsyncStream.makeStream(of: Bool.self)
        Task {
            await writing.value
            await snapshotter.makeLastSnapshots()
            end.yield(true)
        }
        let waiting = Task {
            try? await Task.sleep(for: .milliseconds(time.milliseconds))
            end.yield(false)
        }
        // In a task of its own, since the gateway's may have been cancelled.
        let isDone = await Task { await ends.first { _ in true } ?? false }.value
        waiting.cancel()
        guard !isDone else { return }
        // Their answers may never come.
        for owner in self.owners { owner.stopNow() }
        self.logger.warning(
            "the last snapshots were not ready in time; the next start replays the log",
            metadata: ["timeouts.lastSnapshot": "\(time)"]
        )
    }
}

// MARK: Time

extension Gateway {
    /// How far the log may be ahead of the clock before that is worth a word: clocks are set by less all the time.
    private static let clockTolerance = Interval.seconds(1)

    /// Finds out where the log's time is, and says so if the clock is not there yet.
    func noteNewestEntry() async throws {
        let newest = try await self.log.askPresent(TotalsQuestion()).map(\.answer.time).max() ?? .epoch
        self.newestEntry.withLock { $0 = newest }
        let ahead = newest - self.clock.now()
        self.watchClock()
        guard ahead > Self.clockTolerance else { return }
        self.logger.error(
            "the clock is behind the log's newest entry: until it has passed it, no timer fires and the gateway is not ready",
            metadata: ["newest": "\(newest)", "behind": "\(ahead)"]
        )
    }

    /// Tells readiness the state of the clock. Nothing else asks for the time in an idle gateway.
    func watchClock() {
        let now = self.clock.now()
        self.readiness.set(.clock, met: !self.clock.isStepped)
        self.readiness.set(.logTime, met: self.newestEntry.withLock { $0 } - now <= Self.clockTolerance)
    }
}

// MARK: Start

extension Gateway {
    /// Opens the listener for probes, which needs nothing that a start has to read.
    func openHealth(_ plan: HTTPListenerConfiguration?) async throws -> HTTPServer? {
        guard let plan else { return nil }
        let readiness = self.readiness
        return try await HTTPServer.start(plan, on: self.loops.health, logger: self.logs.logger(.http)) { loop in
            AsyncRequestHandler(
                eventLoop: loop,
                answerAtOnce: { HealthRoutes.respond(to: $0, readiness) },
                respond: { _ in HTTPResponse(problem: .noRoute) }
            )
        }
    }
}
