import WidgetModel

/// From which place of a partition's effects on push tokens have stood for their hosts: earlier effects are not for their readers.
///
/// Bounded: beyond its capacity the tokens are forgotten, and no place before that moment is good for any reader.
struct TokenBindings: Sendable {
    var capacity: Int
    private var places: [DeviceToken: (partition: PartitionID, place: EffectPlace)] = [:]
    /// By partition: those of tokens that are not among ``places``.
    private var floors: [EffectPlace]

    /// - Parameter capacity: How many tokens are kept apart.
    init(capacity: Int, partitions: Int) {
        self.capacity = capacity
        self.floors = Array(repeating: .start, count: partitions)
    }

    /// Whether a token's reader may go on from a place.
    func holds(_ token: DeviceToken, at place: EffectPlace, of partition: PartitionID) -> Bool {
        guard let known = self.places[token] else { return self.floors[Int(partition.rawValue)] <= place }
        return known.partition == partition && known.place <= place
    }

    /// A token stands for another host from now on. O(1), but for one in ``capacity``.
    ///
    /// - Parameter ends: Where all partitions are.
    mutating func bind(
        _ token: DeviceToken,
        in partition: PartitionID,
        at place: EffectPlace,
        _ ends: @autoclosure () -> [EffectPlace]
    ) {
        if self.places.count >= self.capacity {
            self.places.removeAll(keepingCapacity: true)
            self.floors = ends()
        }
        self.places[token] = (partition, place)
    }
}
