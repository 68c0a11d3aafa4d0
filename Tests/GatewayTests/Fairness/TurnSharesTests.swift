import Testing
import WidgetModel
@testable import Partitions

/// The units that are reserved for one turn of an event loop.
@Suite struct TurnSharesTests {
    private static let partitions = [PartitionID(0), PartitionID(1)]
    private let team = TeamWork(Sports.team, partitions: 2)
    private let other = TeamWork(Sports.otherTeam, partitions: 2)

    @Test func `as much is taken as is reserved, by app and partition`() {
        var shares = TurnShares(partitions: 2)
        let before = shares.spendUnits(4, app: 3, Self.partitions[1])
        #expect(!before)
        shares.add(8, of: self.team, app: 3, Self.partitions[1])
        let elsewhere = [
            shares.spendUnits(4, app: 3, Self.partitions[0]), shares.spendUnits(4, app: 2, Self.partitions[1]),
        ]
        #expect(elsewhere == [false, false])
        let taken = (0..<3).map { _ in shares.spendUnits(4, app: 3, Self.partitions[1]) }
        #expect(taken == [true, true, false])
        shares.add(4, of: self.team, app: 3, Self.partitions[1])
        let more = shares.spendUnits(4, app: 3, Self.partitions[1])
        #expect(more)
    }

    @Test func `what is left when the turn ends is given back once`() {
        var shares = TurnShares(partitions: 2)
        shares.add(8, of: self.team, app: 0, Self.partitions[1])
        shares.add(8, of: self.other, app: 1, Self.partitions[0])
        shares.add(0, of: self.team, app: 2, Self.partitions[0])
        shares.add(8, of: self.team, app: 0, Self.partitions[1])
        _ = shares.spendUnits(4, app: 0, Self.partitions[1])
        var rest: [String] = []
        for _ in 0..<2 { shares.end { rest.append("\($1.team.rawValue) \($2) \($0)") } }
        #expect(rest == ["\(Sports.team.rawValue) 1 12", "\(Sports.otherTeam.rawValue) 0 8"])
        let next = shares.spendUnits(4, app: 0, Self.partitions[1])
        #expect(!next)
    }
}
