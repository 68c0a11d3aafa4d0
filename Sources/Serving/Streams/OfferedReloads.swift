package import Engine
package import WidgetModel

/// How far each partition had come when a reader was told the outstanding reloads there. Reloads that were issued until then were told to
/// it, or have been acknowledged since.
package struct OfferedReloads: Sendable {
    private let through: [PartitionID: LogPosition]

    /// - Parameter through: The last entry that each partition had applied.
    /// - Returns: Nil if a partition had not come as far as its events that have gone out: the owner that answered has a successor by now.
    package init?(_ through: [(partition: PartitionID, position: LogPosition)], notBefore asOf: [LogPosition]) {
        guard zip(through, asOf).allSatisfy({ $0.position >= $1 }) else { return nil }
        self.through = Dictionary(uniqueKeysWithValues: through.map { ($0.partition, $0.position) })
    }

    /// Whether an event is news to the reader: it was published after the stream began, but may have been applied before the question.
    package func lacks(_ event: HostEvent) -> Bool {
        guard case .reload(let reload) = event, let through = self.through[reload.id.partition] else { return true }
        return reload.id.position > through
    }
}

extension HostStreams.Subscription {
    /// Whether the reader has had an outstanding reload: it went out before, and is not among the missed ones.
    ///
    /// - Parameter missed: The reloads of ``missed``; nil where it is not known what the reader has had.
    package func isRepeated(_ reload: ReloadEffect, _ missed: Set<ReloadID>?) -> Bool {
        guard let missed, !missed.contains(reload.id) else { return false }
        let index = if case .app = self.scope { Int(reload.id.partition.rawValue) } else { 0 }
        return reload.id.position <= self.asOf[index]
    }
}
