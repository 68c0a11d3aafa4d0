/// One request that waits for its answer.
package struct Exchange: Hashable, Sendable {
    package var streamID: Int32
    /// The index of the load that it belongs to.
    package var load: Int32
    /// When it was meant to be sent, in nanoseconds of the monotonic clock.
    package var intended: Int64
    /// The number of the operation.
    package var number: Int64
    /// The number of its subject: a host, or the value that a targeted push is for.
    package var subject: Int32
    /// How often it was sent again, since a server had not processed it.
    package var resends: Int32 = 0

    package init(streamID: Int32, load: Int32, intended: Int64, number: Int64, subject: Int32 = 0) {
        self.streamID = streamID
        self.load = load
        self.intended = intended
        self.number = number
        self.subject = subject
    }
}

/// The requests of one connection that wait for their answers, found by stream in constant time.
///
/// Streams of a client are odd numbers in rising order, so a ring takes them; it grows when a request that lives long
/// would be overwritten.
package struct Exchanges: Sendable {
    private var ring: [Exchange]
    package private(set) var count = 0

    /// - Parameter capacity: How many there may be at once, as a hint.
    package init(capacity: Int) {
        var size = 16
        while size < 2 * capacity { size *= 2 }
        self.ring = Array(repeating: Self.nothing, count: size)
    }

    private static let nothing = Exchange(streamID: 0, load: 0, intended: 0, number: 0)

    private func place(_ streamID: Int32) -> Int { Int(streamID >> 1) & (self.ring.count - 1) }

    package mutating func insert(_ exchange: Exchange) {
        while self.ring[self.place(exchange.streamID)].streamID != 0 { self.grow() }
        self.ring[self.place(exchange.streamID)] = exchange
        self.count += 1
    }

    package mutating func remove(_ streamID: Int32) -> Exchange? {
        let place = self.place(streamID)
        let exchange = self.ring[place]
        guard exchange.streamID == streamID else { return nil }
        self.ring[place].streamID = 0
        self.count -= 1
        return exchange
    }

    /// All of them, by stream; none are left.
    package mutating func removeAll() -> [Exchange] {
        let all = self.ring.filter { $0.streamID != 0 }.sorted { $0.streamID < $1.streamID }
        for index in self.ring.indices { self.ring[index].streamID = 0 }
        self.count = 0
        return all
    }

    /// Those on streams above one, by stream; they do not wait any more.
    package mutating func remove(above streamID: Int32) -> [Exchange] {
        let above = self.ring.filter { $0.streamID > streamID }.sorted { $0.streamID < $1.streamID }
        for exchange in above { _ = self.remove(exchange.streamID) }
        return above
    }

    private mutating func grow() {
        let all = self.ring.filter { $0.streamID != 0 }
        self.ring = Array(repeating: Self.nothing, count: self.ring.count * 2)
        for exchange in all { self.ring[self.place(exchange.streamID)] = exchange }
    }
}
