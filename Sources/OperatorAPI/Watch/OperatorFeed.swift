import APNSWire
package import Engine
import Serving
package import Settings
import Synchronization
package import WidgetModel

/// The live events, for operators who watch: bounded in every direction, so that no observer slows anything down.
///
/// The last events are kept for readers that come back; of a busy second's reloads the first ones are told, and how many
/// more there were.
package final class OperatorFeed: Sendable {
    /// The subject of an event; `types` of `GET /v1/events`.
    package enum Subject: String, Hashable, Sendable, CaseIterable {
        /// The counts of the last second.
        case sample
        /// A reload that was issued.
        case reload
        /// An operator's action.
        case order
        /// The configuration was read again, or refused.
        case configuration
        /// A partition has stopped.
        case partition

        /// The scope that an event needs: an order's event names its caller and address, as `GET /v1/audit` does.
        package var scope: OperatorScope { self == .order ? .admin : .read }
    }

    package enum Event: Sendable {
        case sample(GatewaySample)
        case reload(ReloadEffect)
        case note(Subject, JSONValue)

        package var subject: Subject {
            switch self {
            case .sample: .sample
            case .reload: .reload
            case .note(let subject, _): subject
            }
        }
    }

    /// Why no operator may look on.
    package enum SubscribeError: Error, Hashable, Sendable {
        case tooMany(max: Int)
        case closing
    }

    /// One reader. Cancel it when it has gone.
    package struct Subscription: Sendable {
        package let events: AsyncStream<(event: Event, place: FeedPlace)>
        /// The events that the reader has missed since its place; nil if they are not known any more.
        package let missed: [(event: Event, place: FeedPlace)]?
        package let start: FeedPlace
        fileprivate let number: UInt64
    }

    private struct Table {
        var readers: [UInt64: AsyncStream<(event: Event, place: FeedPlace)>.Continuation] = [:]
        var next: UInt64 = 0
        var isClosing = false
        var limits: GatewayConfiguration.Feed
        var history: RecentEvents<Event>
        var cutOff = 0
        var refused = 0
        var gaps = 0
    }

    private let table: Mutex<Table>
    /// Held while an event goes to the readers, so that all get the events in one order. The table is free meanwhile: to
    /// wake a task takes a lock of its own, which the canceller of that task holds while it comes to the table.
    private let telling = Mutex(())
    private let epoch: UInt32
    private let reloadsLeft: Atomic<Int>
    private let notShown = Atomic<Int>(0)

    /// - Parameter epoch: Tells this gateway's places from others'.
    package init(limits: GatewayConfiguration.Feed = GatewayConfiguration.Feed(), epoch: UInt32) {
        self.table = Mutex(Table(limits: limits, history: RecentEvents(capacity: limits.historyMax)))
        self.epoch = epoch
        self.reloadsLeft = Atomic(limits.reloadsPerSecond)
    }

    /// Keeps other bounds from now on; readers that look on stay, with the buffers that they have.
    package func applyLimits(_ limits: GatewayConfiguration.Feed) {
        self.table.withLock { table in
            table.limits = limits
            table.history.setLimit(capacity: limits.historyMax)
        }
    }

    /// How many look on.
    package var count: Int { self.table.withLock { $0.readers.count } }
    /// Readers that were too slow.
    package var cutOff: Int { self.table.withLock { $0.cutOff } }
    /// Readers that were too many.
    package var refused: Int { self.table.withLock { $0.refused } }
    /// Readers that came back too late to get the events that they had missed.
    package var gaps: Int { self.table.withLock { $0.gaps } }
    /// Reloads that were left out so far.
    package var reloadsNotShown: Int { self.notShown.load(ordering: .relaxed) }

    package func subscribe(after place: FeedPlace?) throws(SubscribeError) -> Subscription {
        let bufferMax = self.table.withLock { $0.limits.bufferMax }
        let (events, continuation) = AsyncStream.makeStream(
            of: (event: Event, place: FeedPlace).self,
            bufferingPolicy: .bufferingOldest(bufferMax)
        )
        let result = self.table.withLock { table -> Result<Subscription, SubscribeError> in
            if table.isClosing { return .failure(.closing) }
            if table.readers.count >= table.limits.readersMax {
                table.refused += 1
                return .failure(.tooMany(max: table.limits.readersMax))
            }
            table.next += 1
            table.readers[table.next] = continuation
            let start = FeedPlace(epoch: self.epoch, sequence: table.history.sequence)
            let missed = place.map { self.missed(since: $0, table) } ?? []
            if missed == nil { table.gaps += 1 }
            return .success(Subscription(events: events, missed: missed, start: start, number: table.next))
        }
        let subscription = try result.get()
        let number = subscription.number
        continuation.onTermination = { [weak self] _ in self?.remove(number) }
        return subscription
    }

    private func missed(since place: FeedPlace, _ table: Table) -> [(event: Event, place: FeedPlace)]? {
        guard place.epoch == self.epoch else { return nil }
        return table.history.events(after: place.sequence)?.map { number, event in
            (event, FeedPlace(epoch: self.epoch, sequence: number))
        }
    }

    package func cancel(_ subscription: Subscription) {
        self.remove(subscription.number)?.finish()
    }

    @discardableResult
    private func remove(_ number: UInt64) -> AsyncStream<(event: Event, place: FeedPlace)>.Continuation? {
        self.table.withLock { $0.readers.removeValue(forKey: number) }
    }

    /// Tells of the reloads among these, as many as a second has room for.
    package func publish(_ effects: [Effect]) {
        for effect in effects {
            guard case .reload(let reload) = effect else { continue }
            if self.reloadsLeft.load(ordering: .relaxed) > 0,
                self.reloadsLeft.wrappingSubtract(1, ordering: .relaxed).oldValue > 0
            {
                self.publish(.reload(reload))
            } else {
                self.notShown.wrappingAdd(1, ordering: .relaxed)
            }
        }
    }

    /// Tells the counts of the last second, and lets the next one's reloads in.
    package func publish(_ sample: GatewaySample) {
        self.reloadsLeft.store(self.table.withLock { $0.limits.reloadsPerSecond }, ordering: .relaxed)
        self.publish(.sample(sample))
    }

    package func publish(_ event: Event) {
        let slow = self.telling.withLock { _ in
            let (place, readers) = self.table.withLock { table in
                table.history.append(event)
                return (FeedPlace(epoch: self.epoch, sequence: table.history.sequence), table.readers)
            }
            return readers.filter { _, reader in
                if case .dropped = reader.yield((event, place)) { true } else { false }
            }
        }
        for (number, reader) in slow {
            self.table.withLock { if $0.readers.removeValue(forKey: number) != nil { $0.cutOff += 1 } }
            reader.finish()
        }
    }

    /// Ends every stream and opens no more: the gateway is draining.
    package func close() {
        let open = self.table.withLock { table in
            table.isClosing = true
            let open = Array(table.readers.values)
            table.readers = [:]
            return open
        }
        for reader in open { reader.finish() }
    }
}
