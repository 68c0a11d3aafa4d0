#if JetStream
import Clustering
import Dispatch
import JournalStreams
package import Journaling
package import WidgetModel

/// The log for threads that may wait, to be read only.
package struct JetStreamHistory: EndedLog {
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

    package func newestOutputs(_ partition: PartitionID, max count: Int) throws(JournalError) -> [OutputEntry] {
        let reader = try self.reader(partition)
        let ends = try self.core.ends(of: self.core.names.output(partition))
        var next = OutputPosition(max(ends.first, ends.last > UInt64(count) ? ends.last - UInt64(count) + 1 : 1))
        var outputs: [OutputEntry] = []
        while next.rawValue <= ends.last {
            let more = try reader.outputs(from: next, outputsMax: count - outputs.count)
            guard let last = more.last else { break }
            outputs += more
            next = last.position.next
        }
        return outputs
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
        let last = try self.core.ends(of: self.core.names.fan).last
        for partition in self.core.partitions {
            try self.core.persist { () throws(JournalError) in
                guard try self.core.fanProgress(of: partition).fan < last else { return }
                throw JournalError(
                    .unavailable,
                    "partition \(partition) does not have its copies of all submissions yet"
                )
            }
        }
    }
}
#endif
