package import Engine
package import Journaling
package import WidgetModel

extension SnapshotHistory {
    /// The state that a snapshot holds; the parameters are those of ``EngineSnapshotDecoder``. Waits for the disk.
    ///
    /// - Throws: ``SnapshotError`` or ``JournalError`` if it cannot be read.
    package func engine(
        _ id: SnapshotID,
        among partitions: Int,
        seed: UInt64? = nil,
        only host: HostKey? = nil,
        rules: Int = Engine.version,
        adoptsRules: Bool = false
    ) throws -> Engine {
        var decoder = EngineSnapshotDecoder(
            partition: id.partition,
            partitions: partitions,
            seed: seed,
            only: host,
            rules: rules,
            adoptsRules: adoptsRules
        )
        try self.read(id) { try decoder.takeFrame($0) }
        let engine = try decoder.finish()
        guard engine.position == id.position else { throw SnapshotError.otherPartition }
        return engine
    }
}
