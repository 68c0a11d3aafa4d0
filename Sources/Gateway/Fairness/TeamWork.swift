import Synchronization
package import WidgetModel

/// What one team has in the log that is not decided yet, by partition. Any thread.
package final class TeamWork: Sendable {
    private final class Part: Sendable {
        let undecided = Atomic<Int>(0)
    }

    package let team: TeamID
    private let parts: [Part]
    /// Requests that were refused since it had its share.
    private let refusals = Atomic<Int>(0)

    package init(_ team: TeamID, partitions: Int) {
        self.team = team
        self.parts = (0..<partitions).map { _ in Part() }
    }

    /// Units that a partition has still to do for it.
    @inline(__always)
    package func undecided(in partition: PartitionID) -> Int {
        self.parts[Int(partition.rawValue)].undecided.load(ordering: .relaxed)
    }

    /// Units that all partitions have still to do for it.
    package var undecided: Int { self.parts.reduce(0) { $0 + $1.undecided.load(ordering: .relaxed) } }

    package var refused: Int { self.refusals.load(ordering: .relaxed) }

    func addRefusal() { self.refusals.wrappingAdd(1, ordering: .relaxed) }

    /// - Returns: Whether there was nothing before.
    func add(_ units: Int, in partition: PartitionID) -> Bool {
        self.parts[Int(partition.rawValue)].undecided.wrappingAdd(units, ordering: .relaxed).oldValue == 0
    }

    /// - Returns: Whether nothing is left.
    func remove(_ units: Int, in partition: PartitionID) -> Bool {
        self.parts[Int(partition.rawValue)].undecided.wrappingSubtract(units, ordering: .relaxed).newValue == 0
    }
}

/// What the records of one submission are charged with, by team and partition.
package struct WorkCharges: Sendable {
    package struct Charge: Sendable {
        package let team: TeamWork
        package let partition: PartitionID
        package var units: Int
    }

    package private(set) var all: [Charge] = []

    package init() {}

    /// What a team is charged with here for a partition. O(teams * partitions) of the submission.
    @inline(__always)
    package func units(of team: TeamWork, in partition: PartitionID) -> Int {
        for charge in self.all where charge.partition == partition && charge.team === team { return charge.units }
        return 0
    }

    package mutating func add(_ units: Int, to team: TeamWork, in partition: PartitionID) {
        for index in self.all.indices where self.all[index].partition == partition && self.all[index].team === team {
            self.all[index].units += units
            return
        }
        self.all.append(Charge(team: team, partition: partition, units: units))
    }
}
