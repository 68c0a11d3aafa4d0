/// The connections of one loop whose TLS handshake is not made yet, in the order in which they came.
struct HandshakeQueue {
    private var waiting: Set<UInt64> = []
    /// Also holds some that are done, never at the front.
    private var order: ArraySlice<UInt64> = []

    /// The connection that has taken longest.
    var oldest: UInt64? { self.order.first }

    mutating func begin(_ id: UInt64) {
        self.waiting.insert(id)
        self.order.append(id)
    }

    /// False if it was not waiting.
    mutating func end(_ id: UInt64) -> Bool {
        guard self.waiting.remove(id) != nil else { return false }
        while let first = self.order.first, !self.waiting.contains(first) {
            self.order.removeFirst()
        }
        return true
    }
}
