/// The source of a request's bearer token: a provider token, or a host credential.
///
/// Both are JSON Web Tokens that are signed with ES256. Foundation has no ES256: CryptoKit has it on Apple's platforms, swift-crypto
/// on Linux, and `freshet token mint` and `freshet token host` print tokens.
public struct TokenSource: Sendable {
    let make: @Sendable () async throws -> String?

    private init(_ make: @escaping @Sendable () async throws -> String?) {
        self.make = make
    }

    /// No token: the transport shows a sender's client certificate.
    public static let none = TokenSource { nil }

    /// The same token for as long as the program runs. A provider token is valid for an hour, a host credential until
    /// its `exp`.
    public static func fixed(_ token: String) -> TokenSource { TokenSource { token } }

    /// Tokens that are renewed from time to time.
    ///
    /// - Parameters:
    ///   - interval: How long a token is used. A provider token is valid for an hour, and the gateway refuses one that is
    ///     renewed within 20 minutes: `TooManyProviderTokenUpdates`. The default is 40 minutes.
    ///   - mint: Makes a token. An error ends the request; the next request calls it again.
    public static func renewing(
        every interval: Duration = .seconds(2_400),
        mint: @escaping @Sendable () async throws -> String
    ) -> TokenSource {
        let token = RenewedToken(interval, mint)
        return TokenSource { try await token.value() }
    }
}

/// A token that many requests share. It is minted once for all of them.
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
