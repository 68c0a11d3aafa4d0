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
        case host(HostKey)
        case app(BundleID)

        package var bundle: BundleID {
            switch self {
            case .host(let host): host.app
            case .app(let app): app
            }
        }
    }

    /// By what right a stream is open.
    package struct Right: Sendable {
        /// The push token that it was opened with, nil for an app's. The stream ends when that stands for the host no more.
        let token: DeviceToken?
        /// Asked with every heartbeat: the stream ends when it does not hold any more.
        let holds: @Sendable () -> Bool

        package init(token: DeviceToken? = nil, holds: @escaping @Sendable () -> Bool = { true }) {
            self.token = token
            self.holds = holds
        }
    }

    /// What goes out on a stream, with the place to resume from behind it.
    package enum Event: Hashable, Sendable {
        case event(HostEvent, StreamCursor)
        case heartbeat(StreamCursor)
    }

    /// What a reader has missed.
    package enum Missed: Hashable, Sendable {
        /// It is new: that is not known.
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
        /// Streams that ended since their token was removed or their credential held no more.
        package var revoked = 0
        /// Readers that came back, and what they had missed was not known any more.
        package var gaps = 0
        /// Streams that were not opened: too many of the scope, and too many in all.
        package var refusedOfScope = 0
        package var refused = 0
    }

    private struct Stream {
        let number: UInt64
        let continuation: AsyncStream<Event>.Continuation
        let right: Right
        var beatsLeft: Int
    }

    /// Where a host's stream is.
    private struct Place: Hashable {
        let host: HostKey
        let number: UInt64
    }

    private struct Table {
        var limits: Limits
        var streams: [Scope: [Stream]] = [:]
        var count = 0
        /// Of each app that has any.
        var byApp: [BundleID: Int] = [:]
        var next: UInt64 = 0
        var isClosing = false
        var counters = Counters()
        var history: StreamHistory
        /// The streams that were opened with a token: of several hosts where it moved while they were being opened.
        var opened: [DeviceToken: [Place]] = [:]
        var bindings: TokenBindings
    }

    private static let appBufferFactor = 64
    private static let retryMin = Interval.seconds(1)

    private let table: Mutex<Table>
    /// Held while events go to the readers, so that each gets them in their order. The table is free meanwhile: to wake a
    /// task takes a lock of its own, which the canceller of that task holds while it comes to the table.
    private let sending = Mutex(())
    private let seed: UInt64

    /// - Parameter seed: Spreads what is to happen to streams at different times, and tells this gateway's places in
    ///   streams from others'.
    package init(limits: Limits = Limits(), seed: UInt64 = 0) {
        self.seed = StableHash.mix(seed)
        let history = StreamHistory(epoch: UInt32(truncatingIfNeeded: self.seed), capacity: limits.historyMax)
        let bindings = TokenBindings(capacity: limits.historyMax)
        self.table = Mutex(Table(limits: limits, history: history, bindings: bindings))
    }

    /// Keeps other bounds from now on. Streams that are open stay, with the buffers and the lives that they have.
    package func use(_ limits: Limits) {
        self.table.withLock { table in
            table.limits = limits
            table.history.use(capacity: limits.historyMax)
            table.bindings.capacity = limits.historyMax
        }
    }

    /// Streams that are open now.
    package var count: Int { self.table.withLock { $0.count } }
    package var counters: Counters { self.table.withLock { $0.counters } }

    /// How many streams each of these hosts has open.
    package func open(of hosts: [HostKey]) -> [Int] {
        self.table.withLock { table in hosts.map { table.streams[.host($0)]?.count ?? 0 } }
    }

    /// Whether each of these hosts is reached: by a stream of its own, or by its app's.
    package func reaches(_ hosts: [HostKey]) -> [Bool] {
        self.table.withLock { table in
            hosts.map { table.streams[.host($0)] != nil || table.streams[.app($0.app)] != nil }
        }
    }

    /// The apps of which any host is reached.
    package var apps: Set<BundleID> { self.table.withLock { Set($0.byApp.keys) } }

    /// Which hosts have a stream of their own open, and the apps that have one for all their hosts. O(streams).
    package var connected: (hosts: Set<HostKey>, apps: Set<BundleID>) {
        self.table.withLock { table in
            var (hosts, apps): (Set<HostKey>, Set<BundleID>) = ([], [])
            for scope in table.streams.keys {
                switch scope {
                case .host(let host): hosts.insert(host)
                case .app(let app): apps.insert(app)
                }
            }
            return (hosts, apps)
        }
    }

    /// Opens a stream.
    ///
    /// A reader that asks by a token looks up once more what it stands for: it may have been removed just before.
    ///
    /// - Parameters:
    ///   - right: By what right it is open.
    ///   - last: The place behind the last event that the reader saw; nil if it does not say, and ``Missed/unknown`` then.
    package func subscribe(
        _ scope: Scope,
        by right: Right = Right(),
        after last: String? = nil
    ) throws(Refusal) -> Subscription {
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
            let stream = Stream(
                number: table.next,
                continuation: continuation,
                right: right,
                beatsLeft: Self.lifetime(luck, limits)
            )
            table.streams[scope, default: []].append(stream)
            if let token = right.token, case .host(let host) = scope {
                table.opened[token, default: []].append(Place(host: host, number: table.next))
            }
            table.count += 1
            table.byApp[scope.bundle, default: 0] += 1
            let subscription = Subscription(
                events: events,
                missed: Self.missed(scope, right.token, last, &table),
                start: table.history.end,
                retryMilliseconds: Self.retryMilliseconds(luck, limits),
                scope: scope,
                number: table.next
            )
            return .success(subscription)
        }
        let subscription = try result.get()
        let number = subscription.number
        // A reader may go before it has read anything: a stream without a holder must not keep its place.
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

    private static func missed(
        _ scope: Scope,
        _ token: DeviceToken?,
        _ last: String?,
        _ table: inout Table
    ) -> Missed {
        guard let last, !last.isEmpty else { return .unknown }
        // What went out before the token stood for the host was for another reader.
        if let cursor = StreamCursor(last), token.map({ table.bindings.place(of: $0) <= cursor.sequence }) ?? true,
            let events = table.history.events(after: cursor, for: scope)
        {
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
        self.send { table in
            var letters: [Letter] = []
            for event in events {
                let cursor = table.history.append(event)
                guard table.count > 0 else { continue }
                if let host = event.host { Self.address(.event(event, cursor), to: .host(host), table, &letters) }
                Self.address(.event(event, cursor), to: .app(event.app), table, &letters)
            }
            return letters
        }
    }

    /// Takes over what became of tokens: streams that were opened with one end when it is removed, or stands for another host.
    package func apply(_ changes: [DirectoryChange]) {
        let ended = self.table.withLock { table in
            var ended: [AsyncStream<Event>.Continuation] = []
            for change in changes {
                switch change {
                case .bound(_, _, .some), .forgotten: continue
                case .bound(let token, let host, nil):
                    Self.revoke(token, &table, &ended) { $0 != host }
                    table.bindings.bind(token, at: table.history.end.sequence)
                case .removed(let token, _, _, _):
                    Self.revoke(token, &table, &ended) { _ in true }
                }
            }
            return ended
        }
        for continuation in ended { continuation.finish() }
    }

    private static func revoke(
        _ token: DeviceToken,
        _ table: inout Table,
        _ ended: inout [AsyncStream<Event>.Continuation],
        of isOf: (HostKey) -> Bool
    ) {
        for place in table.opened[token] ?? [] where isOf(place.host) {
            guard let continuation = Self.remove(place.number, of: .host(place.host), from: &table) else { continue }
            table.counters.revoked += 1
            ended.append(continuation)
        }
    }

    /// Ends the streams whose right holds no more.
    private func endUnrightful() {
        let streams = self.table.withLock { table in
            table.streams.flatMap { scope, streams in streams.map { (scope, $0.number, $0.right) } }
        }
        // Not while the lock is held: rights look things up behind locks of their own.
        for (scope, number, right) in streams where !right.holds() {
            guard let continuation = self.remove(number, of: scope) else { continue }
            self.table.withLock { $0.counters.revoked += 1 }
            continuation.finish()
        }
    }

    /// Writes a heartbeat to every stream, so that both ends notice a connection that died, and ends those that have
    /// lived long enough, or whose right holds no more.
    package func beat() {
        self.endUnrightful()
        self.send { table in
            var letters: [Letter] = []
            let heartbeat = Event.heartbeat(table.history.end)
            for scope in table.streams.keys { Self.address(heartbeat, to: scope, table, &letters) }
            return letters
        }
        let ended = self.table.withLock { table in
            var ended: [AsyncStream<Event>.Continuation] = []
            for scope in Array(table.streams.keys) { Self.age(scope, &table, &ended) }
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

    /// Ends the streams of a partition's hosts, and those of apps, which are for all partitions: another node has it now.
    package func leave(_ partition: PartitionID, among partitions: Int) {
        let ended = self.table.withLock { table in
            var ended: [AsyncStream<Event>.Continuation] = []
            for (scope, streams) in table.streams {
                if case .host(let host) = scope, PartitionID(of: host, among: partitions) != partition { continue }
                ended += streams.compactMap { Self.remove($0.number, of: scope, from: &table) }
            }
            return ended
        }
        for continuation in ended { continuation.finish() }
    }

    /// Ends every stream and opens no more: the gateway is draining.
    package func close() {
        let open = self.table.withLock { table in
            table.isClosing = true
            let open = table.streams.values.flatMap { $0 }
            table.streams = [:]
            table.opened = [:]
            table.count = 0
            table.byApp = [:]
            return open.map(\.continuation)
        }
        for continuation in open { continuation.finish() }
    }

    /// An event on its way to a stream.
    private struct Letter {
        let event: Event
        let scope: Scope
        let stream: Stream
    }

    private static func address(_ event: Event, to scope: Scope, _ table: borrowing Table, _ letters: inout [Letter]) {
        for stream in table.streams[scope] ?? [] { letters.append(Letter(event: event, scope: scope, stream: stream)) }
    }

    /// Sends what `write` makes of the table, and ends the streams of readers that were too slow.
    private func send(_ write: (inout Table) -> [Letter]) {
        let slow = self.sending.withLock { _ in
            self.table.withLock { write(&$0) }.filter { letter in
                if case .dropped = letter.stream.continuation.yield(letter.event) { true } else { false }
            }
        }
        for letter in slow {
            guard let continuation = self.remove(letter.stream.number, of: letter.scope) else { continue }
            self.table.withLock { $0.counters.cutOff += 1 }
            continuation.finish()
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
        let stream = streams.remove(at: index)
        table.streams[scope] = streams.isEmpty ? nil : streams
        table.count -= 1
        let left = (table.byApp[scope.bundle] ?? 0) - 1
        table.byApp[scope.bundle] = left > 0 ? left : nil
        if let token = stream.right.token {
            table.opened[token]?.removeAll { $0.number == number }
            if table.opened[token]?.isEmpty == true { table.opened[token] = nil }
        }
        return stream.continuation
    }
}
