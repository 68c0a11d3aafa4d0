package import APNSWire
package import Partitions
import Synchronization

/// Provider tokens that were verified, for callers on any thread: the signature of each is verified once.
package final class VerifiedTokens: Sendable {
    private struct State: ~Copyable {
        var cache: ProviderTokenCache<VerifiedSender>
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
    ///   - clock: Judges the age of tokens.
    ///   - capacity: The most tokens that are kept, from the next change of keys on.
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

    /// The sender that an `authorization` value speaks for, by the keys that are in force now.
    ///
    /// - Throws: ``Problem`` with `missing-credential`, `invalid-credential` or `expired-credential`.
    package func sender(_ authorization: String) throws(Problem) -> Sender {
        let bytes = Array(authorization.utf8)
        do throws(ProviderTokenError) {
            if let remembered = try self.rememberedSender(bytes) { return remembered.sender }
            return try self.verify(try ProviderToken.parse(authorization: bytes.span, reader: JSONReader()), bytes)
                .sender
        } catch {
            throw Problem(error)
        }
    }

    /// The sender of an `authorization` value that was verified before by the keys that are in force now; nil of any other.
    ///
    /// - Throws: If the token's time is over.
    package func rememberedSender(_ authorization: [UInt8]) throws(ProviderTokenError) -> VerifiedSender? {
        let generation = self.senders.keys.generation
        let remembered = self.state.withLock { state -> VerifiedSender? in
            if state.generation != generation {
                state.cache = ProviderTokenCache(capacity: self.capacity(), seed: self.seed)
                state.generation = generation
            }
            var guess = 0
            return state.cache.value(for: authorization.span, guess: &guess)
        }
        if let remembered { try self.senders.check(remembered, now: self.clock.now()) }
        return remembered
    }

    /// Verifies a provider token and its age, and remembers it by the `authorization` value that it was read from.
    ///
    /// - Throws: `InvalidProviderToken` or `ExpiredProviderToken`.
    package func verify(
        _ token: ProviderToken,
        _ authorization: [UInt8]
    ) throws(ProviderTokenError) -> VerifiedSender {
        // Before the keys are looked at: a token that later keys verify is not kept for these.
        let generation = self.senders.keys.generation
        let verified = try self.senders.identify(token)
        self.state.withLock { state in
            if state.generation == generation { state.cache.insert(verified, for: authorization.span) }
        }
        try self.senders.check(verified, now: self.clock.now())
        return verified
    }
}

extension Problem {
    /// Why a provider token speaks for no sender.
    package init(_ fault: ProviderTokenError) {
        switch fault.rejection {
        case .expiredProviderToken:
            self.init(.expiredCredential, "provider token: \(fault.sentence); mint a new one")
        case .missingProviderToken: self.init(.missingCredential, fault.sentence)
        default: self.init(.invalidCredential, "provider token: \(fault.sentence)")
        }
    }
}
