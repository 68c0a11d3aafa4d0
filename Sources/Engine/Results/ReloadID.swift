package import WidgetModel

/// The id of a reload, by which a host deduplicates and acknowledges it. Opaque, and without names.
///
/// An engine issues at most one reload of an instance at one position, and a number is one instance's at a time, so the
/// first three parts are unique; a replay gives the same ids. The fourth tells whether the number is still that instance's.
package struct ReloadID: ByteCoded, Hashable, Sendable, CustomStringConvertible {
    package let partition: PartitionID
    /// The entry with the records (or timers) that issued the reload.
    package let position: LogPosition
    /// The partition's number of the instance.
    package let instance: InstanceNumber
    /// A hash of the instance's address, the partition and the position.
    package let check: UInt32

    package init(partition: PartitionID, position: LogPosition, instance: InstanceNumber, check: UInt32) {
        self.partition = partition
        self.position = position
        self.instance = instance
        self.check = check
    }

    /// The id of a reload.
    ///
    /// - Parameters:
    ///   - instance: The partition's number of the instance.
    ///   - addressHash: The stable hash of the instance's address.
    init(partition: PartitionID, position: LogPosition, instance: InstanceNumber, addressHash: UInt64) {
        var hash = StableHash()
        hash.combine(addressHash)
        hash.combine(UInt64(partition.rawValue))
        hash.combine(position.rawValue)
        let check = UInt32(truncatingIfNeeded: hash.value)
        self.init(partition: partition, position: position, instance: instance, check: check)
    }

    /// The id that ``description`` spells, or nil.
    package init?(_ text: String) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 4, let partition = UInt16(parts[0]), let position = UInt64(parts[1]),
            let instance = UInt32(parts[2]), instance != .max, parts[3].utf8.count == 8,
            let check = UInt32(parts[3], radix: 16)
        else { return nil }
        let id = ReloadID(
            partition: PartitionID(partition),
            position: LogPosition(position),
            instance: InstanceNumber(raw: instance),
            check: check
        )
        // Signs and zeroes in front, and capital letters, would be further spellings of one id.
        guard id.description == text else { return nil }
        self = id
    }

    /// The same id with another number of the instance.
    package func numbered(_ instance: InstanceNumber) -> ReloadID {
        ReloadID(partition: self.partition, position: self.position, instance: instance, check: self.check)
    }

    /// The text form `<partition>-<position>-<instance number>-<check>`, the check as eight hex digits.
    package var description: String {
        let check = String(self.check, radix: 16)
        let zeroes = String(repeating: "0", count: 8 - check.utf8.count)
        return "\(self.partition)-\(self.position)-\(self.instance)-\(zeroes)\(check)"
    }

    package func encode(into writer: inout ByteWriter) {
        writer.write(varint: UInt64(self.partition.rawValue))
        writer.write(varint: self.position.rawValue)
        writer.write(varint: UInt64(self.instance.raw))
        writer.write(fixed32: self.check)
    }

    package init(from reader: inout ByteReader) throws(ByteError) {
        self.partition = try PartitionID(from: &reader)
        self.position = try LogPosition(from: &reader)
        let start = reader.offset
        self.instance = try InstanceNumber(from: &reader)
        guard !self.instance.isNone else { throw .invalid(offset: start) }
        self.check = try reader.readFixed32()
    }
}
