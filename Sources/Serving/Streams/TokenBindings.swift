import WidgetModel

/// From which place of the streams on push tokens have stood for their hosts: what went out before is not for their readers.
///
/// Bounded: beyond its capacity the tokens are forgotten, and no place before that moment is good for any reader.
struct TokenBindings: Sendable {
    var capacity: Int
    private var places: [DeviceToken: UInt64] = [:]
    /// That of tokens that are not among ``places``.
    private var floor: UInt64 = 0

    /// - Parameter capacity: How many tokens are kept apart.
    init(capacity: Int) {
        self.capacity = capacity
    }

    /// The first place that a token's reader may go on from.
    func place(of token: DeviceToken) -> UInt64 { self.places[token] ?? self.floor }

    /// A token stands for another host from this place on. O(1), but for one in ``capacity``.
    mutating func bind(_ token: DeviceToken, at place: UInt64) {
        if self.places.count >= self.capacity {
            self.places.removeAll(keepingCapacity: true)
            self.floor = place
        }
        self.places[token] = place
    }
}
