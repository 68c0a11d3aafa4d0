package import WidgetModel

/// How hard one kind's timeline provider may be asked.
package struct FetchLimits: Hashable, Sendable {
    /// Requests on their way at once. Default 4.
    package var inFlightMax = 4
    /// Instances asked about in one request. Default 100.
    package var batchMax = 100
    /// Requests in ``ratePeriod``, at an even pace but for a burst. Default 50.
    package var rateCount = 50
    package var ratePeriod = Interval.seconds(1)
    /// Requests that may follow each other at once. Default 50.
    package var rateBurst = 50
    /// Reloads that wait, are on their way or wait to be tried again. Default 200,000.
    package var waitingMax = 200_000
    /// The wait before a reload that failed is tried again. Default 1 s, doubled up to 5 min.
    package var retry = Backoff(first: .seconds(1), max: .minutes(5))
    /// Requests that fail in a row until none is sent for a while. Default 5.
    package var failuresMax = 5
    /// That while. Default 5 s, doubled up to 5 min.
    package var breaker = Backoff(first: .seconds(5), max: .minutes(5))
    /// How long a provider that said 202 has to call back. Default 60 s.
    package var callbackMax = Interval.seconds(60)
    /// The longest wait that a provider's `retry-after` is believed. Default 10 min.
    package var retryAfterMax = Interval.minutes(10)

    package init() {}
}
