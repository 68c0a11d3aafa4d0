package import Engine
import Synchronization
package import WidgetModel

/// The event streams that are open: who is told of which reloads.
///
/// A stream is for one host, or for all hosts of an app (its back end acts for them). Events wait in a bounded buffer
/// each; a reader that lets it fill is cut off, and is offered what it missed when it connects again.
package final class HostStreams: Sendable {
    /// Whose reloads a stream carries.
    package enum Scope: Hashable, Sendable {
        case host(HostID)
        case app(BundleID)
    }

    /// What goes out on a stream.
    package enum Event: Sendable {
        case reload(ReloadEffect)
        case heartbeat
    }

    /// One open stream. Cancel it when its reader has gone.
    package struct Subscription: Sendable {
        package let events: AsyncStream<Event>
        fileprivate let scope: Scope
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

        package init() {}
    }

    private struct Table {
        var streams: [Scope: [(number: UInt64, continuation: AsyncStream<Event>.Continuation)]] = [:]
        var count = 0
        var next: UInt64 = 0
        var isClosing = false
        var cutOff = 0
    }

    private static let appBufferFactor = 64

    private let table = Mutex(Table())
    private let limits: Limits

    package init(limits: Limits = Limits()) {
        self.limits = limits
    }

    /// Streams that are open now.
    package var count: Int { self.table.withLock { $0.count } }
    /// Readers that were cut off because they were too slow.
    package var cutOff: Int { self.table.withLock { $0.cutOff } }

    package func subscribe(_ scope: Scope) throws(Refusal) -> Subscription {
        let bufferMax: Int
        switch scope {
        case .host: bufferMax = self.limits.bufferMax
        case .app: bufferMax = self.limits.bufferMax * Self.appBufferFactor
        }
        let (events, continuation) = AsyncStream.makeStream(
            of: Event.self,
            bufferingPolicy: .bufferingOldest(bufferMax)
        )
        let result = self.table.withLock { table -> Result<UInt64, Refusal> in
            if table.isClosing { return .failure(.closing) }
            if table.count >= self.limits.allMax { return .failure(.tooMany(max: self.limits.allMax)) }
            var streams = table.streams[scope, default: []]
            if streams.count >= self.limits.perScopeMax {
                return .failure(.tooManyOfScope(max: self.limits.perScopeMax))
            }
            table.next += 1
            streams.append((table.next, continuation))
            table.streams[scope] = streams
            table.count += 1
            return .success(table.next)
        }
        let number = try result.get()
        // A reader may go before it has read anything: a stream that nobody holds any more must not keep its place.
        continuation.onTermination = { [weak self] _ in self?.remove(number, of: scope) }
        return Subscription(events: events, scope: scope, number: number)
    }

    package func cancel(_ subscription: Subscription) {
        self.remove(subscription.number, of: subscription.scope)?.finish()
    }

    /// Hands reloads to the streams of their hosts and apps.
    package func publish(_ effects: [Effect]) {
        let slow = self.table.withLock { table in
            var slow: [AsyncStream<Event>.Continuation] = []
            guard table.count > 0 else { return slow }
            for effect in effects {
                guard case .reload(let reload) = effect else { continue }
                Self.send(.reload(reload), to: .host(reload.host), &table, &slow)
                Self.send(.reload(reload), to: .app(reload.app), &table, &slow)
            }
            return slow
        }
        for continuation in slow { continuation.finish() }
    }

    /// Writes a heartbeat to every stream, so that both ends notice a connection that died.
    package func beat() {
        let slow = self.table.withLock { table in
            var slow: [AsyncStream<Event>.Continuation] = []
            for scope in Array(table.streams.keys) { Self.send(.heartbeat, to: scope, &table, &slow) }
            return slow
        }
        for continuation in slow { continuation.finish() }
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
            table.cutOff += 1
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
