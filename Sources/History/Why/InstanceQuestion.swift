import Engine
package import Journaling
package import WidgetModel

/// A question to a log about one widget instance.
package struct InstanceQuestion: Sendable {
    private let address: InstanceAddress
    private let since: Instant
    private let isWhole: Bool

    /// - Parameters:
    ///   - address: The instance.
    ///   - since: The beginning of the told time.
    ///   - isWhole: Whether every record of the partition is applied, and not only those that may concern the instance.
    package init(_ address: InstanceAddress, since: Instant, isWhole: Bool = false) {
        self.address = address
        self.since = since
        self.isWhole = isWhole
    }

    /// Reads the instance's partition from the newest state before the question's beginning to its end.
    ///
    /// - Parameters:
    ///   - history: The log.
    ///   - start: Where the replay begins.
    ///   - isCancelled: Asked now and then whether the answer is no longer wanted; then the answer has the finds so
    ///     far.
    /// - Throws: The errors of the log, the start or the engine.
    package func answer(
        from history: any LogHistory,
        _ start: HistoryStart = HistoryStart(),
        isCancelled: () -> Bool = { false }
    ) throws -> InstanceTrace {
        let partitions = history.format.partitions
        let partition = PartitionID(of: self.address.host, among: partitions)
        let host = self.isWhole ? nil : self.address.host
        let engine = try start.engine(of: partition, in: history, .newest(notAfter: self.since), only: host)
        var walk = EntryWalk(history, partition, behind: engine.position)
        var replay = InstanceReplay(self.address, from: engine, since: self.since, isWhole: self.isWhole)
        while !isCancelled(), let entry = try walk.next() { try replay.applyEntry(entry) }
        var trace = try replay.finish()
        if !self.isWhole { try trace.findNumbers(in: history) }
        return trace
    }
}
