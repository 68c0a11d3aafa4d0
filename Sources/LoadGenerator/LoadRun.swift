import NIOCore
import NIOPosix

/// One run of a scenario against a server: connects, sends, waits for the answers on their way, and gives its counts.
///
/// All of it happens on one event loop, so on one core. The scene must be there: hosts that are not registered are not
/// found by pushes.
package struct LoadRun: Sendable {
    package let scenario: LoadScenario
    package let target: LoadTarget
    /// Names the run in the ids of its pushes.
    package let run: UInt64
    /// The revision of the first registration of any host.
    package let firstRevision: Int

    /// - Parameters:
    ///   - run: Any number that no other run against the server has had.
    ///   - firstRevision: More than any earlier run has used, such as the milliseconds since 1970; at least 2, since hosts
    ///     are there with 1.
    package init(_ scenario: LoadScenario, target: LoadTarget, run: UInt64, firstRevision: Int) {
        self.scenario = scenario
        self.target = target
        self.run = run
        self.firstRevision = firstRevision
    }

    /// - Parameters:
    ///   - clock: UNIX milliseconds now.
    ///   - processTime: CPU nanoseconds of this process so far.
    ///   - onBegin: Called when everything is connected and sending begins.
    /// - Throws: ``LoadError`` if it cannot begin.
    package func perform(
        clock: @Sendable () -> Int64,
        processTime: @escaping @Sendable () -> Int64,
        onBegin: @Sendable () -> Void = {},
        onProgress: (@Sendable (LoadProgress) -> Void)? = nil
    ) async throws -> LoadOutcome {
        try self.check()
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let eventLoop = group.next()
        do {
            let session = try await eventLoop.flatSubmit { LoadSession.open(self, eventLoop) }.get()
            let began = clock()
            onBegin()
            let outcome = try await eventLoop.flatSubmit {
                session.value.run(began: began, processTime: processTime, onProgress)
            }.get()
            try await group.shutdownGracefully()
            return outcome
        } catch {
            try? await group.shutdownGracefully()
            throw error
        }
    }

    /// Refuses a scenario that this target cannot run.
    private func check() throws(LoadError) {
        guard self.target.hostPort != nil || !self.needsGateway else {
            throw LoadError(
                "this scenario registers hosts, reads their streams or signals for them; it needs a gateway's host listener, not only a server for pushes"
            )
        }
        guard let cap = self.target.rateCap else { return }
        for load in self.scenario.loads {
            switch load.process {
            case nil:
                throw LoadError("\(load.name): the rate max is only for this machine; give a rate")
            case .uniform(let curve), .poisson(let curve):
                guard max(curve.from, curve.to) <= cap else {
                    throw LoadError("\(load.name): sends more than the \(Int(cap)) a second that --rate-cap allows")
                }
            case .burst(let count, let within):
                guard Double(count) * 1e9 / Double(max(1, within)) <= cap || count == 1 else {
                    throw LoadError("\(load.name): sends more than the \(Int(cap)) a second that --rate-cap allows")
                }
            case .trace(let trace):
                // A second of the trace has as many instants as lie between one and the last not a second later.
                var first = 0
                for (index, instant) in trace.instants.enumerated() {
                    while trace.instants[first] <= instant - 1_000_000_000 { first += 1 }
                    guard Double(index + 1 - first) <= cap else {
                        throw LoadError("\(load.name): sends more than the \(Int(cap)) a second that --rate-cap allows")
                    }
                }
            }
        }
    }

    private var needsGateway: Bool {
        self.scenario.hasHosts || self.scenario.followed > 0 || self.scenario.loads.contains { $0.kind != .pushes }
    }
}

/// The parts that live on the loop while a run is on.
private final class LoadSession {
    private let driver: LoadDriver
    private let dialer: LoadDialer

    private init(_ run: LoadRun, _ eventLoop: any EventLoop) {
        self.dialer = LoadDialer(target: run.target, eventLoop: eventLoop)
        self.driver = LoadDriver(run.scenario, self.dialer, run: run.run, firstRevision: run.firstRevision)
    }

    /// Connects everything.
    static func open(_ run: LoadRun, _ eventLoop: any EventLoop) -> EventLoopFuture<NIOLoopBound<LoadSession>> {
        let session = LoadSession(run, eventLoop)
        let bound = NIOLoopBound(session, eventLoop: eventLoop)
        return session.driver.open().flatMap { bound.value.driver.hosts.open() }.map { bound }
    }

    func run(
        began: Int64,
        processTime: @escaping @Sendable () -> Int64,
        _ onProgress: (@Sendable (LoadProgress) -> Void)?
    ) -> EventLoopFuture<LoadOutcome> {
        let before = processTime()
        let bound = NIOLoopBound(self, eventLoop: self.dialer.eventLoop)
        return self.driver.run(onProgress).map {
            let driver = bound.value.driver
            return LoadOutcome(
                tally: driver.tally,
                began: began,
                elapsed: driver.ending?.elapsed ?? 0,
                cpu: processTime() - before,
                failure: driver.ending?.failure
            )
        }
    }
}
