import IntentMatching
import WidgetModel

/// A push to an app whose matches are being found.
struct FindingWork: ~Copyable, Sendable {
    let push: IncomingPush
    /// What the pattern costs on each instance, see `MatchPattern.cost`.
    let cost: Int
    /// How many instances it may match; nil for any number.
    let matchedMax: Int?
    let isCounted: Bool
    fileprivate var cursor: MatchCursor
    fileprivate var matches: [InstanceNumber] = []

    init(
        _ push: IncomingPush,
        _ cursor: consuming MatchCursor,
        cost: Int,
        matchedMax: Int?,
        isCounted: Bool
    ) {
        self.push = push
        self.cost = cost
        self.matchedMax = matchedMax
        self.isCounted = isCounted
        self.cursor = cursor
    }
}

extension Engine {
    /// What a look at some rows of the index takes, in units: a pattern that only looks values up, and for each step of one
    /// that judges them.
    private static let (batchUnits, stepUnits) = (64, 4)

    /// Finds some of the matches of a push; once all are found they are decided, unless they are too many.
    mutating func advance(_ work: consuming FindingWork, _ units: inout Int) {
        while units > 0 {
            guard self.registry.findNext(&work.cursor) else {
                let matches = work.matches
                return self.work.push(.matches(MatchWork(work.push, matches, isCounted: work.isCounted)))
            }
            work.cursor.appendBatch(to: &work.matches)
            if let matchedMax = work.matchedMax, work.matches.count > matchedMax {
                return self.answer(self.fail(work.push, isCounted: work.isCounted))
            }
            units -= Self.batchUnits.addingSaturating(work.cost.multipliedSaturating(by: Self.stepUnits))
        }
        self.work.push(.finding(work))
    }
}
