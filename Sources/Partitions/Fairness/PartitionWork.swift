package import NIOCore
import Synchronization
package import WidgetModel

/// The undecided work in one partition by team, the partition's pace, and how far it is behind its log.
///
/// Any thread: nothing here waits for the partition. The partition's owner tells the work that was done.
package final class PartitionWork: Sendable {
    /// A charge that is in the log up to a position.
    private struct Logged {
        let position: LogPosition
        let charge: WorkCharges.Charge
    }

    private struct State {
        var pace = WorkPace()
        /// The undecided units of all teams, but for ``large``.
        var withinShares = 0
        /// The one request that may be more than its team's share.
        var large: (team: TeamWork, units: Int)?
        /// Whether another node has the partition: records that are logged for it are not followed here.
        var isAway = false
        /// In the order of their commits.
        var logged: [Logged] = []
        var audiences: [BundleID: [WidgetKind: Int]] = [:]
        var applied: LogPosition = .start
        /// The newest entry that is known to exist.
        var arrived: LogPosition = .start
        /// When entries came that are not applied yet, those up to a position at once: one a tenth of a second at most.
        var arrivals: [(through: LogPosition, at: NIODeadline)] = []

        /// A team's share: half of the units that the others leave.
        func share(of team: TeamWork, in partition: PartitionID, _ bounds: ShareBounds) -> Int {
            var own = team.undecided(in: partition)
            if let large = self.large, large.team === team { own -= large.units }
            return min(bounds.team, max(0, bounds.all - (self.withinShares - own)) / 2)
        }

        mutating func add(_ charge: WorkCharges.Charge) {
            charge.team.add(charge.units, in: charge.partition)
            if charge.isLarge {
                self.large = (charge.team, charge.units)
            } else {
                self.withinShares += charge.units
            }
        }

        mutating func end(_ charge: WorkCharges.Charge) {
            charge.team.add(-charge.units, in: charge.partition)
            if charge.isLarge {
                self.large = nil
            } else {
                self.withinShares -= charge.units
            }
        }
    }

    /// How many units may be undecided.
    struct ShareBounds {
        /// Of all teams.
        let all: Int
        /// Of one.
        let team: Int
    }

    package let partition: PartitionID
    private let state = Mutex(State())
    private let paceInForce = Atomic<Int>(WorkPace.assumed)

    package init(_ partition: PartitionID) {
        self.partition = partition
    }

    /// Units a second that the partition does.
    package var pace: Int { self.paceInForce.load(ordering: .relaxed) }

    /// The undecided units of all teams here.
    package var undecided: Int { self.state.withLock { $0.withinShares + ($0.large?.units ?? 0) } }

    // MARK: Teams and audiences

    /// How many instances a push to an app, or to a kind of it, may match at most.
    package func audience(of app: BundleID, _ kind: WidgetKind?) -> Int {
        self.state.withLock { state in
            guard let kinds = state.audiences[app] else { return 0 }
            return kind.map { kinds[$0] ?? 0 } ?? kinds.values.reduce(0, +)
        }
    }

    package func setAudiences(_ audiences: [BundleID: [WidgetKind: Int]]) {
        self.state.withLock { $0.audiences = audiences }
    }

    // MARK: Charging

    func share(of team: TeamWork, _ bounds: ShareBounds) -> Int {
        self.state.withLock { $0.share(of: team, in: self.partition, bounds) }
    }

    /// The answer to asking for units.
    enum Reservation {
        case reserved(WorkCharges.Charge)
        /// By how many units it is too much.
        case refused(over: Int)
    }

    /// Has a team's units count as undecided, if they are within its share. If they are more than that, one request at a time
    /// may be, of a team that has nothing else here.
    ///
    /// - Parameter most: As many are reserved instead, or as many of these as the share has room for.
    func reserve(_ units: Int, orUpTo most: Int, of team: TeamWork, _ bounds: ShareBounds) -> Reservation {
        self.state.withLock { state in
            let (own, share) = (team.undecided(in: self.partition), state.share(of: team, in: self.partition, bounds))
            let isWithin = own.addingSaturating(units) <= share
            guard isWithin || (own == 0 && state.large == nil) else {
                return .refused(over: own.addingSaturating(units) - share)
            }
            let charge = WorkCharges.Charge(
                team: team,
                partition: self.partition,
                units: isWithin ? max(units, min(most, share - own)) : units,
                isLarge: !isWithin
            )
            state.add(charge)
            return .reserved(charge)
        }
    }

    /// Has a team's units count as undecided, however many there are.
    func charge(_ units: Int, to team: TeamWork) -> WorkCharges.Charge {
        let charge = WorkCharges.Charge(team: team, partition: self.partition, units: units, isLarge: false)
        self.state.withLock { $0.add(charge) }
        return charge
    }

    /// Work that is done, or will never be.
    func end(_ charge: WorkCharges.Charge) {
        self.state.withLock { $0.end(charge) }
    }

    /// Work that is in the log now. Before the entry is announced.
    package func log(_ charge: WorkCharges.Charge, at position: LogPosition) {
        self.state.withLock { state in
            guard !state.isAway else { return state.end(charge) }
            state.logged.append(Logged(position: position, charge: charge))
        }
    }

    /// Another node has the partition from now on.
    func leave() {
        self.state.withLock { state in
            state.isAway = true
            for one in state.logged { state.end(one.charge) }
            state.logged = []
            state.arrivals = []
            state.audiences = [:]
        }
    }

    /// The partition is this node's.
    func come() {
        self.state.withLock { state in
            state.isAway = false
            state.applied = .start
            state.arrived = .start
        }
    }

    // MARK: Being told

    /// The work of one turn of the partition's thread.
    package struct Turn: Hashable, Sendable {
        package var units = 0
        package var nanoseconds = 0
        /// When, in seconds from any beginning.
        package var second = 0

        package init() {}
    }

    /// - Parameters:
    ///   - position: The last entry that is applied.
    ///   - turn: The work since the last call.
    package func advance(to position: LogPosition, _ turn: Turn) {
        self.state.withLock { state in
            state.pace.add(units: turn.units, nanoseconds: turn.nanoseconds, in: turn.second)
            self.paceInForce.store(state.pace.perSecond(at: turn.second), ordering: .relaxed)
            state.applied = max(state.applied, position)
            let arrived = state.arrivals.firstIndex { $0.through > position } ?? state.arrivals.count
            state.arrivals.removeFirst(arrived)
            let applied = state.logged.firstIndex { $0.position > position } ?? state.logged.count
            for one in state.logged[..<applied] { state.end(one.charge) }
            state.logged.removeFirst(applied)
        }
    }

    // MARK: How far behind it is

    /// How far a partition is behind its log.
    package struct Lag: Hashable, Sendable {
        /// The newest entry that is known to exist.
        package let announced: LogPosition
        /// How many entries are not applied yet.
        package let entries: UInt64
        /// How long the oldest of them has been known, to a tenth of a second; zero if there is none.
        package let time: Interval
    }

    /// How far apart arrivals are told apart.
    private static let arrivalSpacing: TimeAmount = .milliseconds(100)

    /// An entry is in the log.
    package func noteArrival(_ position: LogPosition, at now: NIODeadline) {
        self.state.withLock { state in
            guard !state.isAway, position > state.arrived else { return }
            state.arrived = position
            guard position > state.applied else { return }
            if let last = state.arrivals.last, now - last.at < Self.arrivalSpacing {
                state.arrivals[state.arrivals.count - 1].through = position
            } else {
                state.arrivals.append((position, now))
            }
        }
    }

    package func lag(at now: NIODeadline) -> Lag {
        self.state.withLock { state in
            let announced = max(state.arrived, state.applied)
            let waited = state.arrivals.first.map { max(0, (now - $0.at).nanoseconds) } ?? 0
            return Lag(
                announced: announced,
                entries: announced.rawValue - state.applied.rawValue,
                time: .milliseconds(waited / 1_000_000)
            )
        }
    }
}
