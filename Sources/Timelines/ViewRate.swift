package import WidgetModel

/// The rate of an instance's views: views a day, in 256ths; an eighth is forgotten whenever a window opens.
///
/// An instance without any report counts as one with ``typical`` views.
package struct ViewRate: Hashable, Comparable, Sendable {
    /// Views a day times 256.
    package private(set) var scaled: UInt16

    /// 4 views a day.
    package static let typical = ViewRate(viewsPerDay: 4)
    /// 20 views a day.
    package static let frequent = ViewRate(viewsPerDay: 20)
    /// One view a day: below it an instance is rarely seen.
    package static let seldom = ViewRate(viewsPerDay: 1)

    /// - Parameter viewsPerDay: 0 to 255.
    package init(viewsPerDay: UInt16) {
        self.scaled = min(viewsPerDay, 255) * 256
    }

    /// The rate that ``scaled`` was.
    package init(scaled: UInt16) {
        self.scaled = scaled
    }

    /// Includes a window that has ended: its views become an eighth of the rate.
    ///
    /// - Parameters:
    ///   - views: The views of the instance in the window.
    ///   - length: The window's length, more than zero.
    package mutating func takeViews(_ views: UInt16, in length: Interval) {
        let day = Interval.day.milliseconds
        let seen = Int64(views) * 32 * day / max(1, length.milliseconds)
        let kept = Int64(self.scaled) - Int64(self.scaled / 8)
        self.scaled = UInt16(clamping: kept + seen)
    }

    /// The rate after a window without views; the rate itself once nothing more is forgotten.
    package var unseen: ViewRate { ViewRate(scaled: self.scaled - self.scaled / 8) }

    package static func < (left: ViewRate, right: ViewRate) -> Bool { left.scaled < right.scaled }
}

extension BudgetPolicy {
    /// The allowance of a window, fixed when it opens: linear in the views a day from ``rare`` at none over ``typical``
    /// at four to ``frequent`` at twenty, rounded down; more in a host's first days.
    ///
    /// Tuned windows are 23 to 25 hours long and get the corresponding part of a day's allowance; windows of a fixed
    /// length get the whole allowance.
    ///
    /// - Parameters:
    ///   - rate: The instance's rate of views at the window's opening.
    ///   - length: The window's length.
    ///   - isLearning: Whether the window opens in the host's first days.
    package func allowance(for rate: ViewRate, in length: Interval, isLearning: Bool) -> Int {
        let (from, to, start, span) =
            rate < .typical
            ? (self.rare, self.typical, 0, Int(ViewRate.typical.scaled))
            : (
                self.typical, self.frequent, Int(ViewRate.typical.scaled),
                Int(ViewRate.frequent.scaled - ViewRate.typical.scaled)
            )
        let along = min(Int(rate.scaled) - start, span)
        var allowance = from * span + (to - from) * along
        if self.window == .tuned {
            allowance = Int(Int64(allowance) * length.milliseconds / (Int64(span) * Interval.day.milliseconds))
        } else {
            allowance /= span
        }
        if isLearning { allowance = self.learningAllowance(of: allowance) }
        return min(max(1, allowance), Self.allowanceMax)
    }

    /// Whether a window that opens then is one of a host's first days; the one open at its registration is.
    package func isLearning(windowFrom start: Instant, firstRegisteredAt: Instant) -> Bool {
        self.learning.days > 0 && start < firstRegisteredAt + .days(Int64(self.learning.days))
    }
}
