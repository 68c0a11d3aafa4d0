import APNSWire
package import Partitions
import Synchronization

/// Callers whose credentials were verified, by the bytes of the credential, for requests on any thread: the signature of each is
/// verified once, and its time at each use.
///
/// Refused credentials are not remembered.
package final class VerifiedCallers: Sendable {
    private struct State: ~Copyable {
        var cache: ProviderTokenCache<Caller>
        /// Of the keys that those in the cache were verified by.
        var generation: UInt64 = 0
    }

    private let senders: SenderDirectory
    private let clock: LogClock
    private let capacity: @Sendable () -> Int
    private let seed: UInt64
    private let state: Mutex<State>

    /// - Parameters:
    ///   - senders: The known senders.
    ///   - clock: Judges the age of credentials.
    ///   - capacity: The most credentials that are kept, from the next change of keys on.
    ///   - seed: A secret random number.
    package init(
        senders: SenderDirectory,
        clock: LogClock,
        capacity: @escaping @Sendable () -> Int = { 1024 },
        seed: UInt64
    ) {
        self.senders = senders
        self.clock = clock
        self.capacity = capacity
        self.seed = seed
        self.state = Mutex(State(cache: ProviderTokenCache(capacity: capacity(), seed: seed)))
    }

    /// How many are kept.
    package var count: Int { self.state.withLock { $0.cache.count } }

    /// The sender behind the provider token in an `authorization` value.
    ///
    /// - Throws: ``Problem`` with `missing-credential`, `invalid-credential` or `expired-credential`.
    package func sender(_ authorization: String) throws(Problem) -> Sender {
        let bytes = Array(authorization.utf8)
        let caller = try self.caller(of: bytes) { () throws(Problem) in
            let token: ProviderToken
            do throws(ProviderTokenError) {
                token = try ProviderToken.parse(authorization: bytes.span, reader: JSONReader())
            } catch {
                throw Problem(error)
            }
            return try self.senders.caller(token, now: self.clock.now())
        }
        guard let sender = caller.sender else {
            throw Problem(.invalidCredential, "a host's credential has no rights here")
        }
        return sender
    }

    /// The caller behind the bytes of an `authorization` value, by the keys that are in force now.
    ///
    /// - Parameter verify: Verifies the credential, if it was not verified before.
    /// - Throws: ``Problem`` if the credential's time is over, and what `verify` throws.
    package func caller(
        of authorization: [UInt8],
        verify: () throws(Problem) -> Caller
    ) throws(Problem) -> Caller {
        // Before the keys are looked at: a credential that later keys verify is not kept for these.
        let generation = self.senders.keys.generation
        let known = self.state.withLock { state -> Caller? in
            if state.generation != generation {
                state.cache = ProviderTokenCache(capacity: self.capacity(), seed: self.seed)
                state.generation = generation
            }
            var guess = 0
            return state.cache.value(for: authorization.span, guess: &guess)
        }
        if let known {
            try self.senders.check(known, now: self.clock.now())
            return known
        }
        let verified = try verify()
        self.state.withLock { state in
            if state.generation == generation { state.cache.insert(verified, for: authorization.span) }
        }
        return verified
    }
}
