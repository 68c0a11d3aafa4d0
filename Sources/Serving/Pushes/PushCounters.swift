package import APNSWire
import NIOCore
import Synchronization

/// Counts of the push listener's answers since the process started. Lock-free; read by the operators' routes.
package final class PushCounters: Sendable {
    private let acceptedCount = Atomic<Int>(0)
    private let unavailableCount = Atomic<Int>(0)
    private let tooManyMatchedCount = Atomic<Int>(0)
    private let verifiedCount = Atomic<Int>(0)
    private let tokensSoughtCount = Atomic<Int>(0)
    private let tokensUnansweredCount = Atomic<Int>(0)
    private let rejectedCounts = Mutex<[Rejection: Int]>([:])
    private let badCredentialCounts = Mutex(BadCredentials())

    package init() {}

    package func add(accepted count: Int) { self.acceptedCount.wrappingAdd(count, ordering: .relaxed) }
    package func add(unavailable count: Int) { self.unavailableCount.wrappingAdd(count, ordering: .relaxed) }
    package func add(tooManyMatched count: Int) { self.tooManyMatchedCount.wrappingAdd(count, ordering: .relaxed) }
    package func add(verified count: Int) { self.verifiedCount.wrappingAdd(count, ordering: .relaxed) }
    package func add(tokensSought count: Int) { self.tokensSoughtCount.wrappingAdd(count, ordering: .relaxed) }
    package func add(tokensUnanswered count: Int) { self.tokensUnansweredCount.wrappingAdd(count, ordering: .relaxed) }
    package func add(rejected rejection: Rejection) {
        self.rejectedCounts.withLock { $0[rejection, default: 0] += 1 }
    }
    /// A monotonic clock's whole seconds.
    package static var second: UInt32 {
        UInt32(truncatingIfNeeded: NIODeadline.now().uptimeNanoseconds / 1_000_000_000)
    }

    /// - Parameters:
    ///   - peer: The peer whose push was refused for its credentials.
    ///   - second: A monotonic clock's whole seconds.
    package func add(badCredentialOf peer: String, at second: UInt32) {
        self.badCredentialCounts.withLock { $0.add(peer, at: second) }
    }

    /// Pushes that were refused for their credentials.
    ///
    /// - Parameter second: As above.
    package func badCredentials(at second: UInt32) -> BadCredentials {
        self.badCredentialCounts.withLock { $0.at(second) }
    }

    /// Pushes answered 200.
    package var accepted: Int { self.acceptedCount.load(ordering: .relaxed) }
    /// Pushes answered 503, since they could not be made durable.
    package var unavailable: Int { self.unavailableCount.load(ordering: .relaxed) }
    /// Pushes, dry runs and broadcasts answered 409, since they match too many instances.
    package var tooManyMatched: Int { self.tooManyMatchedCount.load(ordering: .relaxed) }
    /// Signatures of provider tokens that were checked; a remembered token costs none.
    package var verified: Int { self.verifiedCount.load(ordering: .relaxed) }
    /// Pushes to tokens that no host here has, which other gateways were asked about.
    package var tokensSought: Int { self.tokensSoughtCount.load(ordering: .relaxed) }
    /// Of these, those that were answered 503, since a partition did not say whether it has the token.
    package var tokensUnanswered: Int { self.tokensUnansweredCount.load(ordering: .relaxed) }
    /// Pushes rejected, by reason, in the order of the reasons.
    package var rejected: [(Rejection, Int)] {
        let counts = self.rejectedCounts.withLock { $0 }
        return Rejection.allCases.compactMap { rejection in counts[rejection].map { (rejection, $0) } }
    }
}

/// Pushes that were refused for their credentials: how many lately, and the peer of the last one.
package struct BadCredentials: Hashable, Sendable {
    /// From how many within a minute on operators are told: one every two seconds is no slip any more.
    package static let toldFrom = 30

    private var minute: UInt32 = 0
    private var inMinute = 0
    private var inMinuteBefore = 0
    /// Address and port of the last one's peer; empty if there was none.
    package private(set) var peer = ""

    /// How many came within this minute or the one before, whichever is more.
    package var withinMinute: Int { max(self.inMinute, self.inMinuteBefore) }
    /// Whether an operator should look.
    package var keepComing: Bool { self.withinMinute >= Self.toldFrom }

    package init() {}

    mutating func add(_ peer: String, at second: UInt32) {
        self = self.at(second)
        self.inMinute += 1
        self.peer = peer
    }

    func at(_ second: UInt32) -> BadCredentials {
        let now = second / 60
        guard now != self.minute else { return self }
        var later = self
        later.inMinuteBefore = now == self.minute + 1 ? self.inMinute : 0
        later.inMinute = 0
        later.minute = now
        return later
    }
}
