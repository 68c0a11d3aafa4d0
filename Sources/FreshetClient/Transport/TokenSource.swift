/// Where the bearer token of a request comes from: a provider token, or a host credential.
///
/// Both are JSON Web Tokens that are signed with ES256. Foundation has no ES256: CryptoKit has it on Apple's platforms, swift-crypto
/// on Linux, and `freshet token mint` and `freshet token host` print tokens.
public struct TokenSource: Sendable {
    let make: @Sendable () async throws -> String?

    private init(_ make: @escaping @Sendable () async throws -> String?) {
        self.make = make
    }

    /// No token: the transport shows a client certificate that speaks for a sender.
    public static let none = TokenSource { nil }

    /// The same token for as long as the program runs. A provider token is good for an hour, a host credential until its `exp`.
    public static func fixed(_ token: String) -> TokenSource { TokenSource { token } }

    /// Tokens that are made anew from time to time.
    ///
    /// - Parameters:
    ///   - interval: For how long a token is used. Provider tokens are good for an hour, and one that is renewed within 20 minutes
    ///     is refused: `TooManyProviderTokenUpdates`. The default is 40 minutes.
    ///   - mint: Makes a token. It is asked again by the next request if it fails; what it throws ends the request.
    public static func renewing(
        every interval: Duration = .seconds(2_400),
        mint: @escaping @Sendable () async throws -> String
    ) -> TokenSource {
        let token = RenewedToken(interval, mint)
        return TokenSource { try await token.value() }
    }
}

/// A token that many requests share, and that is made once for all of them.
private actor RenewedToken {
    private let interval: Duration
    private let mint: @Sendable () async throws -> String
    private var latest: (token: Task<String, any Error>, since: ContinuousClock.Instant)?

    init(_ interval: Duration, _ mint: @escaping @Sendable () async throws -> String) {
        self.interval = interval
        self.mint = mint
    }

    func value() async throws -> String {
        if let latest, latest.since.duration(to: .now) < self.interval { return try await latest.token.value }
        let mint = self.mint
        let token = Task { try await mint() }
        self.latest = (token, .now)
        do {
            return try await token.value
        } catch {
            if self.latest?.token == token { self.latest = nil }
            throw error
        }
    }
}
