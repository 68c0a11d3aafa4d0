package import IntentMatching
import Ownership
package import Settings
import Synchronization
package import WidgetModel

/// How much undecided work each team may have. Fairness is decided before the log, since a partition applies its log in order.
///
/// All teams together may have ``logSeconds`` of the partition's pace. A team may have half of the part that the others leave of that. So
/// all together never pass it, however many teams there are and in whatever order they come; where k teams ask for all that they can get,
/// each has the (k + 1)th part. Beyond its share, one request at a time may be let in. So an accepted request waits for ``logSeconds`` and
/// the largest request at most. Any thread.
package final class WorkAdmission: Sendable {
    /// The most undecided work of all teams together, in seconds.
    static let logSeconds = 2
    /// The longest that a sender is told to wait, in seconds.
    private static let retryAfterMax = 60

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
    package func applySettings(_ settings: GatewayConfiguration.Fairness) {
        self.undecided.store(settings.undecided.milliseconds, ordering: .relaxed)
        self.pushMax.store(settings.pushMax.milliseconds, ordering: .relaxed)
    }

    /// A team's work in the log; the same object each time.
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

    /// Requests that were more work than one may be.
    package var tooLargeRequests: Int { self.tooLarge.load(ordering: .relaxed) }

    // MARK: Asking

    private func bounds(at pace: Int) -> PartitionWork.ShareBounds {
        let share = self.undecided.load(ordering: .relaxed)
        return PartitionWork.ShareBounds(
            all: Self.units(max(Int64(Self.logSeconds) * 1000, 2 * share), at: pace),
            team: Self.units(share, at: pace)
        )
    }

    /// How many units a team may have undecided in a partition.
    package func share(of team: TeamWork, in partition: PartitionID) -> Int {
        let work = self.partitions[Int(partition.rawValue)]
        return work.share(of: team, self.bounds(at: work.pace))
    }

    /// How many units one request may be in a partition.
    ///
    /// - Parameter pushMax: The app's own setting.
    package func unitsMax(in partition: PartitionID, _ pushMax: Interval?) -> Int {
        let max = pushMax?.milliseconds ?? self.pushMax.load(ordering: .relaxed)
        return Self.units(max, at: self.partitions[Int(partition.rawValue)].pace)
    }

    /// The partition in which so many units are most above the size of one request; nil if in none.
    ///
    /// - Parameter pushMax: The app's own setting.
    package func excess(of units: [Int], _ pushMax: Interval?) -> WorkExcess? {
        var worst: WorkExcess?
        for (work, units) in zip(self.partitions, units) {
            let max = self.unitsMax(in: work.partition, pushMax)
            if units > max, units > worst?.units ?? 0 { worst = WorkExcess(units: units, unitsMax: max) }
        }
        return worst
    }

    /// The most units of a record for all instances of an app, or of a kind, in each partition.
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

    /// Whether a push may match so many fewer than all instances that the partitions are to be asked.
    package func isToBeAsked(app: BundleID, _ kind: WidgetKind?, _ pattern: MatchPattern?) -> Bool {
        pattern != nil && self.partitions.contains { $0.audience(of: app, kind) > WorkUnits.unaskedMax }
    }

    // MARK: Admitting

    /// Has a request's units count as undecided, in all partitions or in none. See ``PartitionWork/reserve(_:orUpTo:of:_:)``.
    ///
    /// - Parameter units: By partition; 0 where there is nothing to do.
    /// - Throws: ``Problem/overShare(retryAfter:)``, which counts as a refusal.
    package func admit(_ units: [Int], of team: TeamWork) throws(Problem) -> WorkCharges {
        var charges = WorkCharges()
        var wait: Int?
        for (work, units) in zip(self.partitions, units) where units > 0 {
            switch self.reserve(units, orUpTo: units, of: team, in: work) {
            case .reserved(let charge): charges.add(charge)
            case .refused(let over): wait = max(wait ?? 0, Self.wait(for: over, at: work.pace))
            }
        }
        guard let wait else { return charges }
        self.end(charges)
        team.addRefusal()
        throw .overShare(retryAfter: wait)
    }

    /// The same for a push, or for another request with a largest size.
    ///
    /// - Parameter pushMax: The app's own setting.
    /// - Throws: ``Problem/tooMuchWork(_:)``, too, which is counted.
    package func admit(_ units: [Int], of team: TeamWork, pushMax: Interval?) throws(Problem) -> WorkCharges {
        if let excess = self.excess(of: units, pushMax) { throw self.refusal(of: excess) }
        return try self.admit(units, of: team)
    }

    /// The same of a question about a push, which partitions work on before it is logged or instead.
    ///
    /// - Parameters:
    ///   - app: The push's app.
    ///   - pushMax: The app's own setting.
    ///   - decidedMax: How many matches may be decided for the answer.
    /// - Throws: ``Problem/tooMuchWork(_:)`` if to find the instances alone is more than the push may be.
    package func admit(
        questionAbout kind: WidgetKind?,
        _ pattern: MatchPattern?,
        of team: TeamWork,
        _ app: BundleID,
        pushMax: Interval?,
        decidedMax: Int
    ) throws(Problem) -> WorkCharges {
        let audiences = self.partitions.map { $0.audience(of: app, kind) }
        let finding = audiences.map { WorkUnits.finding(pattern, among: $0) }
        if let excess = self.excess(of: finding, pushMax) { throw self.refusal(of: excess) }
        return try self.admit(
            zip(audiences, finding).map { WorkUnits.record + $1 + min(decidedMax, $0) },
            of: team
        )
    }

    /// The same in one partition.
    ///
    /// - Parameter most: As many are reserved instead, or as many of these as the share has room for.
    package func admit(_ units: Int, orUpTo most: Int, of team: TeamWork, in partition: PartitionID) throws(Problem)
        -> WorkCharges.Charge
    {
        let work = self.partitions[Int(partition.rawValue)]
        switch self.reserve(units, orUpTo: most, of: team, in: work) {
        case .reserved(let charge): return charge
        case .refused(let over):
            team.addRefusal()
            throw .overShare(retryAfter: Self.wait(for: over, at: work.pace))
        }
    }

    /// Has units count as undecided, however many there are: for records that are never refused.
    package func charge(_ units: [Int], to team: TeamWork) -> WorkCharges {
        var charges = WorkCharges()
        for (work, units) in zip(self.partitions, units) where units > 0 { charges.add(work.charge(units, to: team)) }
        return charges
    }

    /// Work that is done, or will never be.
    package func end(_ charges: WorkCharges) {
        for charge in charges.all { self.end(charge) }
    }

    package func end(_ charge: WorkCharges.Charge) { self.partitions[Int(charge.partition.rawValue)].end(charge) }

    private func reserve(_ units: Int, orUpTo most: Int, of team: TeamWork, in work: PartitionWork)
        -> PartitionWork.Reservation
    {
        work.reserve(units, orUpTo: most, of: team, self.bounds(at: work.pace))
    }

    private func refusal(of excess: WorkExcess) -> Problem {
        self.tooLarge.wrappingAdd(1, ordering: .relaxed)
        return .tooMuchWork(excess)
    }

    /// After how many seconds a team is to ask again that has so many units too much.
    private static func wait(for over: Int, at pace: Int) -> Int {
        min(Self.retryAfterMax, max(1, over / pace + (over % pace == 0 ? 0 : 1)))
    }

    private static func units(_ milliseconds: Int64, at pace: Int) -> Int {
        let (product, overflow) = Int(milliseconds).multipliedReportingOverflow(by: pace)
        return overflow ? .max : product / 1000
    }
}
