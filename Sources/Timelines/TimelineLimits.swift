/// The largest timeline that is stored, and the sizes from which on it gets a finding.
///
/// Apple documents no numbers. An engineer names 10 MB per timeline and "unlimited entries"
/// (developer.apple.com/forums/thread/779546), developers report trouble from 400 and from 2,000 entries on and none at
/// about 200 (threads 733081 and 768486), as of November 2026.
///
/// The defaults are part of the on-disk format: settings that were logged without limits of timelines have them.
package struct TimelineLimits: Hashable, Sendable {
    /// More entries than this are refused. Default 2,000.
    package var entriesMax = 2_000
    /// More entries than this are a finding. Default 400.
    package var entriesAdvised = 400
    /// A longer digest is refused. Default 128, as for a push: room for `sha256:` and hex.
    package var digestBytesMax = 128
    /// More bytes of content than this are a finding. Default 10 MB.
    package var contentBytesAdvised = 10_000_000

    package init() {}
}

/// Why a timeline is refused.
package enum TimelineError: Error, Hashable, Sendable, CustomStringConvertible {
    case tooManyEntries(count: Int, max: Int)
    case digestLength(bytes: Int, max: Int)
    /// NaN and infinities cannot be ordered.
    case scoreNotFinite(index: Int)
    case negativeDuration(index: Int)

    package var description: String {
        switch self {
        case .tooManyEntries(let count, let max):
            "a timeline of \(count) entries is over the limit of \(max)"
        case .digestLength(let bytes, let max): "a digest has 1 to \(max) bytes, not \(bytes)"
        case .scoreNotFinite(let index): "entries[\(index)]: the relevance score is not a finite number"
        case .negativeDuration(let index): "entries[\(index)]: the relevance duration is negative"
        }
    }
}
