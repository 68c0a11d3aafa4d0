import WidgetModel

/// What is left of teams' shares for the pushes to single hosts that one event loop takes in one turn, by app and partition.
///
/// The counts that all loops share are read once a turn for each place, and not for each push: what other loops take in the
/// meantime is seen in the next one.
struct TurnShares {
    private struct Place {
        /// Units that may still be taken; nil before it was asked.
        var left: Int?
        var units = 0
    }

    private let partitions: Int
    private var places: [Place] = []
    /// The places that have something, in the order in which they came.
    private var taken: [Int] = []

    init(partitions: Int) {
        self.partitions = partitions
    }

    /// Takes so many units out of a share.
    ///
    /// - Parameters:
    ///   - app: Its number.
    ///   - left: What is left of the share, where this turn has not asked yet.
    /// - Returns: Whether there was as much left.
    @inline(__always)
    mutating func take(_ units: Int, app: Int, _ partition: PartitionID, left: () -> Int) -> Bool {
        let index = app * self.partitions + Int(partition.rawValue)
        while index >= self.places.count { self.places.append(Place()) }
        let before = self.places[index].left ?? left()
        guard before >= units else {
            // Asked again for the next push: a turn in which nothing was taken does not end.
            self.places[index].left = nil
            return false
        }
        self.places[index].left = before - units
        if self.places[index].units == 0 { self.taken.append(index) }
        self.places[index].units += units
        return true
    }

    /// What was taken in this turn, which ends; `body` gets the app's number, the partition and the units.
    mutating func end(_ body: (Int, PartitionID, Int) -> Void) {
        for index in self.taken {
            body(index / self.partitions, PartitionID(UInt16(index % self.partitions)), self.places[index].units)
        }
        self.taken.removeAll(keepingCapacity: true)
        for index in self.places.indices { self.places[index] = Place() }
    }
}
