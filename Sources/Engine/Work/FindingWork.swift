import IntentMatching
import WidgetModel

/// Something that an app wants of all instances that match, which are being found.
struct FindingWork: ~Copyable, Sendable {
    /// The use of the matching instances.
    enum Purpose: Sendable {
        /// A push with the most instances that it may match; nil for any number.
        case push(IncomingPush, matchedMax: Int?, isCounted: Bool)
        case appReload(AppReloadWork)
    }

    let purpose: Purpose
    /// The units of a look, see ``Engine/lookUnits(_:)``.
    fileprivate let lookUnits: Int
    fileprivate var cursor: MatchCursor
    fileprivate var matches: [InstanceNumber] = []

    init(_ purpose: Purpose, _ cursor: consuming MatchCursor, _ pattern: MatchPattern?) {
        self.purpose = purpose
        self.lookUnits = Engine.lookUnits(pattern)
        self.cursor = cursor
    }
}

extension Engine {
    /// The units of a look at the index: 64 for a pattern that only looks values up, and 4 more for each step of one
    /// that judges them, see `MatchPattern.cost`.
    static func lookUnits(_ pattern: MatchPattern?) -> Int {
        (pattern?.cost ?? 0).multipliedSaturating(by: 4).addingSaturating(64)
    }

    /// Finds some of the instances that match; once all are found it goes on with them.
    mutating func advance(_ work: consuming FindingWork, _ units: inout Int) {
        while units > 0 {
            guard self.registry.findNext(&work.cursor) else { return self.goOn(work) }
            work.cursor.appendBatch(to: &work.matches)
            if case .push(let push, let matchedMax?, let isCounted) = work.purpose, work.matches.count > matchedMax {
                return self.answer(self.fail(push, isCounted: isCounted))
            }
            units -= work.lookUnits
        }
        self.work.push(.finding(work))
    }

    private mutating func goOn(_ work: consuming FindingWork) {
        let matches = work.matches
        switch work.purpose {
        case .push(let push, _, let isCounted): self.work.push(.matches(MatchWork(push, matches, isCounted: isCounted)))
        case .appReload(var reload):
            reload.add(matches)
            self.work.push(.appReload(reload))
        }
    }
}
