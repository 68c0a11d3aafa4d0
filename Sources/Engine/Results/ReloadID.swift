package import WidgetModel

/// The id of a reload, by which a host deduplicates and acknowledges it.
///
/// An engine issues at most one reload of an instance at one position, so the three parts are unique; a replay gives
/// the same ids.
package struct ReloadID: Hashable, Sendable, CustomStringConvertible {
    package let partition: PartitionID
    /// The entry whose records (or timers) issued the reload.
    package let position: LogPosition
    package let instance: InstanceAddress

    package init(partition: PartitionID, position: LogPosition, instance: InstanceAddress) {
        self.partition = partition
        self.position = position
        self.instance = instance
    }

    /// The id that ``description`` spells, or nil.
    package init?(_ text: String) {
        let parts = text.split(separator: "-", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, let partition = UInt16(parts[0]), let position = UInt64(parts[1]) else { return nil }
        guard let instance = InstanceAddress(String(parts[2])) else { return nil }
        self.init(partition: PartitionID(partition), position: LogPosition(position), instance: instance)
    }

    /// The text form `<partition>-<position>-<host>:<instance>`.
    package var description: String { "\(self.partition)-\(self.position)-\(self.instance)" }

    package func encode(into writer: inout ByteWriter) {
        writer.write(varint: UInt64(self.partition.rawValue))
        writer.write(varint: self.position.rawValue)
        writer.write(self.instance.host.rawValue)
        writer.write(self.instance.instance.rawValue)
    }

    package init(from reader: inout ByteReader) throws(ByteFault) {
        let start = reader.offset
        guard let partition = UInt16(exactly: try reader.readVarint()) else { throw .invalid(offset: start) }
        self.partition = PartitionID(partition)
        self.position = LogPosition(try reader.readVarint())
        let host = HostID(try reader.readString())
        self.instance = InstanceAddress(host: host, instance: InstanceID(try reader.readString()))
    }
}
