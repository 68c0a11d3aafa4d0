import Gateway
import Journaling
import Testing
import WidgetModel

/// What a team may have in the log, at the edges.
@Suite struct WorkAdmissionTests {
    private static let home = PartitionID(0)
    private static let pace = WorkPace.assumed
    private static let bystander = TeamID("BYSTANDER0")

    /// Work that is in the log at a position.
    private static func log(_ units: Int, _ team: TeamWork, _ work: WorkAdmission, at position: UInt64) {
        var charges = WorkCharges()
        charges.add(units, to: team, in: Self.home)
        work.begin(charges)
        work.partitions[0].log(units, of: team, at: LogPosition(position))
    }

    /// The partition has applied the log up to a position and has written so many of the matches that it postponed.
    private static func apply(_ work: WorkAdmission, to position: UInt64, postponed: Int = 0, written: Int = 0) {
        var turn = PartitionWork.Turn()
        (turn.matchesPostponed, turn.matchesWritten) = (postponed, written)
        work.partitions[0].advance(to: LogPosition(position), turn)
    }

    @Test func `one team has a second of the partition's pace, and not a unit more`() {
        let work = WorkAdmission(partitions: 1)
        let team = work.work(of: Sports.team)
        Self.log(Self.pace - 10, team, work, at: 1)
        #expect(work.wait(team, for: 9, in: Self.home, beside: 0) == nil)
        #expect(work.wait(team, for: 10, in: Self.home, beside: 0) == nil)
        #expect(work.wait(team, for: 11, in: Self.home, beside: 0) == 1)
        #expect(work.wait(team, for: 10, in: Self.home, beside: 1) == 1)
        #expect(work.wait(team, for: 3 * Self.pace, in: Self.home, beside: 0) == 3)
        #expect(team.refused == 3)
    }

    @Test func `what is left of a share is what may still be logged`() {
        let work = WorkAdmission(partitions: 1)
        let team = work.work(of: Sports.team)
        #expect(work.left(to: team, for: 4, in: Self.home) == Self.pace)
        #expect(work.left(to: team, for: 3 * Self.pace, in: Self.home) == 3 * Self.pace)
        Self.log(Self.pace - 10, team, work, at: 1)
        #expect(work.left(to: team, for: 4, in: Self.home) == 10)
        Self.log(11, team, work, at: 2)
        #expect(work.left(to: team, for: 4, in: Self.home) == 0)
    }

    @Test func `a team that has nothing in the log may always log one request`() {
        let work = WorkAdmission(partitions: 1)
        let team = work.work(of: Sports.team)
        #expect(work.wait(team, for: 2 * Self.pace, in: Self.home, beside: 0) == nil)
        #expect(work.wait(team, for: 2 * Self.pace, in: Self.home, beside: 1) != nil)
    }

    @Test func `the part of each team is smaller the more of them have work in the log`() {
        let work = WorkAdmission(partitions: 1)
        var shares: [Int] = []
        for number in 0..<4 {
            let team = work.work(of: TeamID("TEAM00000\(number)"))
            shares.append(work.share(of: team, in: Self.home))
            Self.log(1, team, work, at: 1)
            // With work in the log it is one of those that it was counted among before.
            #expect(work.share(of: team, in: Self.home) == shares[number])
        }
        #expect(shares == [Self.pace, 2 * Self.pace / 3, Self.pace / 2, 2 * Self.pace / 5].map { $0 / 1000 * 1000 })
        Self.apply(work, to: 1)
        #expect(work.partitions[0].activeTeams == 0)
    }

    @Test func `a push may be two seconds of work, or what its app says`() {
        let work = WorkAdmission(partitions: 1)
        let team = work.work(of: Sports.team)
        let max = 2 * Self.pace
        #expect(work.judge([max - 1], of: team, pushMax: nil) == .admitted([max - 1]))
        #expect(work.judge([max], of: team, pushMax: nil) == .admitted([max]))
        let tooLarge = WorkAdmission.TooLarge(units: max + 1, unitsMax: max)
        #expect(work.judge([max + 1], of: team, pushMax: nil) == .tooLarge(tooLarge))
        #expect(work.judge([max + 1], of: team, pushMax: .seconds(3)) == .admitted([max + 1]))
        #expect(work.judge([1], of: team, pushMax: .zero) == .tooLarge(.init(units: 1, unitsMax: 0)))
    }

    @Test func `of several partitions the one with most to do decides`() {
        let work = WorkAdmission(partitions: 4)
        let team = work.work(of: Sports.team)
        Self.log(Self.pace, team, work, at: 1)
        #expect(work.judge([0, 1, 1, 1], of: team, pushMax: nil) == .admitted([0, 1, 1, 1]))
        #expect(work.judge([1, 1, 1, 1], of: team, pushMax: nil) == .refused(retryAfter: 1))
        let most = 3 * Self.pace
        let verdict = work.judge([1, most, most - 1, 1], of: team, pushMax: nil)
        #expect(verdict == .tooLarge(.init(units: most, unitsMax: 2 * Self.pace)))
    }

    @Test func `other settings hold from now on`() {
        let work = WorkAdmission(partitions: 1)
        let team = work.work(of: Sports.team)
        var settings = GatewayConfiguration.Fairness()
        (settings.undecided, settings.pushMax) = (.seconds(10), .seconds(20))
        work.use(settings)
        #expect(work.share(of: team, in: Self.home) == 10 * Self.pace)
        #expect(work.unitsMax(in: Self.home, nil) == 20 * Self.pace)
        // No number of an operator's is too large.
        (settings.undecided, settings.pushMax) = (.hours(1), .hours(1))
        work.use(settings)
        #expect(work.unitsMax(in: Self.home, nil) == 3600 * Self.pace)
    }

    @Test func `work ends when it is applied and its matches are written`() {
        let work = WorkAdmission(partitions: 1)
        let (first, second) = (work.work(of: Sports.team), work.work(of: Self.bystander))
        Self.log(5, first, work, at: 1)
        Self.log(7, second, work, at: 2)
        Self.log(11, first, work, at: 3)
        Self.apply(work, to: 1)
        #expect([first.undecided, second.undecided] == [11, 7])
        Self.apply(work, to: 2, postponed: 7)
        #expect([first.undecided, second.undecided] == [11, 7])
        Self.apply(work, to: 3, postponed: 18, written: 7)
        #expect([first.undecided, second.undecided] == [11, 0])
        Self.apply(work, to: 3, postponed: 18, written: 17)
        #expect(first.undecided == 11)
        Self.apply(work, to: 3, postponed: 18, written: 18)
        #expect(first.undecided == 0)
        #expect(work.partitions[0].activeTeams == 0)
    }

    @Test func `what never comes to the log is charged no more`() {
        let work = WorkAdmission(partitions: 2)
        let team = work.work(of: Sports.team)
        var charges = WorkCharges()
        charges.add(3, to: team, in: PartitionID(0))
        charges.add(4, to: team, in: PartitionID(1))
        charges.add(2, to: team, in: PartitionID(0))
        #expect(charges.units(of: team, in: PartitionID(0)) == 5)
        work.begin(charges)
        #expect(team.undecided == 9)
        work.end(charges, with: .failure(JournalError(.closed, "the journal is closed")))
        #expect(team.undecided == 0)
        #expect(work.partitions.map(\.activeTeams) == [0, 0])
    }
}
