package import WidgetModel

/// How often an instance may reload: a platform's rules as data, with the place they were read and the day.
///
/// A preset is a starting point; an app or a kind may have its own. Check one with ``faults()`` before use.
package struct BudgetPolicy: ByteCoded, Hashable, Sendable {
    /// The window of the allowance.
    package enum Window: Hashable, Sendable {
        /// Windows of one length, a whole number of minutes, one after the other.
        case fixed(length: Interval, anchor: Anchor)
        /// Windows of about a day that open at the quietest hour of the host, learned from when it is looked at.
        /// A host about which nothing is learned has ``fixed(length:anchor:)`` days anchored by its hash.
        case tuned
        /// No budget at all.
        case none
    }

    /// Where a row of fixed windows starts.
    package enum Anchor: UInt8, ByteCoded, Hashable, Sendable {
        /// At a minute that a hash of the host picks.
        case hostHash = 0
        /// At the epoch: days start at midnight UTC.
        case utc = 1
    }

    /// The owner of a budget. Raw values are part of the on-disk format.
    package enum Scope: UInt8, ByteCoded, Hashable, Sendable {
        case instance = 0
        /// One budget that all instances of a host share.
        case host = 1
    }

    /// The meaning of `atEnd`. Raw values are part of the on-disk format.
    package enum AtEndReading: UInt8, ByteCoded, Hashable, Sendable {
        /// The next timeline is asked for when the date of the last entry has passed ("Keeping a widget up to date").
        case documentation = 0
        /// From when the last entry is shown the reload is *eligible*: it comes at the budget's pace, without the
        /// burst, and after a single entry at a time that the system picks (WWDC21, session 10048).
        case wwdc21 = 1
    }

    /// An exact fraction: a part, or a factor.
    package struct Share: FieldCoded, Hashable, Sendable {
        package static let coding = Fields({ Self($0, of: $1) }, \.numerator, \.denominator)

        package var numerator: Int
        package var denominator: Int

        package init(_ numerator: Int, of denominator: Int) {
            self.numerator = numerator
            self.denominator = denominator
        }

        /// `count * numerator / denominator`, rounded up.
        package func roundedUp(of count: Int) -> Int {
            (count * self.numerator + self.denominator - 1) / self.denominator
        }

        /// `count * numerator / denominator`, rounded down.
        package func roundedDown(of count: Int) -> Int {
            count * self.numerator / self.denominator
        }

        /// Whichever is less.
        package func smaller(with other: Share) -> Share {
            self.numerator * other.denominator <= other.numerator * self.denominator ? self : other
        }
    }

    /// The more generous first days of a host.
    package struct Learning: FieldCoded, Hashable, Sendable {
        package static let coding = Fields(Self.init, \.factor, \.days)

        /// The factor of the allowance; the result is rounded down. May be above one.
        package var factor = Share(3, of: 2)
        /// For windows that open within this number of days after the host's first registration.
        package var days = 3
    }

    /// The preset's or the operator's name for it.
    package var name: String
    /// Where the numbers come from.
    package var source: String
    /// The day on which they were read there, `YYYY-MM-DD`.
    package var date: String
    package var window = Window.fixed(length: .day, anchor: .hostHash)
    /// The allowance per window of a widget that is never looked at.
    package var rare: Int
    /// The allowance per window of a widget with four views a day, or of a host that never reported visibility.
    package var typical: Int
    /// The allowance per window of a widget that is looked at twenty times a day.
    package var frequent: Int
    /// The burst is the allowance divided by this, rounded down: at least 1, but always less than the allowance.
    package var burstDivisor = 5
    /// Two charged reloads of one instance are at least this far apart.
    package var minimumInterval = Interval.minutes(5)
    /// An exempt reload is at least this long after the reload before it.
    package var exemptInterval = Interval.seconds(15)
    /// Pushes use at most this share of the allowance, rounded up; the rest is the timeline's.
    package var pushShare = Share(3, of: 4)
    package var learning = Learning()
    package var scope = Scope.instance
    /// The most intervals for which a policy reload of a rarely seen and hidden instance waits until it is seen. 0: it
    /// does not wait.
    package var thinning = 0
    package var atEnd = AtEndReading.documentation
    /// Whether no 24 hours may have more charged reloads than the allowance, wherever they begin. Stricter than
    /// WidgetKit.
    package var isRolling = false
    /// The slot over which reloads by timelines' policies are spread, from their date on. Zero spreads nothing.
    package var smoothing = Self.usualSmoothing

    /// Part of the on-disk format: a policy that was logged without a slot of its own has this one.
    package static let usualSmoothing = Interval.minutes(5)

    /// How many times as far apart as at its pace the timeline's own reloads of an instance are while its host is in low power.
    /// One leaves them as they are.
    package var lowPower = Self.usualLowPower

    /// Part of the on-disk format: a policy that was logged without a factor of its own has this one.
    package static let usualLowPower = Share(1, of: 1)

    package var isUnlimited: Bool { self.window == .none }

    /// The length of the windows; a day if they are tuned, or if there is no budget, for counting alone.
    package var windowLength: Interval {
        if case .fixed(let length, _) = self.window { length } else { .day }
    }

    /// The longest window: an hour more than a day if windows are tuned.
    package var windowLengthMax: Interval { self.window == .tuned ? .hours(25) : self.windowLength }

    /// The minute at which a host's row of windows starts, the `anchor` of ``window(containing:anchoredAt:)``. One hash.
    package func anchor(of host: HostKey) -> Int {
        if case .fixed(_, .utc) = self.window { return 0 }
        return BudgetWindow.anchor(of: host, length: self.windowLength)
    }

    /// A host's window around an instant.
    package func window(containing now: Instant, anchoredAt anchor: Int) -> BudgetWindow {
        BudgetWindow.containing(now, anchoredAt: anchor, length: self.windowLength)
    }
}
