package import Engine
package import Journaling
package import WidgetModel

/// The effects that one output has made durable.
package struct CommittedEffects: Hashable, Sendable {
    /// The output's place.
    package let position: OutputPosition
    /// In their order; none of an output that only says how far its owner is.
    package let effects: [Effect]

    package init(_ effects: [Effect], at position: OutputPosition) {
        (self.position, self.effects) = (position, effects)
    }

    /// Those of an output that was read.
    package init(_ output: OutputEntry) throws(ByteError) {
        self.init(try output.record.readEffects(), at: output.position)
    }
}

extension OutputRecord {
    /// The effects, read from their bytes.
    package func readEffects() throws(ByteError) -> [Effect] {
        var reader = ByteReader(self.effects)
        return try reader.readEach { (reader) throws(ByteError) in try Effect(from: &reader) }
    }
}

/// The news of a partition's owner about its outputs.
package enum OwnerNews: Hashable, Sendable {
    /// The partition is here, and all outputs up to this one are committed; nil for none. Those behind it are told.
    case begins(behind: OutputPosition?)
    case committed(CommittedEffects)
    /// The partition is another node's from here on.
    case ends
}
