package import IntentMatching
import Synchronization
package import WidgetModel

/// How much undecided work each team may have in the log: fairness is made here, since a partition applies its log in order.
///
/// A team that is within its share waits for the others' shares and its own, at most ``logSeconds`` by the partition's pace,
/// and for the largest push that was let in on top of them. Any thread.
package final class WorkAdmission: Sendable {
    /// What all teams together may have in the log, in seconds: each an equal part, and one part for the next team.
    static let logSeconds = 2
    /// The longest that a sender is told to wait, in seconds.
    private static let retryAfterMax = 60

    /// What becomes of a request.
    package enum Verdict: Hashable, Sendable {
        /// It may be logged; what it is charged with in each partition.
        case admitted([Int])
        /// The team has its share in the log: after so many seconds it may be less.
        case refused(retryAfter: Int)
        /// It is more alone than one request may be.
        case tooLarge(TooLarge)
    }

    /// A request that is more work than one may be.
    package struct TooLarge: Hashable, Sendable {
        /// In the partition that it is most for.
        package let units: Int
        package let unitsMax: Int

        package init(units: Int, unitsMax: Int) {
            (self.units, self.unitsMax) = (units, unitsMax)
        }
    }

    package let partitions: [PartitionWork]
    private let teams = Mutex<[TeamID: TeamWork]>([:])
    private let undecided: Atomic<Int64>
    private let pushMax: Atomic<Int64>
    private let tooLarge = Atomic<Int>(0)

    package init(partitions: Int, _ settings: GatewayConfiguration.Fairness = .init()) {
        self.partitions = (0..<partitions).map { PartitionWork(PartitionID(UInt16($0))) }
        self.undecided = Atomic(settings.undecided.milliseconds)
        self.pushMax = Atomic(settings.pushMax.milliseconds)
    }

    /// Keeps to other settings from now on.
    package func use(_ settings: GatewayConfiguration.Fairness) {
        self.undecided.store(settings.undecided.milliseconds, ordering: .relaxed)
        self.pushMax.store(settings.pushMax.milliseconds, ordering: .relaxed)
    }

    /// What a team has in the log; the same object each time.
    package func work(of team: TeamID) -> TeamWork {
        self.teams.withLock { teams in
            if let work = teams[team] { return work }
            let work = TeamWork(team, partitions: self.partitions.count)
            teams[team] = work
            return work
        }
    }

    /// Every team that was asked for, in the order of their ids.
    package var allTeams: [TeamWork] {
        self.teams.withLock { $0.values.sorted { $0.team.rawValue < $1.team.rawValue } }
    }

    /// Pushes that were more work than one may be.
    package var tooLargePushes: Int { self.tooLarge.load(ordering: .relaxed) }

    // MARK: Asking

    /// How many units a team may have undecided in a partition.
    package func share(of team: TeamWork, in partition: PartitionID) -> Int {
        let work = self.partitions[Int(partition.rawValue)]
        let teams = work.activeTeams + (team.undecided(in: partition) == 0 ? 1 : 0)
        let share = self.undecided.load(ordering: .relaxed)
        // One part is left for the team that comes next.
        let part = max(Int64(Self.logSeconds) * 1000, 2 * share) / Int64(teams + 1)
        return Self.units(min(share, part), at: work.pace)
    }

    /// How many units one request may be in a partition.
    ///
    /// - Parameter pushMax: The app's own setting.
    package func unitsMax(in partition: PartitionID, _ pushMax: Interval?) -> Int {
        let max = pushMax?.milliseconds ?? self.pushMax.load(ordering: .relaxed)
        return Self.units(max, at: self.partitions[Int(partition.rawValue)].pace)
    }

    /// Whether a team may have so many units more in a partition: always if it has none.
    ///
    /// - Parameter own: What it has beside what is counted.
    /// - Returns: Nil if it may, else after how many seconds it is to ask again.
    @inline(__always)
    package func wait(_ team: TeamWork, for units: Int, in partition: PartitionID, beside own: Int) -> Int? {
        let present = team.undecided(in: partition) + own
        if present == 0 { return nil }
        let share = self.share(of: team, in: partition)
        guard present + units > share else { return nil }
        team.addRefusal()
        let over = present + units - share
        let pace = self.partitions[Int(partition.rawValue)].pace
        return min(Self.retryAfterMax, max(1, (over + pace - 1) / pace))
    }

    /// How many units a team may still have in a partition: at least the first request's if it has none.
    package func left(to team: TeamWork, for units: Int, in partition: PartitionID) -> Int {
        let present = team.undecided(in: partition)
        let left = max(0, self.share(of: team, in: partition) - present)
        return present == 0 ? max(left, units) : left
    }

    /// Whether a record for all partitions may be logged.
    ///
    /// - Parameters:
    ///   - units: By partition.
    ///   - pushMax: The app's own setting.
    ///   - charges: What its team has beside what is counted.
    package func judge(
        _ units: [Int],
        of team: TeamWork,
        pushMax: Interval?,
        beside charges: WorkCharges = WorkCharges()
    ) -> Verdict {
        var worst: TooLarge?
        for (work, units) in zip(self.partitions, units) {
            let max = self.unitsMax(in: work.partition, pushMax)
            if units > max, units > worst?.units ?? 0 { worst = TooLarge(units: units, unitsMax: max) }
        }
        if let worst { return .tooLarge(worst) }
        return self.judgeShare(units, of: team, beside: charges)
    }

    /// The same, but that it may be as large as its team's share is.
    package func judgeShare(_ units: [Int], of team: TeamWork, beside charges: WorkCharges = WorkCharges()) -> Verdict {
        var wait: Int?
        for (work, units) in zip(self.partitions, units) {
            let own = charges.units(of: team, in: work.partition)
            if let one = self.wait(team, for: units, in: work.partition, beside: own) { wait = max(wait ?? 0, one) }
        }
        return wait.map { .refused(retryAfter: $0) } ?? .admitted(units)
    }

    /// The same, as the problem that is answered.
    ///
    /// - Returns: What it is charged with in each partition.
    /// - Throws: ``Problem/overShare(retryAfter:)`` or ``Problem/tooMuchWork(_:)``.
    package func admit(
        _ units: [Int],
        of team: TeamWork,
        pushMax: Interval?,
        beside charges: WorkCharges = WorkCharges()
    ) throws(Problem) -> [Int] {
        switch self.judge(units, of: team, pushMax: pushMax, beside: charges) {
        case .admitted(let units): return units
        case .refused(let wait): throw .overShare(retryAfter: wait)
        case .tooLarge(let work): throw .tooMuchWork(work)
        }
    }

    /// What a record for all instances of an app, or of a kind, takes in each partition at most.
    package func bounds(app: BundleID, _ kind: WidgetKind?, _ pattern: MatchPattern?) -> [Int] {
        self.partitions.map { work in
            let audience = work.audience(of: app, kind)
            return WorkUnits.record + audience + WorkUnits.finding(pattern, among: audience)
        }
    }

    /// The same, where it is known how many it matches.
    package func estimates(_ matched: [Int], app: BundleID, _ kind: WidgetKind?, _ pattern: MatchPattern?) -> [Int] {
        zip(self.partitions, matched).map { work, matched in
            WorkUnits.record + matched + WorkUnits.finding(pattern, among: work.audience(of: app, kind))
        }
    }

    package func addTooLarge() { self.tooLarge.wrappingAdd(1, ordering: .relaxed) }

    // MARK: Charging

    /// Work that is about to be logged.
    package func begin(_ charges: WorkCharges) {
        for charge in charges.all {
            self.partitions[Int(charge.partition.rawValue)].begin(charge.units, of: charge.team)
        }
    }

    /// Work that will never be in the log.
    package func end(_ charges: WorkCharges) {
        for charge in charges.all { self.partitions[Int(charge.partition.rawValue)].end(charge.units, of: charge.team) }
    }

    private static func units(_ milliseconds: Int64, at pace: Int) -> Int {
        let (product, overflow) = Int(milliseconds).multipliedReportingOverflow(by: pace)
        return overflow ? .max : product / 1000
    }
}
