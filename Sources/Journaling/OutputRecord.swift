package import WidgetModel

/// A place in one partition's output log, from 1 and without gaps. Positions of different partitions do not compare.
package struct OutputPosition: Hashable, Comparable, Sendable, CustomStringConvertible {
    package let rawValue: UInt64
    package init(_ rawValue: UInt64) { self.rawValue = rawValue }
    package var description: String { String(self.rawValue) }
    package static func < (left: OutputPosition, right: OutputPosition) -> Bool { left.rawValue < right.rawValue }

    /// The position of a partition's first output.
    package static let first = OutputPosition(1)
    /// The position of the output after this one; that of the last possible one, which no log reaches, is itself.
    package var next: OutputPosition { OutputPosition(max(self.rawValue, self.rawValue &+ 1)) }
    /// The place so many outputs before this one; 0 if there is none.
    package func before(by count: UInt64) -> OutputPosition {
        OutputPosition(self.rawValue - min(count, self.rawValue))
    }
}

/// An owner's results for a partition's entries, or a chunk of them.
///
/// Results that are too large for one commit are written in chunks, one output each. All but the last leave ``through``
/// unchanged, so only the last marks the entries as done; a replay knows from ``ahead`` where the chunks ended.
package struct OutputRecord: Hashable, Sendable {
    /// How many of a partition's newest outputs a gateway reads when it starts, and event streams resume among: a copy of a log has as
    /// many.
    package static let resumedMax = 256

    /// The newest entry that the effects come from; the partition's commit offset.
    package let through: LogPosition
    /// How many effects of the entries behind ``through`` the output log holds, those of this output last: nothing but 0
    /// unless it is a chunk that others follow.
    package let ahead: UInt64
    /// The version of the engine that decided.
    package let engineVersion: UInt32
    /// The engine's hash over all records and effects up to `through`, to be compared at replay.
    package let runningHash: UInt64
    /// The effects, in the engine's own encoding.
    package let effects: [UInt8]

    package init(through: LogPosition, ahead: UInt64 = 0, engineVersion: UInt32, runningHash: UInt64, effects: [UInt8])
    {
        self.through = through
        self.ahead = ahead
        self.engineVersion = engineVersion
        self.runningHash = runningHash
        self.effects = effects
    }
}

/// An output with its place in the output log.
package struct OutputEntry: Hashable, Sendable {
    package let position: OutputPosition
    package let record: OutputRecord

    package init(position: OutputPosition, record: OutputRecord) {
        self.position = position
        self.record = record
    }

    /// The checksum that is stored beside the output, over its place as well.
    package func checksum(in partition: PartitionID) -> UInt32 {
        var checksum = CRC32C()
        checksum.combine(UInt64(partition.rawValue))
        checksum.combine(self.position.rawValue)
        checksum.combine(self.record.through.rawValue)
        checksum.combine(self.record.ahead)
        checksum.combine(UInt64(self.record.engineVersion))
        checksum.combine(self.record.runningHash)
        checksum.combine(self.record.effects.span)
        return checksum.value
    }
}
