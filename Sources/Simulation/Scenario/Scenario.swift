package import Timelines
package import WidgetModel

/// The subject of a simulation: one app's kinds of widget, the people who look at them, and the back ends that push.
///
/// Virtual time is counted in whole seconds from ``start``.
package struct Scenario: Hashable, Sendable {
    package var name = "Scenario"
    package var about = ""
    package var seed: UInt64 = 1
    /// In seconds after the epoch.
    package var start = 0
    package var days = 7
    /// How many engines share the hosts; the sums do not depend on it.
    package var partitions = 2
    package var app = BundleID("app.example")
    package var team = TeamID("EXAMPLE001")
    /// A widget that shows old data for longer than this is starved.
    package var starvedAfter = Interval.hours(4)
    package var kinds: [SimulatedKind] = []
    package var populations: [Population] = []
    package var senders: [SimulatedSender] = []
    package var clockSteps: [ClockStep] = []

    package init() {}

    /// The seconds after the epoch that are simulated.
    package var span: Range<Int> { self.start..<self.start + self.days * 86_400 }

    /// How many hosts there are.
    package var hostCount: Int { self.populations.reduce(0) { $0 + $1.hosts } }

    /// How many widget instances there are.
    package var instanceCount: Int { self.populations.reduce(0) { $0 + $1.hosts * $1.instancesPerHost } }

    /// The most days of one run.
    package static let daysMax = 366
    /// The most instances of one run.
    package static let instancesMax = 20_000_000
}

/// The gateway's clock is wrong from an instant on.
package struct ClockStep: Hashable, Sendable {
    /// After the start.
    package var at: Interval
    /// How far the clock is set forward; below zero, time in the log stands still until the clock has caught up.
    package var by: Interval

    package init(at: Interval, by: Interval) {
        self.at = at
        self.by = by
    }
}

/// A kind of widget, the data that it shows, and its timeline provider.
package struct SimulatedKind: Hashable, Sendable {
    package var kind = WidgetKind("widget")
    /// The parameter that says which data an instance shows.
    package var parameter = "topic"
    /// The values of the parameter: each is a piece of data that changes by itself.
    package var values: [String] = []
    package var budget = BudgetPolicy.widgetkit
    package var timeline = TimelineShape()
    package var provider = SimulatedProvider()

    package init() {}
}

/// The timelines that a provider makes.
package struct TimelineShape: Hashable, Sendable {
    /// When the next timeline is asked for.
    package enum Policy: Hashable, Sendable {
        case atEnd
        case never
        /// So long after the timeline was made.
        case after(Interval)
    }

    /// Something that a change of the data sets, and that then climbs by itself until it is whole: a health that heals.
    package struct Climb: Hashable, Sendable {
        package var from = 0
        package var by = 25
        package var to = 100
        package var every = Interval.hours(1)

        package init() {}

        /// How many steps are left so long after the change.
        func stepsLeft(after elapsed: Int) -> Int {
            let level = self.from + self.by * max(0, elapsed / Int(self.every.milliseconds / 1000))
            return level >= self.to ? 0 : (self.to - level + self.by - 1) / self.by
        }
    }

    package var entries = 1
    package var every = Interval.minutes(15)
    package var policy = Policy.after(.hours(1))
    /// How long before they happen the provider knows of changes: the next timeline is asked for at the first of them.
    package var foresight = Interval.zero
    package var climb: Climb?
    /// When the data can change at all; outside of it a timeline is one entry, and the next is asked for when it opens.
    package var opening: OpeningHours?

    package init() {}
}

/// Hours of the day on some days of the week, in one time zone.
package struct OpeningHours: Hashable, Sendable {
    /// Seconds after local midnight; to 24:00 at most.
    package var from = 0
    package var until = 86_400
    /// 0 for Sunday.
    package var days: Set<Int> = [0, 1, 2, 3, 4, 5, 6]
    package var zone = TimeZoneRule.utc

    package init() {}
}

/// How the answers of a timeline provider come, and its faults.
package struct SimulatedProvider: Hashable, Sendable {
    /// A span of a fault.
    package struct Fault: Hashable, Sendable {
        package enum Kind: Hashable, Sendable {
            /// So many times slower.
            case slow(Int)
            /// No answer; the host says that it did not reload.
            case failing
            /// The content of the span's beginning, with its digest.
            case stuck
        }

        package var kind = Kind.failing
        /// After the start.
        package var at = Interval.zero
        package var length = Interval.hours(1)
        /// Which part of the requests it hits.
        package var share = 1.0

        package init() {}
    }

    /// In whole seconds.
    package var latency: ClosedRange<Int> = 1...2
    package var faults: [Fault] = []

    package init() {}
}

/// People who are alike, and the widgets of their hosts.
package struct Population: Hashable, Sendable {
    /// Widgets of one kind on each host.
    package struct Widgets: Hashable, Sendable {
        package var kind = WidgetKind("widget")
        package var count = 1
        package var popularity = Popularity.even

        package init() {}
    }

    /// How reloads reach their hosts.
    package enum Delivery: String, Hashable, Sendable, CaseIterable {
        /// A stream, over which the gateway tells of each widget, and which drives the timelines.
        case stream
        /// APNs, which knows nothing but the host's token: all its widgets reload, and the phone runs the timelines.
        case apns
    }

    package var name = "people"
    package var hosts = 100
    package var delivery = Delivery.stream
    package var rhythm = Rhythm.commuter
    /// How often a day they look at their widgets; nil for the rhythm's own number.
    package var views: Double?
    /// How often a day they open the app.
    package var opens = 1.0
    /// How often a day they tap a button of a widget.
    package var taps = 0.0
    /// Where they live, with weights.
    package var zones: [ZoneShare] = [ZoneShare(zone: .utc, weight: 1)]
    /// Which part of the reloads finds the host out of reach, and for how long.
    package var offlineShare = 0.0
    package var offlineFor = Interval.minutes(20)
    package var widgets: [Widgets] = []

    package init() {}

    package var instancesPerHost: Int { self.widgets.reduce(0) { $0 + $1.count } }
}

/// How many live in a zone, compared with the others.
package struct ZoneShare: Hashable, Sendable {
    package var zone: TimeZoneRule
    package var weight: Int

    package init(zone: TimeZoneRule, weight: Int) {
        self.zone = zone
        self.weight = weight
    }
}

/// How often each of several values is chosen.
package enum Popularity: String, Hashable, Sendable, CaseIterable {
    case even
    /// The n-th in proportion to 1 / n.
    case zipf
}

/// A back end: when its data changes, and how it pushes that.
package struct SimulatedSender: Hashable, Sendable {
    /// The target of a push.
    package enum Target: String, Hashable, Sendable, CaseIterable {
        /// One push for the instances that match.
        case matching
        /// One push to the token of each host that shows the data, as to APNs: all of the host's instances are meant.
        case tokens
        /// No push: timelines alone have to find out.
        case none
    }

    package var name = "sender"
    package var kind = WidgetKind("widget")
    package var events: [EventPattern] = []
    package var target = Target.matching
    package var priority: Priority?
    /// How long a push may wait; zero for now or never, nil for the app's default.
    package var expiration: Interval?
    /// Whether a later push about the same data takes the place of one that waits.
    package var collapses = true
    /// Whether a push names the state of the data.
    package var namesDigest = true

    package init() {}
}

/// When data changes, and how much of it.
package struct EventPattern: Hashable, Sendable {
    package enum Form: Hashable, Sendable {
        /// At an even pace.
        case steady(every: Interval)
        /// At random, so many an hour on average.
        case poisson(perHour: Double)
        /// Many within a short time, at times of the day.
        case burst(count: Int, within: Interval)
        /// Once at each of the times of the day.
        case schedule
    }

    package var form = Form.schedule
    /// Seconds after local midnight, for bursts and schedules.
    package var times: [Int] = []
    /// When it happens at all.
    package var hours = OpeningHours()
    /// The values that change: one of them, all at once, or none, so that there is only a push.
    package enum Changes: String, Hashable, Sendable, CaseIterable {
        case one
        case all
        case none
    }

    package var changes = Changes.one
    package var popularity = Popularity.even

    package init() {}
}
