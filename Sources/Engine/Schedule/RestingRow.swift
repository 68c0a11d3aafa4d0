import Timelines
import WidgetModel

/// When an instance may reload, as far as decisions read it of one at rest: 64 bytes, one line of memory, without a pointer.
struct RestingRow: Sendable {
    var budget = ReloadBudget()
    /// When the timeline's policy asks for the next timeline, smoothed.
    var timelineDue = Instant.distantFuture
    /// The number of the last decision.
    var lastDecision = Ledger.noDecision
    /// That of its ``ActiveRow``.
    var active = ActiveTable.rest
    /// The minute at which the window that was opened last starts; see ``Engine/openWindow(of:)``.
    var windowMinute: UInt32 = 0
    /// The minute at which the host's windows start under the kind's policy.
    var anchor: UInt32 = 0
    /// The allowance of the window that was opened last.
    var allowance: UInt16 = 0
    /// How often the user has looked at it since that window's opening.
    var views: UInt16 = 0
    /// How often the user looks at it, learned from earlier windows.
    var rate = ViewRate.typical
    /// The reloads that an operator granted on top, for the present window.
    var granted: UInt16 = 0
    /// The limit of the instance's first window, see ``ColdRow/firstWindow``.
    var firstLimit: UInt16 = .max
    var flags: Schedule.Flags = []

    /// Whether anything waits for it or a reload is outstanding.
    @inline(__always)
    var isActive: Bool { self.active != ActiveTable.rest }
}

/// When an instance may reload, as far as few decisions read it: 32 bytes.
struct ColdRow: Sendable {
    /// The window in which the instance was first added.
    var firstWindow = Instant.distantPast
    /// Until when the user is taken to see it.
    var visibleUntil = Instant.distantPast
    /// When an `added` or `configured` reload was last not charged.
    var freeSetupAt = Instant.distantPast
    var exemptReloads: UInt32 = 0
    /// Its ``RollingDay``, if its policy counts so and it was ever charged.
    var rollingDay = Number<RollingDay>.none
}

extension Schedule {
    /// The yes-or-no properties of an instance's schedule, a bit each. Their places, and those of ``InstanceTable/Flags`` between them, are
    /// part of the snapshot's format.
    struct Flags: OptionSet, Sendable {
        let rawValue: UInt16

        static let hasScheduled = Flags(rawValue: 1 << 2)
        static let hasPendingDigest = Flags(rawValue: 1 << 3)
        static let isPolicyPaced = Flags(rawValue: 1 << 5)
        /// All that there are.
        static let known: Flags = [.hasScheduled, .hasPendingDigest, .isPolicyPaced]
    }
}

extension RestingRow {
    /// Whether a waiting push may have its not-before still to come.
    @inline(__always) var hasScheduled: Bool {
        get { self.flags[.hasScheduled] }
        set { self.flags[.hasScheduled] = newValue }
    }
    /// Whether ``InstanceDetails/Content/pendingDigest`` is the state that the next reload brings.
    @inline(__always) var hasPendingDigest: Bool {
        get { self.flags[.hasPendingDigest] }
        set { self.flags[.hasPendingDigest] = newValue }
    }
    /// Whether the timeline's next request may not use the burst.
    @inline(__always) var isPolicyPaced: Bool {
        get { self.flags[.isPolicyPaced] }
        set { self.flags[.isPolicyPaced] = newValue }
    }
}
