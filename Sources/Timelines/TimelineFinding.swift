package import WidgetModel

/// Something about a timeline that its author should know. Found, counted and shown, never silently mended.
///
/// Source of the rules: "Keeping a widget up to date" (WidgetKit documentation).
package enum TimelineFinding: Hashable, Sendable {
    case empty
    /// An entry is dated before the one listed before it; the index of the first such.
    case outOfOrder(index: Int)
    /// Entries that are never shown, since a later one was due at the receipt already, or that were an hour old then.
    case inThePast(count: Int)
    /// Neighbours nearer than 5 minutes: how many, and how near the nearest.
    case tooClose(count: Int, nearest: Interval)
    /// Entries exactly a second or a minute apart, which a self-updating date would replace.
    case ticking(count: Int, every: Interval)
    /// The last of several entries stays up until the `after` date: this long.
    case endsBeforeReload(by: Interval)
    /// `never`, for a kind that neither a push nor the app ever reloads.
    case neverReloaded
    /// This many timelines in a row had one digest.
    case unchanged(count: Int)
    /// A single entry and a next request within the hour.
    case pollsTooOften(every: Interval)
    case manyEntries(count: Int, advised: Int)
    case manyBytes(bytes: Int, advised: Int)
    /// The report names no reload, and this number is outstanding for the widget.
    case unnamedReload(outstanding: Int)

    /// The name under which the finding is counted. A stable part of answers and metrics.
    package var code: String {
        switch self {
        case .empty: "empty"
        case .outOfOrder: "outOfOrder"
        case .inThePast: "inThePast"
        case .tooClose: "tooClose"
        case .ticking: "ticking"
        case .endsBeforeReload: "endsBeforeReload"
        case .neverReloaded: "neverReloaded"
        case .unchanged: "unchanged"
        case .pollsTooOften: "pollsTooOften"
        case .manyEntries: "manyEntries"
        case .manyBytes: "manyBytes"
        case .unnamedReload: "unnamedReload"
        }
    }

    /// The fault, and what to do instead.
    package var message: String {
        switch self {
        case .empty: "the timeline has no entry; the widget keeps its present content"
        case .outOfOrder(let index):
            "entries[\(index)] is dated before its predecessor; list entries by date"
        case .inThePast(let count):
            "\(count) entries are in the past: they are never shown, or are stale from the start"
        case .tooClose(let count, let nearest):
            "\(count) entries follow another in less than 5 minutes, the nearest in \(nearest.milliseconds) ms"
        case .ticking(let count, let every):
            "\(count) entries \(every.milliseconds / 1000) s apart; a timer or relative date updates by itself"
        case .endsBeforeReload(let by):
            "the last entry stays up for \(by.milliseconds / 1000) s until the `after` date; add entries up to it"
        case .neverReloaded: "its reload policy is never, and it takes no pushes: only its app can reload it"
        case .unchanged(let count):
            "\(count) reloads in a row brought the same content; reload less often"
        case .pollsTooOften(let every):
            "a single entry that is replaced after \(every.milliseconds / 1000) s; send more entries or push"
        case .manyEntries(let count, let advised):
            "\(count) entries; devices misbehave above about \(advised)"
        case .manyBytes(let bytes, let advised):
            "\(bytes) bytes of content; devices keep about \(advised)"
        case .unnamedReload(let outstanding):
            "the report names no reload and counts as the host's own, while \(outstanding) reloads of the widget are outstanding; name the reload in `reload`"
        }
    }
}

/// The data for linting besides the timeline.
package struct LintContext: Hashable, Sendable {
    /// The pace interval of the instance's budget.
    package var pace = Interval.zero
    /// The meaning of `atEnd` for the kind.
    package var atEnd = BudgetPolicy.AtEndReading.documentation
    /// Whether a push or the app may reload the kind.
    package var isReloadedOtherwise = true
    /// How many timelines right before this one had its digest.
    package var equalDigestsBefore = 0
    /// The size of the content of all entries; nil if it is unknown.
    package var contentBytes: Int?
    /// The number of the instance's outstanding reloads that the timeline could be for, and names none of.
    package var unnamedReloads = 0

    package init() {}
}

extension Timeline {
    /// The findings about this timeline, each rule at most once, in the order of ``TimelineFinding``'s cases.
    /// O(n log n) in the entries.
    package func lint(
        receivedAt: Instant,
        context: LintContext = LintContext(),
        limits: TimelineLimits = TimelineLimits()
    ) -> [TimelineFinding] {
        var findings: [TimelineFinding] = []
        let dates = self.entries.map(\.date)
        if dates.isEmpty { findings.append(.empty) }
        if let index = dates.indices.dropFirst().first(where: { dates[$0] < dates[$0 - 1] }) {
            findings.append(.outOfOrder(index: index))
        }
        let sorted = dates.sorted()
        let due = sorted.count { $0 <= receivedAt }
        // The newest entry that is due is the one shown, and a whole hour is a common raster for such entries.
        let isStale = due > 0 && receivedAt - sorted[due - 1] > .hours(1)
        if due > 1 || isStale { findings.append(.inThePast(count: isStale ? due : due - 1)) }
        findings += Self.spacing(of: sorted)
        if case .after(let date) = self.policy, sorted.count > 1, let end = sorted.last, end < date {
            findings.append(.endsBeforeReload(by: date - end))
        }
        if self.policy == .never, !context.isReloadedOtherwise { findings.append(.neverReloaded) }
        if self.digest != nil, context.equalDigestsBefore >= 2 {
            findings.append(.unchanged(count: context.equalDigestsBefore + 1))
        }
        if sorted.count == 1,
            let next = self.nextRequest(receivedAt: receivedAt, pace: context.pace, atEnd: context.atEnd),
            next - receivedAt < .hours(1)
        {
            findings.append(.pollsTooOften(every: next - receivedAt))
        }
        if sorted.count > limits.entriesAdvised {
            findings.append(.manyEntries(count: sorted.count, advised: limits.entriesAdvised))
        }
        if let bytes = context.contentBytes, bytes > limits.contentBytesAdvised {
            findings.append(.manyBytes(bytes: bytes, advised: limits.contentBytesAdvised))
        }
        if context.unnamedReloads > 0 { findings.append(.unnamedReload(outstanding: context.unnamedReloads)) }
        return findings
    }

    /// How many neighbours at one ticking distance it takes to call it a clock.
    private static let ticksMin = 5

    private static func spacing(of sorted: [Instant]) -> [TimelineFinding] {
        var close = 0
        var nearest = Interval.minutes(5)
        var ticks = (second: 0, minute: 0)
        for index in sorted.indices.dropFirst() {
            let gap = sorted[index] - sorted[index - 1]
            if gap < .minutes(5) { close += 1 }
            nearest = min(nearest, gap)
            if gap == .seconds(1) { ticks.second += 1 }
            if gap == .minutes(1) { ticks.minute += 1 }
        }
        var findings: [TimelineFinding] = []
        if close > 0 { findings.append(.tooClose(count: close, nearest: nearest)) }
        if ticks.second >= Self.ticksMin, ticks.second >= ticks.minute {
            findings.append(.ticking(count: ticks.second, every: .seconds(1)))
        } else if ticks.minute >= Self.ticksMin {
            findings.append(.ticking(count: ticks.minute, every: .minutes(1)))
        }
        return findings
    }
}
