/// A time zone as a simulation needs it: the distance to UTC, and when clocks change.
///
/// A few zones stand for many. Source: the IANA time zone database, rules of 2026.
package struct TimeZoneRule: Hashable, Sendable {
    /// When daylight-saving time begins and ends.
    private enum Change: Sendable {
        case none
        /// Second Sunday in March to first Sunday in November, at 2:00 local.
        case unitedStates
        /// Last Sunday in March to last Sunday in October, at 1:00 UTC.
        case europe
        /// First Sunday in October to first Sunday in April, at 2:00 standard time.
        case australia
    }

    package let name: String
    /// Seconds that standard time is ahead of UTC.
    private let offset: Int
    private let change: Change

    private init(_ name: String, _ minutes: Int, _ change: Change = .none) {
        self.name = name
        self.offset = minutes * 60
        self.change = change
    }

    package static let utc = TimeZoneRule("UTC", 0)

    /// Every zone that a scenario may name.
    package static let all: [TimeZoneRule] = [
        .utc, TimeZoneRule("America/Los_Angeles", -480, .unitedStates),
        TimeZoneRule("America/Denver", -420, .unitedStates), TimeZoneRule("America/Chicago", -360, .unitedStates),
        TimeZoneRule("America/New_York", -300, .unitedStates), TimeZoneRule("America/Sao_Paulo", -180),
        TimeZoneRule("Europe/London", 0, .europe), TimeZoneRule("Europe/Berlin", 60, .europe),
        TimeZoneRule("Europe/Athens", 120, .europe), TimeZoneRule("Africa/Lagos", 60),
        TimeZoneRule("Asia/Dubai", 240), TimeZoneRule("Asia/Kolkata", 330), TimeZoneRule("Asia/Shanghai", 480),
        TimeZoneRule("Asia/Tokyo", 540), TimeZoneRule("Australia/Sydney", 600, .australia),
    ]

    /// The instants at which clocks change in a year, in seconds after the epoch, and by how much they are ahead of UTC
    /// from then on.
    private func changes(in year: Int) -> [(at: Int, offset: Int)] {
        func at(_ number: Int, _ month: Int, _ second: Int) -> Int {
            CivilTime.day(number, weekday: 0, month: month, year: year) * 86_400 + second
        }
        let summer = self.offset + 3600
        switch self.change {
        case .none: return []
        case .unitedStates:
            return [(at(2, 3, 7200) - self.offset, summer), (at(1, 11, 7200) - summer, self.offset)]
        case .europe: return [(at(-1, 3, 3600), summer), (at(-1, 10, 3600), self.offset)]
        case .australia:
            return [(at(1, 4, 7200) - self.offset, self.offset), (at(1, 10, 7200) - self.offset, summer)]
        }
    }

    /// The clocks of this zone over a span of seconds after the epoch.
    package func clocks(over span: Range<Int>) -> ZoneClocks {
        let firstYear = CivilTime(seconds: span.lowerBound).year - 1
        let lastYear = CivilTime(seconds: span.upperBound).year
        var steps: [(at: Int, offset: Int)] = [(.min, self.offset)]
        for year in firstYear...lastYear {
            for step in self.changes(in: year) {
                if step.at <= span.lowerBound { steps = [] }
                steps.append((step.at <= span.lowerBound ? .min : step.at, step.offset))
            }
        }
        return ZoneClocks(name: self.name, steps: steps)
    }

    package static func == (left: TimeZoneRule, right: TimeZoneRule) -> Bool { left.name == right.name }
    package func hash(into hasher: inout Hasher) { hasher.combine(self.name) }
}

/// The clocks of one zone over the span of a run.
package struct ZoneClocks: Sendable {
    package let name: String
    /// From when on clocks are so many seconds ahead of UTC; the first from the beginning.
    private let steps: [(at: Int, offset: Int)]

    fileprivate init(name: String, steps: [(at: Int, offset: Int)]) {
        self.name = name
        self.steps = steps
    }

    /// How many times clocks change in the span.
    package var changeCount: Int { self.steps.count - 1 }

    /// Seconds that clocks are ahead of UTC at an instant.
    package func offset(at second: Int) -> Int {
        var index = self.steps.count - 1
        while index > 0, self.steps[index].at > second { index -= 1 }
        return self.steps[index].offset
    }

    /// Local seconds: as UTC would be if its clocks showed this.
    package func local(_ second: Int) -> Int { second + self.offset(at: second) }

    /// The first instant at which local clocks show this; where they skip it, the instant of the change or just after.
    package func instant(local: Int) -> Int {
        for index in self.steps.indices {
            let instant = local - self.steps[index].offset
            let end = index + 1 < self.steps.count ? self.steps[index + 1].at : Int.max
            if instant < end { return max(instant, self.steps[index].at) }
        }
        return local
    }
}
