import Synchronization

/// Callers that follow pushes to their outcomes: woken when a partition has applied an entry, so that they look again.
///
/// A wake does not say what changed, and wakes that no follower has looked at are one. With no follower it costs an
/// atomic read.
package final class PushFollowers: Sendable {
    /// Why no push may be followed.
    package enum SubscribeError: Error, Hashable, Sendable {
        case tooMany(max: Int)
        case closing
    }

    package enum Wake: Hashable, Sendable {
        /// Something was applied; it may be about this push.
        case applied
        /// Nothing has, but the reader should hear something.
        case heartbeat
    }

    /// One follower. Cancel it when its reader has gone.
    package struct Subscription: Sendable {
        package let wakes: AsyncStream<Wake>
        fileprivate let number: UInt64
    }

    private struct Table {
        var max: Int
        var continuations: [UInt64: AsyncStream<Wake>.Continuation] = [:]
        var next: UInt64 = 0
        var isClosing = false
    }

    private let table: Mutex<Table>
    private let waiting = Atomic<Int>(0)

    /// - Parameter max: How many may follow at a time.
    package init(max: Int) {
        self.table = Mutex(Table(max: max))
    }

    /// Lets more or fewer follow from now on; those that do stay.
    package func setLimit(max: Int) { self.table.withLock { $0.max = max } }

    /// How many follow now.
    package var count: Int { self.waiting.load(ordering: .relaxed) }

    package func subscribe() throws(SubscribeError) -> Subscription {
        let (wakes, continuation) = AsyncStream.makeStream(of: Wake.self, bufferingPolicy: .bufferingNewest(1))
        let result = self.table.withLock { table -> Result<UInt64, SubscribeError> in
            if table.isClosing { return .failure(.closing) }
            if table.continuations.count >= table.max { return .failure(.tooMany(max: table.max)) }
            table.next += 1
            table.continuations[table.next] = continuation
            self.waiting.store(table.continuations.count, ordering: .relaxed)
            return .success(table.next)
        }
        let number = try result.get()
        // A reader may go before it has read anything.
        continuation.onTermination = { [weak self] _ in self?.remove(number) }
        return Subscription(wakes: wakes, number: number)
    }

    package func cancel(_ subscription: Subscription) {
        self.remove(subscription.number)?.finish()
    }

    @discardableResult
    private func remove(_ number: UInt64) -> AsyncStream<Wake>.Continuation? {
        self.table.withLock { table in
            let continuation = table.continuations.removeValue(forKey: number)
            self.waiting.store(table.continuations.count, ordering: .relaxed)
            return continuation
        }
    }

    /// Wakes all followers.
    package func wake(_ wake: Wake) {
        guard self.waiting.load(ordering: .relaxed) > 0 else { return }
        // Not while the lock is held: to wake a task takes a lock of its own, which its canceller holds while it
        // comes here to remove the follower.
        let open = self.table.withLock { Array($0.continuations.values) }
        for continuation in open { continuation.yield(wake) }
    }

    /// Ends every stream and opens no more: the gateway is draining.
    package func close() {
        let open = self.table.withLock { table in
            table.isClosing = true
            let open = Array(table.continuations.values)
            table.continuations = [:]
            self.waiting.store(0, ordering: .relaxed)
            return open
        }
        for continuation in open { continuation.finish() }
    }
}
