import Dispatch
import Journaling
import Partitions
import Settings
import Testing
import WidgetModel

/// A team's share of undecided work, at the edges.
@Suite struct WorkAdmissionTests {
    private static let home = PartitionID(0)
    private static let pace = WorkPace.assumed
    private static let bystander = TeamID("BYSTANDER0")

    /// The answer to a team's request for so many units: how long it is to wait, 0 if not at all.
    private static func wait(_ units: [Int], _ team: TeamWork, _ work: WorkAdmission) -> Int? {
        problem { () throws(Problem) in try work.admit(units, of: team) }.map { $0.retryAfter ?? -1 }
    }

    /// Work that is in the log at a position.
    private static func log(_ units: Int, _ team: TeamWork, _ work: WorkAdmission, at position: UInt64) throws {
        for charge in try work.admit([units], of: team).all {
            work.partitions[0].log(charge, at: LogPosition(position))
        }
    }

    /// The partition has applied the log up to a position.
    private static func apply(_ work: WorkAdmission, to position: UInt64) {
        work.partitions[0].advance(to: LogPosition(position), PartitionWork.Turn())
    }

    @Test func `one team has a second of the partition's pace, and not a unit more`() throws {
        let work = WorkAdmission(partitions: 1)
        let team = work.work(of: Sports.team)
        #expect(work.share(of: team, in: Self.home) == Self.pace)
        let charges = try work.admit([Self.pace - 10], of: team)
        #expect(Self.wait([11], team, work) == 1)
        #expect(Self.wait([10], team, work) == nil)
        #expect(Self.wait([1], team, work) == 1)
        #expect(Self.wait([3 * Self.pace], team, work) == 3)
        #expect(Self.wait([100 * Self.pace], team, work) == 60)
        #expect(team.refused == 4)
        #expect(team.undecided == Self.pace)
        work.end(charges)
        #expect(team.undecided == 10)
    }

    @Test func `a team may have half of what the others leave`() throws {
        let work = WorkAdmission(partitions: 1)
        let teams = (0..<4).map { work.work(of: TeamID("TEAM00000\($0)")) }
        for (team, part) in zip(teams, [2, 4, 8, 16]) {
            let share = 2 * Self.pace / part
            #expect(work.share(of: team, in: Self.home) == share)
            #expect(Self.wait([share], team, work) == nil)
            // It has the same share as before, and all of it.
            #expect(work.share(of: team, in: Self.home) == share)
            #expect(Self.wait([1], team, work) == 1)
        }
        #expect(work.partitions[0].undecided == 2 * Self.pace - Self.pace / 8)
    }

    @Test func `beyond its share one request at a time is let in, of a team that has nothing else`() throws {
        let work = WorkAdmission(partitions: 1)
        let (team, other) = (work.work(of: Sports.team), work.work(of: Self.bystander))
        let large = try work.admit([3 * Self.pace], of: team)
        #expect(large.all.map(\.isLarge) == [true])
        // It has more than its share, the others' are as they were.
        #expect(Self.wait([1], team, work) == 3)
        #expect(work.share(of: other, in: Self.home) == Self.pace)
        #expect(Self.wait([Self.pace + 1], other, work) == 1)
        let within = try work.admit([Self.pace], of: other)
        #expect(within.all.map(\.isLarge) == [false])
        work.end(large)
        #expect(Self.wait([Self.pace + 1], other, work) == 2)
        work.end(within)
        #expect(Self.wait([Self.pace + 1], other, work) == nil)
        #expect(work.partitions[0].undecided == Self.pace + 1)
    }

    @Test func `a request is let in by all of its partitions or by none`() throws {
        let work = WorkAdmission(partitions: 4)
        let team = work.work(of: Sports.team)
        _ = try work.admit([Self.pace, 0, 0, 0], of: team)
        #expect(Self.wait([0, 1, 1, 1], team, work) == nil)
        #expect(Self.wait([1, 1, 1, 2 * Self.pace], team, work) == 2)
        #expect(team.undecided == Self.pace + 3)
        // One request is refused, however many partitions have no room for it.
        #expect(team.refused == 1)
    }

    @Test func `of what is asked for beforehand as much is reserved as there is room for`() throws {
        let work = WorkAdmission(partitions: 1)
        let team = work.work(of: Sports.team)
        func reserve() throws -> Int { try work.admit(4, orUpTo: 256, of: team, in: Self.home).units }
        #expect(try reserve() == 256)
        _ = try work.admit([Self.pace - 256 - 256 - 10], of: team)
        #expect(try reserve() == 256)
        #expect(try reserve() == 10)
        #expect(throws: Problem.self) { try reserve() }
        #expect(team.refused == 1)
        // Beyond its share not one unit is.
        let all = work.charge([2 * Self.pace], to: work.work(of: Self.bystander))
        let other = try work.admit(4, orUpTo: 256, of: work.work(of: TeamID("ANOTHER000")), in: Self.home)
        #expect(other.units == 4 && other.isLarge)
        work.end(all)
    }

    @Test func `event loops that ask at once get no more than the share together`() {
        let work = WorkAdmission(partitions: 1)
        let team = work.work(of: Sports.team)
        let size = Self.pace / 10
        DispatchQueue.concurrentPerform(iterations: 100) { _ in _ = try? work.admit([size], of: team) }
        #expect(team.undecided == Self.pace)
        #expect(team.refused == 90)
        // The same of requests that are alone more than the share.
        let other = work.work(of: Self.bystander)
        DispatchQueue.concurrentPerform(iterations: 100) { _ in _ = try? work.admit([Self.pace], of: other) }
        #expect(other.undecided == Self.pace)
    }

    @Test func `a push may be two seconds of work, or what its app says`() throws {
        let work = WorkAdmission(partitions: 4)
        let team = work.work(of: Sports.team)
        let max = 2 * Self.pace
        #expect(work.excess(of: [max - 1, max, max, max], nil) == nil)
        #expect(work.excess(of: [max, 1, max + 2, max + 1], nil) == .init(units: max + 2, unitsMax: max))
        #expect(work.excess(of: [max + 1], .seconds(3)) == nil)
        #expect(work.excess(of: [1], .zero) == .init(units: 1, unitsMax: 0))
        #expect(work.excess(of: [0], .zero) == nil)
        let refusal = problem { () throws(Problem) in try work.admit([max + 1], of: team, pushMax: nil) }
        #expect(refusal?.code == .tooMuchWork)
        #expect(refusal?.work == .init(units: max + 1, unitsMax: max))
        #expect(team.undecided == 0)
        // It is no refusal of a share.
        #expect([team.refused, work.tooLargeRequests] == [0, 1])
        _ = try work.admit([max + 1], of: team, pushMax: .seconds(3))
    }

    @Test func `other settings hold from now on`() {
        let work = WorkAdmission(partitions: 1)
        let team = work.work(of: Sports.team)
        var settings = GatewayConfiguration.Fairness()
        (settings.undecided, settings.pushMax) = (.seconds(10), .seconds(20))
        work.applySettings(settings)
        #expect(work.share(of: team, in: Self.home) == 10 * Self.pace)
        #expect(work.unitsMax(in: Self.home, nil) == 20 * Self.pace)
        // No number of an operator's is too large.
        (settings.undecided, settings.pushMax) = (.hours(1), .hours(1))
        work.applySettings(settings)
        #expect(work.unitsMax(in: Self.home, nil) == 3600 * Self.pace)
        #expect(work.share(of: team, in: Self.home) == 3600 * Self.pace)
        (settings.undecided, settings.pushMax) = (.milliseconds(100), .zero)
        work.applySettings(settings)
        #expect(work.share(of: team, in: Self.home) == Self.pace / 10)
    }

    @Test func `an app's own pushMax is read from the file`() throws {
        let text = """
            teams: [{id: TEAM123456, keys: [{id: TEAMKEY001, file: k}]}]
            apps:
              - {bundleID: com.example.scores, team: TEAM123456, pushMax: 10s}
              - {bundleID: com.example.other, team: TEAM123456}
            """
        let work = WorkAdmission(partitions: 1)
        let served = ServedApps(try ConfigurationFile.parse(text).configuration, work: work)
        #expect(served.apps.map(\.pushMax) == [.seconds(10), nil])
        let team = try #require(served.apps[0].work)
        #expect(team === served.apps[1].work)
        let units = [10 * Self.pace]
        #expect(
            problem { () throws(Problem) in try work.admit(units, of: team, pushMax: served.apps[1].pushMax) } != nil
        )
        _ = try work.admit(units, of: team, pushMax: served.apps[0].pushMax)
    }

    @Test func `work ends when it is applied`() throws {
        let work = WorkAdmission(partitions: 1)
        let (first, second) = (work.work(of: Sports.team), work.work(of: Self.bystander))
        try Self.log(5, first, work, at: 1)
        try Self.log(7, second, work, at: 2)
        try Self.log(11, first, work, at: 3)
        Self.apply(work, to: 1)
        #expect([first.undecided, second.undecided] == [11, 7])
        Self.apply(work, to: 2)
        #expect([first.undecided, second.undecided] == [11, 0])
        Self.apply(work, to: 3)
        #expect(first.undecided == 0)
        #expect(work.partitions[0].undecided == 0)
    }

    @Test func `what never comes to the log is charged no more`() throws {
        let work = WorkAdmission(partitions: 2)
        let team = work.work(of: Sports.team)
        var charges = try work.admit([3, 4], of: team)
        charges.add(try work.admit([2, 0], of: team))
        #expect(charges.all.map(\.units) == [5, 4])
        #expect(team.undecided == 9)
        work.end(charges, with: .failure(JournalError(.closed, "the journal is closed")))
        #expect(team.undecided == 0)
        #expect(work.partitions.map(\.undecided) == [0, 0])
    }
}
