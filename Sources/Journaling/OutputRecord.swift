package import WidgetModel

/// A place in one partition's output log, from 1 and without gaps. Positions of different partitions do not compare.
package struct OutputPosition: Hashable, Comparable, Sendable, CustomStringConvertible {
    package let rawValue: UInt64
    package init(_ rawValue: UInt64) { self.rawValue = rawValue }
    package var description: String { String(self.rawValue) }
    package static func < (left: OutputPosition, right: OutputPosition) -> Bool { left.rawValue < right.rawValue }

    /// The position of a partition's first output.
    package static let first = OutputPosition(1)
    /// The position of the output after this one.
    package var next: OutputPosition { OutputPosition(self.rawValue + 1) }
}

/// What an owner made of a partition's entries, committed as a whole.
package struct OutputRecord: Hashable, Sendable {
    /// The newest entry that the effects come from; the partition's commit offset.
    package let through: LogPosition
    /// Which ownership of the partition wrote it.
    package let epoch: UInt64
    /// The version of the engine that decided.
    package let engineVersion: UInt32
    /// The engine's hash over all records and effects up to `through`, to be compared at replay.
    package let runningHash: UInt64
    /// The effects, in the engine's own encoding.
    package let effects: [UInt8]

    package init(through: LogPosition, epoch: UInt64, engineVersion: UInt32, runningHash: UInt64, effects: [UInt8]) {
        self.through = through
        self.epoch = epoch
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
        checksum.combine(self.record.epoch)
        checksum.combine(UInt64(self.record.engineVersion))
        checksum.combine(self.record.runningHash)
        checksum.combine(self.record.effects.span)
        return checksum.value
    }
}
