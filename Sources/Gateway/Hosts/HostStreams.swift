package import Engine
import Synchronization
package import WidgetModel

/// The event streams that are open: who is told of what.
///
/// A stream is for one host, or for all hosts of an app (its back end acts for them). Events wait in a bounded buffer
/// each; a reader that lets it fill is cut off, and is offered what it missed when it connects again. Streams end by
/// themselves after a while, each at a time of its own, so that readers spread over gateways that came later and a
/// credential that was revoked is not used for ever.
package final class HostStreams: Sendable {
    /// Whose events a stream carries.
    package enum Scope: Hashable, Sendable {
        case host(HostID)
        case app(BundleID)
    }

    /// What goes out on a stream, with the place to resume from behind it.
    package enum Event: Hashable, Sendable {
        case event(HostEvent, StreamCursor)
        case heartbeat(StreamCursor)
    }

    /// What a reader has missed.
    package enum Missed: Hashable, Sendable {
        /// It is new: nobody can say.
        case unknown
        /// These events, since the place that it named.
        case events([HostEvent])
        /// The place that it named is too long ago, or not of this gateway.
        case gap
    }

    /// One open stream. Cancel it when its reader has gone.
    package struct Subscription: Sendable {
        package let events: AsyncStream<Event>
        package let missed: Missed
        /// The place where ``events`` begins.
        package let start: StreamCursor
        /// How long the reader is asked to wait before it connects again, in milliseconds: each its own length, so that
        /// they do not all come back in one instant.
        package let retryMilliseconds: Int
        package let scope: Scope
        fileprivate let number: UInt64
    }

    /// Why a stream was not opened.
    package enum Refusal: Error, Hashable, Sendable {
        /// The host, or the app, has as many open as it may.
        case tooManyOfScope(max: Int)
        case tooMany(max: Int)
        case closing
    }

    /// The bounds of the streams.
    package struct Limits: Hashable, Sendable {
        /// Streams of one host, or for all hosts of one app. Default 4.
        package var perScopeMax = 4
        /// Streams in all. Default 50,000.
        package var allMax = 50_000
        /// Events that wait for one reader before it is cut off. Default 4,096; an app's own stream gets 64 times that.
        package var bufferMax = 4096
        /// Events that are kept for readers that come back. Default 16,384.
        package var historyMax = 16_384
        /// How many heartbeats a stream lives, by a quarter more or less. Default 240, an hour with one in 15 s.
        package var rotationBeats = 240
        /// The longest wait that a reader is asked for before it connects again. Default 5 s; at least one second.
        package var retryMax = Interval.seconds(5)

        package init() {}
    }

    /// What has happened to streams so far.
    package struct Counters: Hashable, Sendable {
        /// Readers that were cut off because they were too slow.
        package var cutOff = 0
        /// Streams that ended since they had lived long enough.
        package var rotated = 0
        /// Readers that came back, and what they had missed was not known any more.
        package var gaps = 0
        /// Streams that were not opened: too many of the scope, and too many in all.
        package var refusedOfScope = 0
        package var refused = 0
    }

    private struct Stream {
        let number: UInt64
        let continuation: AsyncStream<Event>.Continuation
        var beatsLeft: Int
    }

    private struct Table {
        var limits: Limits
        var streams: [Scope: [Stream]] = [:]
        var count = 0
        var next: UInt64 = 0
        var isClosing = false
        var counters = Counters()
        var history: StreamHistory
    }

    private static let appBufferFactor = 64
    private static let retryMin = Interval.seconds(1)

    private let table: Mutex<Table>
    private let seed: UInt64

    /// - Parameter seed: Spreads what is to happen to streams at different times, and tells this gateway's places in
    ///   streams from others'.
    package init(limits: Limits = Limits(), seed: UInt64 = 0) {
        self.seed = StableHash.mix(seed)
        let history = StreamHistory(epoch: UInt32(truncatingIfNeeded: self.seed), capacity: limits.historyMax)
        self.table = Mutex(Table(limits: limits, history: history))
    }

    /// Keeps other bounds from now on. Streams that are open stay, with the buffers and the lives that they have.
    package func use(_ limits: Limits) {
        self.table.withLock { table in
            table.limits = limits
            table.history.use(capacity: limits.historyMax)
        }
    }

    /// Streams that are open now.
    package var count: Int { self.table.withLock { $0.count } }
    package var counters: Counters { self.table.withLock { $0.counters } }

    /// How many streams each of these hosts has open.
    package func open(of hosts: [HostID]) -> [Int] {
        self.table.withLock { table in hosts.map { table.streams[.host($0)]?.count ?? 0 } }
    }

    /// Opens a stream.
    ///
    /// - Parameter last: The place behind the last event that the reader saw; nil if it does not say, and
    ///   ``Missed/unknown`` then.
    package func subscribe(_ scope: Scope, after last: String? = nil) throws(Refusal) -> Subscription {
        let limits = self.table.withLock { $0.limits }
        let bufferMax =
            switch scope {
            case .host: limits.bufferMax
            case .app: limits.bufferMax * Self.appBufferFactor
            }
        let (events, continuation) = AsyncStream.makeStream(
            of: Event.self,
            bufferingPolicy: .bufferingOldest(bufferMax)
        )
        let result = self.table.withLock { table -> Result<Subscription, Refusal> in
            if let refusal = Self.refusal(scope, &table) { return .failure(refusal) }
            table.next += 1
            let luck = StableHash.mix(self.seed ^ table.next)
            let stream = Stream(number: table.next, continuation: continuation, beatsLeft: Self.lifetime(luck, limits))
            table.streams[scope, default: []].append(stream)
            table.count += 1
            let subscription = Subscription(
                events: events,
                missed: Self.missed(scope, last, &table),
                start: table.history.end,
                retryMilliseconds: Self.retryMilliseconds(luck, limits),
                scope: scope,
                number: table.next
            )
            return .success(subscription)
        }
        let subscription = try result.get()
        let number = subscription.number
        // A reader may go before it has read anything: a stream that nobody holds any more must not keep its place.
        continuation.onTermination = { [weak self] _ in self?.remove(number, of: scope) }
        return subscription
    }

    private static func refusal(_ scope: Scope, _ table: inout Table) -> Refusal? {
        if table.isClosing { return .closing }
        if table.count >= table.limits.allMax {
            table.counters.refused += 1
            return .tooMany(max: table.limits.allMax)
        }
        if table.streams[scope]?.count ?? 0 >= table.limits.perScopeMax {
            table.counters.refusedOfScope += 1
            return .tooManyOfScope(max: table.limits.perScopeMax)
        }
        return nil
    }

    private static func missed(_ scope: Scope, _ last: String?, _ table: inout Table) -> Missed {
        guard let last, !last.isEmpty else { return .unknown }
        if let cursor = StreamCursor(last), let events = table.history.events(after: cursor, for: scope) {
            return .events(events)
        }
        table.counters.gaps += 1
        return .gap
    }

    /// How many heartbeats a stream lives: three quarters to five quarters of what is configured.
    private static func lifetime(_ luck: UInt64, _ limits: Limits) -> Int {
        let beats = UInt64(limits.rotationBeats)
        return Int(max(1, beats - beats / 4 + StableHash.reduce(luck, below: beats / 2 + 1)))
    }

    private static func retryMilliseconds(_ luck: UInt64, _ limits: Limits) -> Int {
        let spread = max(.zero, limits.retryMax - Self.retryMin).milliseconds
        return Int(
            Self.retryMin.milliseconds + Int64(StableHash.reduce(StableHash.mix(luck), below: UInt64(spread) + 1))
        )
    }

    package func cancel(_ subscription: Subscription) {
        self.remove(subscription.number, of: subscription.scope)?.finish()
    }

    /// Hands what came out of an engine to the streams of its hosts and apps.
    package func publish(_ effects: [Effect]) {
        let events = effects.compactMap { effect -> HostEvent? in
            switch effect {
            case .reload(let reload): HostEvent.reload(reload)
            case .invalidation(let invalidation): HostEvent.invalidation(invalidation)
            // For the deliverer to APNs.
            case .push: nil
            }
        }
        self.publish(events)
    }

    /// Hands events to the streams of their hosts and apps.
    package func publish(_ events: [HostEvent]) {
        let slow = self.table.withLock { table in
            var slow: [AsyncStream<Event>.Continuation] = []
            for event in events {
                let cursor = table.history.append(event)
                guard table.count > 0 else { continue }
                if let host = event.host { Self.send(.event(event, cursor), to: .host(host), &table, &slow) }
                Self.send(.event(event, cursor), to: .app(event.app), &table, &slow)
            }
            return slow
        }
        for continuation in slow { continuation.finish() }
    }

    /// Writes a heartbeat to every stream, so that both ends notice a connection that died, and ends those that have
    /// lived long enough.
    package func beat() {
        let ended = self.table.withLock { table in
            var ended: [AsyncStream<Event>.Continuation] = []
            let heartbeat = Event.heartbeat(table.history.end)
            for scope in Array(table.streams.keys) {
                Self.send(heartbeat, to: scope, &table, &ended)
                Self.age(scope, &table, &ended)
            }
            return ended
        }
        for continuation in ended { continuation.finish() }
    }

    private static func age(_ scope: Scope, _ table: inout Table, _ ended: inout [AsyncStream<Event>.Continuation]) {
        guard let streams = table.streams[scope] else { return }
        for index in streams.indices { table.streams[scope]?[index].beatsLeft -= 1 }
        for stream in streams where stream.beatsLeft <= 1 {
            guard let continuation = Self.remove(stream.number, of: scope, from: &table) else { continue }
            table.counters.rotated += 1
            ended.append(continuation)
        }
    }

    /// Ends every stream and opens no more: the gateway is draining.
    package func close() {
        let open = self.table.withLock { table in
            table.isClosing = true
            let open = table.streams.values.flatMap { $0 }
            table.streams = [:]
            table.count = 0
            return open.map(\.continuation)
        }
        for continuation in open { continuation.finish() }
    }

    /// Takes out the readers that were too slow; the caller finishes them once the lock is let go, because a stream that
    /// ends takes the lock too.
    private static func send(
        _ event: Event,
        to scope: Scope,
        _ table: inout Table,
        _ slow: inout [AsyncStream<Event>.Continuation]
    ) {
        guard let streams = table.streams[scope] else { return }
        for stream in streams {
            guard case .dropped = stream.continuation.yield(event) else { continue }
            table.counters.cutOff += 1
            if let continuation = Self.remove(stream.number, of: scope, from: &table) { slow.append(continuation) }
        }
    }

    @discardableResult
    private func remove(_ number: UInt64, of scope: Scope) -> AsyncStream<Event>.Continuation? {
        self.table.withLock { Self.remove(number, of: scope, from: &$0) }
    }

    private static func remove(
        _ number: UInt64,
        of scope: Scope,
        from table: inout Table
    ) -> AsyncStream<Event>.Continuation? {
        guard var streams = table.streams[scope], let index = streams.firstIndex(where: { $0.number == number }) else {
            return nil
        }
        let continuation = streams.remove(at: index).continuation
        table.streams[scope] = streams.isEmpty ? nil : streams
        table.count -= 1
        return continuation
    }
}
