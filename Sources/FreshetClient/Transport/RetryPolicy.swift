/// The rules for sending a request again.
///
/// Pushes and broadcasts are sent again: their id is the same in every attempt, so they count once. So are
/// registrations, which replace the earlier one. For all other requests the error says when you may send them again.
/// Event streams connect again for as long as they are read.
public struct RetryPolicy: Sendable, Hashable {
    /// How often a push is sent at most, with the first time. At least 1.
    public var attemptsMax: Int
    /// The wait after the first attempt; it doubles with each. A random part, up to a half, is subtracted.
    public var firstWait: Duration
    /// The longest wait, also if the gateway asks for a longer one by `retry-after`. A push that would have to wait
    /// longer is given up.
    public var longestWait: Duration

    /// Makes a policy. By default a push is sent up to 10 times, with waits of 1 second to 1 minute.
    public init(
        attemptsMax: Int = 10,
        firstWait: Duration = .seconds(1),
        longestWait: Duration = .seconds(60)
    ) {
        self.attemptsMax = attemptsMax
        self.firstWait = firstWait
        self.longestWait = longestWait
    }

    /// Every request is sent once.
    public static let never = RetryPolicy(attemptsMax: 1)

    /// How long to wait before the next attempt; nil if there is none.
    func wait(after attempts: Int, _ error: FreshetError) -> Duration? {
        guard attempts < self.attemptsMax, error.isTransient else { return nil }
        return self.wait(after: attempts, asked: error.retryAfter)
    }

    /// How long to wait; nil if the gateway asks for more than the longest wait.
    func wait(after attempts: Int, asked: Duration?) -> Duration? {
        if let asked { return asked <= self.longestWait ? asked : nil }
        var wait = min(self.firstWait, self.longestWait)
        for _ in 1..<max(1, attempts) where wait < self.longestWait { wait = min(wait * 2, self.longestWait) }
        return wait * Double.random(in: 0.5...1)
    }
}
