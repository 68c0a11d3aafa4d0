package import Engine
package import Journaling
package import Ownership
import Synchronization
package import WidgetModel

/// The open event streams, and the events that each carries.
///
/// A stream is for one host, or for all hosts of an app (its back end acts for them). Events wait in a bounded buffer
/// each; a reader that lets it fill is cut off, and is offered the missed reloads when it connects again. Streams end by
/// themselves after a while, each at a time of its own, so that readers spread over gateways that came later and a
/// credential that was revoked is not used for ever.
///
/// It gets the outputs of all partitions, wherever their owners are: ``begin(_:at:)`` first, then each by ``publish(_:of:unless:)``.
package final class HostStreams: Sendable {
    /// The hosts whose events a stream carries.
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

    /// An event on a stream, with the place to resume from behind it; a drawing has none.
    package enum Event: Hashable, Sendable {
        case event(HostEvent, StreamCursor?)
        case heartbeat(StreamCursor)
    }

    /// The events that a reader has missed.
    package enum Missed: Hashable, Sendable {
        /// The reader is new: its missed events are not known.
        case unknown
        /// These events, since the place that it named.
        case events([HostEvent])
        /// The place that it named is too long ago, or of another log.
        case gap
    }

    /// One open stream. Cancel it when its reader has gone.
    package struct Subscription: Sendable {
        package let events: AsyncStream<Event>
        package let missed: Missed
        /// Whether ``missed`` has all drawings for the reader.
        package let hasAllDrawings: Bool
        /// The place where ``events`` begins.
        package let start: StreamCursor
        /// For each partition of the scope: the entry of the newest reload that went out before the stream began.
        package let asOf: [LogPosition]
        /// How long the reader is asked to wait before it connects again, in milliseconds: each its own length, so that
        /// they do not all come back in one instant.
        package let retryMilliseconds: Int
        package let scope: Scope
        fileprivate let number: UInt64
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

    private let table: Mutex<Table>
    /// Held while events go to the readers, so that each gets them in their order. The table is free meanwhile: to wake a
    /// task takes a lock of its own, which the canceller of that task holds while it comes to the table.
    private let sending = Mutex(())
    private let seed: UInt64

    /// - Parameters:
    ///   - log: The log, which tells its places from others'.
    ///   - seed: Spreads the ends and retries of streams over time.
    package init(limits: Limits = Limits(), of log: JournalFormat, seed: UInt64 = 0) {
        self.seed = StableHash.mix(seed)
        let history = StreamHistory(
            log: UInt32(truncatingIfNeeded: StableHash.of(log.journalID)),
            partitions: log.partitions,
            capacity: limits.historyMax
        )
        let bindings = TokenBindings(capacity: limits.historyMax, partitions: log.partitions)
        self.table = Mutex(Table(limits: limits, history: history, bindings: bindings))
    }

    /// Keeps other bounds from now on. Streams that are open stay, with the buffers and the lives that they have.
    package func applyLimits(_ limits: Limits) {
        self.table.withLock { table in
            table.limits = limits
            table.history.setLimit(capacity: limits.historyMax)
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
    /// A reader with a token looks up the token's host once more: the token may have been removed just before.
    ///
    /// - Parameters:
    ///   - right: By what right it is open.
    ///   - last: The place behind the last event that the reader saw; nil if it does not say, and ``Missed/unknown`` then.
    package func subscribe(
        _ scope: Scope,
        by right: Right = Right(),
        after last: String? = nil
    ) throws(SubscribeError) -> Subscription {
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
        let result = self.table.withLock { table -> Result<Subscription, SubscribeError> in
            if let refusal = Self.refusal(scope, &table) { return .failure(refusal) }
            table.next += 1
            let luck = StableHash.mix(self.seed ^ table.next)
            let stream = Stream(
                number: table.next,
                continuation: continuation,
                right: right,
                beatsLeft: limits.lifetime(luck)
            )
            table.streams[scope, default: []].append(stream)
            if let token = right.token, case .host(let host) = scope {
                table.opened[token, default: []].append(Place(host: host, number: table.next))
            }
            table.count += 1
            table.byApp[scope.bundle, default: 0] += 1
            let (missed, hasAllDrawings) = Self.missed(scope, right.token, last, &table)
            let subscription = Subscription(
                events: events,
                missed: missed,
                hasAllDrawings: hasAllDrawings,
                start: table.history.end(of: scope),
                asOf: table.history.newest(of: scope),
                retryMilliseconds: limits.retryMilliseconds(luck),
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

    private static func refusal(_ scope: Scope, _ table: inout Table) -> SubscribeError? {
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
    ) -> (Missed, hasAllDrawings: Bool) {
        guard let last, !last.isEmpty else { return (.unknown, false) }
        if let cursor = StreamCursor(last), Self.holds(token, at: cursor, table),
            let missed = table.history.missed(after: cursor, for: scope)
        {
            return (.events(missed.events), missed.hasAllDrawings)
        }
        table.counters.gaps += 1
        return (.gap, false)
    }

    /// Whether a place is its reader's own: events before the token stood for the host were for another reader.
    private static func holds(_ token: DeviceToken?, at cursor: StreamCursor, _ table: borrowing Table) -> Bool {
        guard let token, case .host(let partition, let place) = cursor.places,
            partition.rawValue < table.history.partitions
        else { return true }
        return table.bindings.holds(token, at: place, of: partition)
    }

    /// Whether a reader's place is behind all events that have gone out here: another node, which has read more, gave it.
    package func isAhead(_ last: String?, of scope: Scope) -> Bool {
        guard let last, let cursor = StreamCursor(last) else { return false }
        return self.table.withLock { $0.history.isAhead(cursor, for: scope) }
    }

    package func cancel(_ subscription: Subscription) {
        self.remove(subscription.number, of: subscription.scope)?.finish()
    }

    /// The next output of a partition is at a position. If there were others before it, some are missing: the partition's streams
    /// end, and so do those of apps, so that their readers come back and are told the outstanding reloads.
    ///
    /// - Returns: Whether some are missing.
    @discardableResult
    package func begin(_ partition: PartitionID, at position: OutputPosition) -> Bool {
        let isMissing = self.table.withLock { $0.history.begin(partition, at: position) }
        if isMissing { self.end(partition) }
        return isMissing
    }

    /// Whether the drawings of a partition's hosts go out here, through ``draw(_:)``.
    package func setDrawing(_ isHere: Bool, _ partition: PartitionID) {
        self.table.withLock { $0.history.setDrawing(isHere, partition) }
    }

    /// Hands the committed effects of an engine to the streams of its hosts and apps.
    ///
    /// - Parameter isLeftOut: Whether a host is not told of its reload.
    package func publish(
        _ output: CommittedEffects,
        of partition: PartitionID,
        unless isLeftOut: (ReloadEffect) -> Bool = { _ in false }
    ) {
        let events = output.effects.map { effect -> HostEvent? in
            switch effect {
            case .reload(let reload): isLeftOut(reload) ? nil : .reload(reload)
            case .invalidation(let invalidation): .invalidation(invalidation)
            // For the deliverer to APNs.
            case .push: nil
            }
        }
        self.send { table in
            var letters: [Letter] = []
            for (index, event) in events.enumerated() {
                guard let event else { continue }
                let place = EffectPlace(behind: index, of: events.count, in: output.position)
                table.history.append(event, at: place, of: partition)
                Self.address(event, isPlaced: true, table, &letters)
            }
            table.history.reach(EffectPlace(output.position.next), of: partition)
            return letters
        }
    }

    /// Hands drawings to the streams of their hosts and apps.
    package func draw(_ drawings: [HostEvent]) {
        self.send { table in
            var letters: [Letter] = []
            for event in drawings {
                guard let address = event.drawnBy else { continue }
                let partition = PartitionID(of: address.host, among: table.history.partitions)
                table.history.append(drawing: event, of: partition)
                Self.address(event, isPlaced: false, table, &letters)
            }
            return letters
        }
    }

    private static func address(
        _ event: HostEvent,
        isPlaced: Bool,
        _ table: borrowing Table,
        _ letters: inout [Letter]
    ) {
        guard table.count > 0 else { return }
        let scopes = [event.host.map { Scope.host($0) }, .app(event.app)].compactMap(\.self)
        for scope in scopes where table.streams[scope] != nil {
            let cursor = isPlaced ? table.history.end(of: scope) : nil
            Self.address(.event(event, cursor), to: scope, table, &letters)
        }
    }

    /// Takes over changes of tokens: streams that were opened with one end when it is removed, or stands for another host.
    package func apply(_ changes: [DirectoryChange]) {
        let ended = self.table.withLock { table in
            var ended: [AsyncStream<Event>.Continuation] = []
            for change in changes {
                switch change {
                case .bound(_, _, .some), .forgotten: continue
                case .bound(let token, let host, nil):
                    Self.revoke(token, &table, &ended) { $0 != host }
                    let partition = PartitionID(of: host, among: table.history.partitions)
                    // An owner that comes from another node replays bindings of long ago.
                    if table.history.isElsewhere(partition) { continue }
                    table.bindings.bind(token, in: partition, at: table.history.end(of: partition), table.history.ends)
                case .removed(let token, _, _, _):
                    Self.revoke(token, &table, &ended) { _ in true }
                }
            }
            return ended
        }
        for continuation in ended { continuation.finish() }
    }

    /// The tokens that streams were opened with, and the hosts that they stood for. O(streams).
    package var tokens: [TokenRight] {
        self.table.withLock { table in
            table.opened.flatMap { token, places in places.map { TokenRight(token: token, host: $0.host) } }
        }
    }

    /// Ends the streams of tokens that do not stand for their hosts any more.
    package func revoke(_ rights: [TokenRight]) {
        let ended = self.table.withLock { table in
            var ended: [AsyncStream<Event>.Continuation] = []
            for right in rights { Self.revoke(right.token, &table, &ended) { $0 == right.host } }
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
            for scope in table.streams.keys {
                Self.address(.heartbeat(table.history.end(of: scope)), to: scope, table, &letters)
            }
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

    private func end(_ partition: PartitionID) {
        let ended = self.table.withLock { table in
            var ended: [AsyncStream<Event>.Continuation] = []
            for (scope, streams) in table.streams where table.history.partitions(of: scope).contains(partition) {
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

    /// Sends the events that `write` makes from the table, and ends the streams of readers that were too slow.
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
