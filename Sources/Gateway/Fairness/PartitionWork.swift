import Synchronization
package import WidgetModel

/// What waits in one partition's log, whose it is, and how fast the partition works. Any thread; what was done is told by
/// the partition's own.
package final class PartitionWork: Sendable {
    /// Units of a team that are in the log up to a position.
    private struct Logged {
        let position: LogPosition
        let team: TeamWork
        let units: Int
    }

    private struct State {
        var pace = WorkPace()
        /// In the order of their commits.
        var logged: [Logged] = []
        /// Applied, with matches that are still to be written: in the order of their decisions, by how many matches have
        /// been postponed in all when they were applied.
        var postponed: [(end: Int, team: TeamWork, units: Int)] = []
        var audiences: [BundleID: [WidgetKind: Int]] = [:]
    }

    package let partition: PartitionID
    private let state = Mutex(State())
    private let paceInForce = Atomic<Int>(WorkPace.assumed)
    /// Teams that have something undecided.
    private let teams = Atomic<Int>(0)

    package init(_ partition: PartitionID) {
        self.partition = partition
    }

    /// Units a second that the partition does.
    package var pace: Int { self.paceInForce.load(ordering: .relaxed) }

    /// How many teams have something undecided here.
    package var activeTeams: Int { self.teams.load(ordering: .relaxed) }

    // MARK: Who is there

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

    /// Work that is about to be logged.
    package func begin(_ units: Int, of team: TeamWork) {
        if team.add(units, in: self.partition) { self.teams.wrappingAdd(1, ordering: .relaxed) }
    }

    /// Work that is done, or will never be.
    package func end(_ units: Int, of team: TeamWork) {
        if team.remove(units, in: self.partition) { self.teams.wrappingSubtract(1, ordering: .relaxed) }
    }

    /// Work that is in the log now. Before the entry is announced.
    package func log(_ units: Int, of team: TeamWork, at position: LogPosition) {
        self.state.withLock { $0.logged.append(Logged(position: position, team: team, units: units)) }
    }

    // MARK: Being told

    /// What a turn of the partition's thread did.
    package struct Turn: Hashable, Sendable {
        package var units = 0
        package var nanoseconds = 0
        /// When, in seconds from any beginning.
        package var second = 0
        /// How many matches have been postponed in all, and how many of those are written. What was decided first is written
        /// first.
        package var matchesPostponed = 0
        package var matchesWritten = 0

        package init() {}
    }

    /// - Parameters:
    ///   - position: The last entry that is applied.
    ///   - turn: What was done since this was told last.
    package func advance(to position: LogPosition, _ turn: Turn) {
        var done: [(team: TeamWork, units: Int)] = []
        self.state.withLock { state in
            state.pace.add(units: turn.units, nanoseconds: turn.nanoseconds, in: turn.second)
            self.paceInForce.store(state.pace.perSecond(at: turn.second), ordering: .relaxed)
            let applied = state.logged.firstIndex { $0.position > position } ?? state.logged.count
            for one in state.logged[..<applied] {
                state.postponed.append((end: turn.matchesPostponed, team: one.team, units: one.units))
            }
            state.logged.removeFirst(applied)
            let ended = state.postponed.firstIndex { $0.end > turn.matchesWritten } ?? state.postponed.count
            for one in state.postponed[..<ended] { done.append((one.team, one.units)) }
            state.postponed.removeFirst(ended)
        }
        for one in done { self.end(one.units, of: one.team) }
    }
}
