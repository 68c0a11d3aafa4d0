import HTTP2
import NIOCore
import Synchronization

/// The credentials of one connection that were refused, and whether further ones are looked at.
///
/// Looking at one costs the verification of a signature. A connection that shows many bad ones, and no good one, is slowed down when half of
/// its allowance is used up. It is ended when it shows one too many; those that it shows then are refused unseen.
///
/// For any thread: credentials are looked at on event loops and in tasks.
package final class RefusedCredentials: Sendable {
    private struct State {
        var bucket: RateBucket
        var isExhausted = false
        var hasAccepted = false
    }

    private let max: Int
    private let perSecond: Int
    private let state: Mutex<State>
    private let second: @Sendable () -> UInt32

    /// - Parameters:
    ///   - max: How many may be refused at once. Default 20.
    ///   - perSecond: How many more with every second after. Default 1.
    ///   - second: A monotonic clock's whole seconds; by default the machine's.
    package init(
        max: Int = 20,
        perSecond: Int = 1,
        second: @escaping @Sendable () -> UInt32 = { ListenerLoop.second }
    ) {
        self.max = max
        self.perSecond = perSecond
        self.state = Mutex(State(bucket: RateBucket(burst: max, perSecond: perSecond)))
        self.second = second
    }

    /// Counts one that was refused.
    package func count() {
        let second = self.second()
        self.state.withLock { state in
            if !state.bucket.takeToken(at: second) { state.isExhausted = true }
        }
    }

    /// Notes a good one: its connection is not slowed down from then on.
    ///
    /// One stream at once would be taken whole by a stream of events, for as long as that lasts.
    package func acceptCredential() { self.state.withLock { $0.hasAccepted = true } }

    /// Whether one too many was refused, so that no further one is to be looked at. It stays so.
    package var isExhausted: Bool { self.state.withLock { $0.isExhausted } }

    /// Whether more than half of those that may be refused at once were, and none was good.
    var isToBeSlowed: Bool {
        let second = self.second()
        return self.state.withLock { !$0.hasAccepted && $0.bucket.available(at: second) * 2 < self.max }
    }

    /// The explanation to the connection when it ends.
    var explanation: String { "more than \(self.max) refused credentials at once, or \(self.perSecond) a second" }
}
