import APNSWire
package import Partitions
import Synchronization

/// Credentials that were verified, by their bytes, for requests on any thread. A signature is verified once; time and rights are checked at
/// each use.
///
/// Refused signatures are not remembered.
package final class VerifiedCredentials: Sendable {
    private struct State: ~Copyable {
        var cache: ProviderTokenCache<VerifiedCredential>
        var capacity: Int
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
    ///   - capacity: The most credentials that are kept. It may change.
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
        let room = capacity()
        self.state = Mutex(State(cache: ProviderTokenCache(capacity: room, seed: seed), capacity: room))
    }

    /// How many are kept.
    package var count: Int { self.state.withLock { $0.cache.count } }

    /// The sender behind the provider token in an `authorization` value.
    ///
    /// - Throws: ``Problem`` with `missing-credential`, `invalid-credential` or `expired-credential`.
    package func sender(_ authorization: String) throws(Problem) -> Sender {
        let bytes = Array(authorization.utf8)
        let credential = try self.credential(in: bytes) { () throws(Problem) in
            do throws(ProviderTokenError) {
                let token = try ProviderToken.parse(authorization: bytes.span, reader: JSONReader())
                return .token(try self.senders.identify(token))
            } catch {
                throw Problem(error)
            }
        }
        // Of hosts there are none here: their credentials are no provider tokens.
        guard case .token(let verified) = credential else { throw Problem(.invalidCredential, "not a provider token") }
        return verified.sender
    }

    /// The credential in the bytes of an `authorization` value, by the keys that are in force now.
    ///
    /// - Parameter identify: Verifies the signature, if it was not verified before.
    /// - Throws: ``Problem`` if the credential does not hold at this time, and what `identify` throws.
    package func credential(
        in authorization: [UInt8],
        identify: () throws(Problem) -> VerifiedCredential
    ) throws(Problem) -> VerifiedCredential {
        // The scheme has many spellings; a credential is remembered once for all of them.
        guard let range = try? ProviderToken.tokenRange(in: authorization.span) else { return try identify() }
        // Before the keys are looked at: a credential that later keys verify is not kept for these.
        let generation = self.senders.keys.generation
        if let remembered = self.remembered(authorization, range, generation) {
            try self.senders.check(remembered, now: self.clock.now())
            return remembered
        }
        let credential = try identify()
        self.state.withLock { state in
            guard state.generation == generation else { return }
            state.cache.insert(credential, for: authorization.span.extracting(range))
        }
        try self.senders.check(credential, now: self.clock.now())
        return credential
    }

    private func remembered(
        _ authorization: [UInt8],
        _ range: Range<Int>,
        _ generation: UInt64
    ) -> VerifiedCredential? {
        let capacity = self.capacity()
        return self.state.withLock { state in
            if state.generation != generation || state.capacity != capacity {
                state = State(
                    cache: ProviderTokenCache(capacity: capacity, seed: self.seed),
                    capacity: capacity,
                    generation: generation
                )
            }
            var guess = 0
            return state.cache.value(for: authorization.span.extracting(range), guess: &guess)
        }
    }
}
