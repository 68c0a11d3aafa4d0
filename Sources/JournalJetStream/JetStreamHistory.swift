#if JetStream
import Clustering
import Dispatch
import JournalStreams
package import Journaling
package import WidgetModel

/// The log for threads that may wait, to be read only.
package struct JetStreamHistory: SourceLog {
    let core: OpenLog
    private let readers: [Reader]

    init(_ core: OpenLog, _ readers: [Reader]) {
        self.core = core
        self.readers = readers
    }

    init(_ core: OpenLog) { self.init(core, core.partitions.map { Reader(core, $0) }) }

    /// Opens a log that there is: no stream is made, and nothing follows. Waits for the brokers.
    ///
    /// - Throws: `.invalid` if there is no such log; else as ``JetStreamJournal/init(configuration:clock:)``.
    package init(_ configuration: JetStreamJournal.Configuration) throws(JournalError) {
        let names = try StreamNames(of: configuration)
        let broker = try Broker(configuration.access)
        guard let format = try Streams(broker, names, configuration).usable()?.format else {
            throw JournalError(.invalid, "there is no log of cluster \(names.cluster) on these brokers")
        }
        self.init(
            OpenLog(broker: broker, names: names, format: format, configuration: configuration, clock: { .epoch })
        )
    }

    package var format: JournalFormat { self.core.format }

    private func reader(_ partition: PartitionID) throws(JournalError) -> Reader {
        try self.core.checkReadable(partition)
        return self.readers[Int(partition.rawValue)]
    }

    package func head(_ partition: PartitionID) throws(JournalError) -> LogPosition {
        try self.reader(partition).head()
    }

    package func read(
        _ partition: PartitionID,
        from position: LogPosition,
        entriesMax: Int
    ) throws(JournalError) -> [LogEntry] {
        try self.reader(partition).entries(from: position, entriesMax: entriesMax)
    }

    package func readOutputs(
        _ partition: PartitionID,
        from position: OutputPosition,
        outputsMax: Int
    ) throws(JournalError) -> [OutputEntry] {
        try self.reader(partition).outputs(from: position, outputsMax: outputsMax)
    }

    package func outputRange(_ partition: PartitionID) throws(JournalError) -> ClosedRange<OutputPosition>? {
        try self.core.checkReadable(partition)
        let ends = try self.core.ends(of: self.core.names.output(partition))
        return ends.first > ends.last ? nil : OutputPosition(ends.first)...OutputPosition(ends.last)
    }

    /// Where a copy of the log, which goes on, may end: by partition, the newest entry of the copy.
    ///
    /// Everything that was acknowledged before the call is in it. Of the submissions to all partitions, all have the same: the cut is
    /// before the copies of those that came during the call. Waits until all partitions have the other copies.
    ///
    /// - Throws: `.unavailable` if that takes too long.
    package func cut() throws(JournalError) -> [LogPosition] {
        var before: [UInt64] = []
        for partition in self.core.partitions {
            before.append(try self.core.ends(of: self.core.names.input(partition)).last)
        }
        let fan = try self.core.ends(of: self.core.names.fan).last
        try self.core.waitUntilPlaced(through: fan)
        var cut: [LogPosition] = []
        for (partition, end) in zip(self.core.partitions, before) {
            cut.append(try self.core.lastEntry(of: partition, withCopiesThrough: fan, notBefore: end))
        }
        return cut
    }

    // MARK: Snapshots

    package func snapshots(_ partition: PartitionID) throws(JournalError) -> [SnapshotID] {
        try self.core.snapshots(partition)
    }

    package func read(
        _ id: SnapshotID,
        wanting isWanted: (UInt8) -> Bool,
        _ body: ([UInt8]) throws -> Void
    ) throws {
        try self.core.readSnapshot(id, wanting: isWanted, body)
    }

    // MARK: Nodes

    /// The names of the nodes that have the log open, as they tell it within a while. Waits for so long.
    ///
    /// - Throws: `.invalid` if not even its message to itself is heard.
    package func nodes(heardWithin milliseconds: Int) throws(JournalError) -> [String] {
        let subject = self.core.names.beats
        let listening = try self.core.persist { () throws(JournalError) in try self.core.broker.listen(to: subject) }
        // No node takes it for a beat.
        let probe = (0..<16).map { _ in UInt8.random(in: .min ... .max) }
        self.core.broker.tell(probe, to: subject)
        let end = DispatchTime.now() + .milliseconds(milliseconds)
        var (names, isHeard) = (Set<String>(), false)
        while DispatchTime.now() < end {
            for told in listening.next(waitMilliseconds: min(100, milliseconds)) {
                if told.bytes == probe { isHeard = true }
                if let beat = try? BeatMessage.beat(told.bytes, self.core.journalID, in: subject) {
                    names.insert(beat.node.name.rawValue)
                }
            }
        }
        guard isHeard else {
            throw JournalError(
                .invalid,
                "this node does not hear the other nodes: allow the brokers' user to publish and subscribe to \(subject)"
            )
        }
        return names.sorted()
    }
}

extension JetStreamJournal {
    /// Waits until every partition has its copies of the submissions to all partitions.
    ///
    /// - Throws: `.unavailable` if that is not so within the configured patience.
    package func waitUntilPlaced() throws(JournalError) {
        try self.core.waitUntilPlaced(through: self.core.ends(of: self.core.names.fan).last)
    }
}

extension OpenLog {
    /// Waits until every partition has its copies of the submissions to all partitions, up to one.
    ///
    /// - Throws: `.unavailable` if that is not so within the configured patience.
    fileprivate func waitUntilPlaced(through fan: UInt64) throws(JournalError) {
        for partition in self.partitions {
            try self.persist { () throws(JournalError) in
                guard try self.fanProgress(of: partition).fan < fan else { return }
                throw JournalError(
                    .unavailable,
                    "partition \(partition) does not have its copies of all submissions yet; gateways of the cluster make them"
                )
            }
        }
    }

    /// The newest entry before the copies of later submissions to all partitions.
    ///
    /// - Parameter end: It is not before this one: the later submissions came behind it.
    func lastEntry(of partition: PartitionID, withCopiesThrough fan: UInt64, notBefore end: UInt64)
        throws(JournalError) -> LogPosition
    {
        let stream = self.names.input(partition)
        // In this order: a copy that comes between is behind the end.
        let newest = try self.ends(of: stream).last
        guard try self.fanProgress(of: partition).fan > fan else { return LogPosition(newest) }
        let following = try self.persist { () throws(JournalError) in
            try self.broker.follow(stream, self.names.copies(partition), from: end + 1)
        }
        while case .message(let message) = following.next(waitMilliseconds: 2000) {
            guard try self.copy(message, in: stream).fan ?? 0 > fan else { continue }
            try self.checkIsThere(stream, from: end + 1)
            return LogPosition(min(newest, message.sequence - 1))
        }
        try self.checkIsThere(stream, from: end + 1)
        throw JournalError(.unavailable, "read of \(stream): the brokers do not answer")
    }

    /// - Throws: `.corrupt` if messages from one on were trimmed meanwhile: a copy of a later submission may have been among them.
    private func checkIsThere(_ stream: String, from sequence: UInt64) throws(JournalError) {
        let first = try self.ends(of: stream).first
        guard first > sequence else { return }
        throw JournalError(.corrupt, "read of \(stream): message \(sequence) is gone, it begins with \(first)")
    }
}
#endif
