import Synchronization

/// Cancels one request from any thread, also before the request has reached its event loop.
final class RequestCancellation: Sendable {
    private let flag = Atomic<Bool>(false)
    /// 0 until the request is sent.
    private let number = Atomic<UInt64>(0)

    var isCancelled: Bool { self.flag.load(ordering: .acquiring) }

    /// The request's number on its pool, once it has one.
    var request: UInt64? {
        let number = self.number.load(ordering: .acquiring)
        return number == 0 ? nil : number
    }

    /// The stream that the request was sent on.
    var streamID: Int32? { self.request.map { Int32(truncatingIfNeeded: $0) } }

    /// Also tell the request's event loop, if it is there already.
    func cancel() {
        self.flag.store(true, ordering: .releasing)
    }

    func sent(on streamID: Int32) {
        self.number.store(UInt64(streamID), ordering: .releasing)
    }

    func queued(as request: UInt64) {
        self.number.store(request, ordering: .releasing)
    }
}
