package import Engine
import Timelines
package import WidgetModel

/// Why reloads happened, as few and as plain as a chart can show.
package enum ReloadSource: Int, NamedCase {
    /// Charged, for a push.
    case push = 0
    /// Charged, because a timeline was at its end.
    case policy = 1
    /// Charged, for anything else.
    case other = 2
    /// Not charged.
    case exempt = 3
    /// Brought along by a push for another widget of the phone, whether or not the budget allowed it.
    case collateral = 4

    package static let names = CaseNames<ReloadSource>()

    init(_ reload: ReloadEffect, _ collateral: Collateral?) {
        if collateral != nil {
            self = .collateral
        } else if !reload.isCharged {
            self = .exempt
        } else if reload.causes.contains(.policy) {
            self = .policy
        } else {
            self = reload.causes.contains(.push) ? .push : .other
        }
    }
}

/// The measures of one population: people who are alike.
package struct PopulationMeasures: Hashable, Sendable {
    package var instances = 0
    /// How often an instance was looked at.
    package var looks = 0
    /// Looks at old data, and how old it was.
    package var staleLooks = WaitHistogram()
    /// From a change of the data until an instance showed it, for each instance and change.
    package var staleness = WaitHistogram()
    /// Changes that an instance had not shown when the run ended.
    package var neverShown = 0
    /// Instances that showed old data for longer than the scenario allows.
    package var starved = 0
    /// Reloads that pushes for other widgets brought along: within the budget, which pays, and beyond it.
    package var collateral = 0
    package var collateralOver = 0

    mutating func noteCollateral(_ collateral: Collateral) {
        switch collateral {
        case .conforming: self.collateral += 1
        case .over: self.collateralOver += 1
        }
    }

    mutating func add(_ other: PopulationMeasures) {
        self.instances += other.instances
        self.looks += other.looks
        self.staleLooks.add(other.staleLooks)
        self.staleness.add(other.staleness)
        self.neverShown += other.neverShown
        self.starved += other.starved
        self.collateral += other.collateral
        self.collateralOver += other.collateralOver
    }
}

/// Everything that is counted while a scenario runs: sums, so that partitions can be added.
package struct Measures: Hashable, Sendable {
    package internal(set) var records = 0
    package internal(set) var pushes = 0
    package internal(set) var timelines = 0
    package internal(set) var refused = 0
    /// Reloads that found their host out of reach.
    package internal(set) var offline = 0
    /// Refreshes that hosts on their chargers made by themselves.
    package internal(set) var refreshes = 0
    /// Pushes that went to phones, each of which reloads all widgets there.
    package internal(set) var tokenPushes = 0
    /// Reloads that phones made by themselves: when a widget was new, was tapped, or its timeline was at its end.
    package internal(set) var ownReloads = 0
    package internal(set) var populations: [PopulationMeasures]
    package internal(set) var load: ProviderLoad
    package internal(set) var budget = BudgetUse()
    /// By hour of the run and source.
    package private(set) var reloadsByHour: [[Int]]
    /// By hour of the hosts' local day and source.
    package private(set) var reloadsByLocalHour: [[Int]]
    /// By hour of the run: for how many seconds instances showed old data, added up.
    package private(set) var staleSeconds: [Int]
    /// The engines' own counts, added up over partitions.
    package private(set) var engine = EngineStats()
    /// The engines' running hashes, in the partitions' order.
    package private(set) var hashes: [UInt64] = []

    init(_ scenario: Scenario) {
        let sources = Array(repeating: 0, count: ReloadSource.allCases.count)
        self.populations = Array(repeating: PopulationMeasures(), count: scenario.populations.count)
        self.load = ProviderLoad(seconds: scenario.days * 86_400)
        self.reloadsByHour = Array(repeating: sources, count: scenario.days * 24)
        self.reloadsByLocalHour = Array(repeating: sources, count: 24)
        self.staleSeconds = Array(repeating: 0, count: scenario.days * 24)
    }

    mutating func noteReload(_ source: ReloadSource, hour: Int, localHour: Int) {
        self.reloadsByHour[min(hour, self.reloadsByHour.count - 1)][source.rawValue] += 1
        self.reloadsByLocalHour[localHour][source.rawValue] += 1
    }

    /// Shares a span in which an instance showed old data out among the hours.
    mutating func noteStale(from start: Int, until end: Int) {
        var at = start
        while at < end {
            let hour = at / 3600
            guard hour < self.staleSeconds.count else { return }
            let next = min(end, (hour + 1) * 3600)
            self.staleSeconds[hour] += next - at
            at = next
        }
    }

    mutating func takeStatistics(_ engine: borrowing Engine) {
        self.engine += engine.stats()
        self.hashes.append(engine.runningHash)
    }

    package mutating func add(_ other: Measures) {
        self.records += other.records
        self.pushes += other.pushes
        self.timelines += other.timelines
        self.refused += other.refused
        self.offline += other.offline
        self.refreshes += other.refreshes
        self.tokenPushes += other.tokenPushes
        self.ownReloads += other.ownReloads
        for index in self.populations.indices { self.populations[index].add(other.populations[index]) }
        self.load.add(other.load)
        self.budget.add(other.budget)
        for hour in self.reloadsByHour.indices {
            for source in self.reloadsByHour[hour].indices {
                self.reloadsByHour[hour][source] += other.reloadsByHour[hour][source]
            }
            self.staleSeconds[hour] += other.staleSeconds[hour]
        }
        for hour in 0..<24 {
            for source in self.reloadsByLocalHour[hour].indices {
                self.reloadsByLocalHour[hour][source] += other.reloadsByLocalHour[hour][source]
            }
        }
        self.engine += other.engine
        self.hashes += other.hashes
    }
}
