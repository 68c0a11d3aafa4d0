import Synchronization
package import WidgetModel

/// The undecided units of one team, by partition. Any thread.
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
    package func undecided(in partition: PartitionID) -> Int {
        self.parts[Int(partition.rawValue)].undecided.load(ordering: .relaxed)
    }

    /// Units that all partitions have still to do for it.
    package var undecided: Int { self.parts.reduce(0) { $0 + $1.undecided.load(ordering: .relaxed) } }

    package var refused: Int { self.refusals.load(ordering: .relaxed) }

    func addRefusal() { self.refusals.wrappingAdd(1, ordering: .relaxed) }

    /// Changes the team's undecided work. Under the lock of the partition's ``PartitionWork`` alone.
    func add(_ units: Int, in partition: PartitionID) {
        self.parts[Int(partition.rawValue)].undecided.wrappingAdd(units, ordering: .relaxed)
    }
}

/// The charges of the records of one submission, or of a question, by team and partition. They count as undecided from
/// their reservation until they are ended, once.
package struct WorkCharges: Sendable {
    package struct Charge: Sendable {
        package let team: TeamWork
        package let partition: PartitionID
        package var units: Int
        /// Whether it is the partition's one request beyond its team's share.
        package let isLarge: Bool

        package init(team: TeamWork, partition: PartitionID, units: Int, isLarge: Bool) {
            self.team = team
            self.partition = partition
            self.units = units
            self.isLarge = isLarge
        }
    }

    package private(set) var all: [Charge] = []

    package init() {}

    /// O(teams * partitions) of the submission.
    package mutating func add(_ charge: Charge) {
        for index in self.all.indices where self.all[index].isAlike(charge) {
            self.all[index].units += charge.units
            return
        }
        self.all.append(charge)
    }

    package mutating func add(_ charges: WorkCharges) {
        for charge in charges.all { self.add(charge) }
    }

    /// The charges in one partition.
    package func part(of partition: PartitionID) -> WorkCharges {
        var part = WorkCharges()
        part.all = self.all.filter { $0.partition == partition }
        return part
    }

    /// Takes back a part of the charges.
    package mutating func remove(_ charge: Charge) {
        for index in self.all.indices where self.all[index].isAlike(charge) { self.all[index].units -= charge.units }
    }
}

extension WorkCharges.Charge {
    /// Whether it is counted where the other is.
    fileprivate func isAlike(_ other: Self) -> Bool {
        !self.isLarge && !other.isLarge && self.partition == other.partition && self.team === other.team
    }
}
