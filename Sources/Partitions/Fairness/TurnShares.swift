package import WidgetModel

/// The units that are reserved for the pushes to single hosts that one event loop takes in one turn, by app and
/// partition.
///
/// The counts that all loops share are not touched for each push: some pushes' units are reserved at once, and the rest
/// of them is given back when the turn ends.
package struct TurnShares {
    private struct Place {
        var left = 0
        /// The team that they are reserved for.
        var team: TeamWork?
    }

    private let partitions: Int
    private var places: [Place] = []
    /// The places for which something was reserved, in the order in which that came.
    private var reserved: [Int] = []

    package init(partitions: Int) {
        self.partitions = partitions
    }

    private func index(_ app: Int, _ partition: PartitionID) -> Int { app * self.partitions + Int(partition.rawValue) }

    /// Takes so many units out of the reserved ones.
    ///
    /// - Parameter app: Its number.
    /// - Returns: Whether there was as much left.
    @inline(__always)
    package mutating func spendUnits(_ units: Int, app: Int, _ partition: PartitionID) -> Bool {
        let index = self.index(app, partition)
        guard index < self.places.count, self.places[index].left >= units else { return false }
        self.places[index].left -= units
        return true
    }

    /// Adds to the reserved units.
    package mutating func add(_ units: Int, of team: TeamWork, app: Int, _ partition: PartitionID) {
        let index = self.index(app, partition)
        while index >= self.places.count { self.places.append(Place()) }
        if self.places[index].team == nil { self.reserved.append(index) }
        self.places[index].team = team
        self.places[index].left += units
    }

    /// Ends the turn; `body` gets the units that are left, and their team and partition.
    package mutating func end(_ body: (Int, TeamWork, PartitionID) -> Void) {
        for index in self.reserved {
            let place = self.places[index]
            self.places[index] = Place()
            guard place.left > 0, let team = place.team else { continue }
            body(place.left, team, PartitionID(UInt16(index % self.partitions)))
        }
        self.reserved.removeAll(keepingCapacity: true)
    }
}
