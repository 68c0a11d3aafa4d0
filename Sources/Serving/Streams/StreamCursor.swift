import Journaling
package import WidgetModel

/// A place in the events of a host, or of all hosts of an app: the `id` of an event.
///
/// Opaque to readers, who give the last one back as `Last-Event-ID`. It is a place in the log's outputs: it means the same to every
/// gateway that shares the log, also after a restart, and nothing to one with another log.
package struct StreamCursor: Hashable, Sendable, CustomStringConvertible {
    package enum Places: Hashable, Sendable {
        /// Of a host's partition.
        case host(PartitionID, EffectPlace)
        /// Of all partitions.
        case app([EffectPlace])
    }

    /// Tells the log from others.
    package let log: UInt32
    package let places: Places

    package init(log: UInt32, _ places: Places) {
        (self.log, self.places) = (log, places)
    }

    /// The cursor that ``description`` spells, or nil.
    package init?(_ text: String) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count > 1, let log = UInt32(parts[0], radix: 16) else { return nil }
        let numbers = parts.dropFirst().map { $0.split(separator: ".", omittingEmptySubsequences: false) }
        if numbers.count == 1, numbers[0].count == 3 {
            guard let partition = UInt16(numbers[0][0]), let place = Self.place(numbers[0].dropFirst()) else {
                return nil
            }
            self.init(log: log, .host(PartitionID(partition), place))
        } else {
            let places = numbers.compactMap { Self.place($0[...]) }
            guard places.count == numbers.count else { return nil }
            self.init(log: log, .app(places))
        }
        // Signs and zeroes in front would be further spellings of one place.
        guard self.description == text else { return nil }
    }

    private static func place(_ numbers: ArraySlice<Substring>) -> EffectPlace? {
        guard numbers.count == 2, let output = numbers.first.flatMap({ UInt64($0) }),
            let effects = numbers.last.flatMap({ UInt32($0) })
        else { return nil }
        return EffectPlace(OutputPosition(output), effects: effects)
    }

    /// `<log in hex>-<partition>.<output>.<effects>` of a host, `<log in hex>-<output>.<effects>-…` of an app, one for each partition.
    package var description: String {
        let log = String(self.log, radix: 16)
        switch self.places {
        case .host(let partition, let place): return "\(log)-\(partition).\(Self.text(place))"
        case .app(let places): return places.reduce(into: log) { $0 += "-\(Self.text($1))" }
        }
    }

    private static func text(_ place: EffectPlace) -> String { "\(place.output).\(place.effects)" }
}
