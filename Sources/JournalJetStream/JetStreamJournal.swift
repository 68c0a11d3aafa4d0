#if JetStream
import Dispatch
import Glibc
import JournalStreams
package import Journaling
import Synchronization
package import WidgetModel
import WorkerThreads

/// The journal of several machines: NATS JetStream streams, two for each partition and one for submissions to all of
/// them.
///
/// An entry is a message; its sequence is the position. Any number of processes may have the same log open and append;
/// all read the entries of each. Outputs are stored only behind the one that their owner knows, so that of two owners
/// one stops. Callbacks come on threads of the journal's.
package final class JetStreamJournal: Journal {
    package let format: JournalFormat
    let core: OpenLog
    let readers: [Reader]
    private let inputs: [InputLane]
    private let outputs: [OutputLane]
    private let fan: FanLane
    private let followers: [Follower]
    let outputFollowers: [OutputFollower]
    private let reads = WorkBox<@Sendable () -> Void>()
    private let lanes: [WorkerThread]
    private let others: [WorkerThread]
    /// How many files the log has, for those who count files: the brokers keep it, so the number never changes.
    let files = Atomic<Int>(1)

    /// Opens a log, or creates it. Waits for the brokers.
    ///
    /// - Parameters:
    ///   - configuration: Where it is and how it is kept.
    ///   - clock: The wall clock; read for each message.
    /// - Throws: `.formatMismatch` with what to change if brokers are too old, or answer before they have written to the disk, or
    ///   if the log is another cluster's or has another number of partitions; `.corrupt` if a stream is missing; `.unavailable`
    ///   if brokers do not answer; `.invalid` if they do not believe this one, or this one does not believe them.
    package init(configuration: Configuration, clock: @escaping @Sendable () -> Instant) throws(JournalError) {
        let names = try StreamNames(of: configuration)
        let (broker, format) = try Self.open(names, configuration, now: clock())
        let core = OpenLog(broker: broker, names: names, format: format, configuration: configuration, clock: clock)
        let fan = FanLane(core)
        let inputs = core.partitions.map { InputLane(core, $0) }
        let outputs = core.partitions.map { OutputLane(core, $0) }
        let readers = core.partitions.map { Reader(core, $0) }
        var followers: [Follower] = []
        for (index, reader) in readers.enumerated() {
            let first = LogPosition(try core.ends(of: names.input(reader.partition)).last + 1)
            followers.append(Follower(core, reader, inputs[index], outputs[index], fan, from: first))
        }
        self.format = format
        self.core = core
        self.fan = fan
        self.inputs = inputs
        self.outputs = outputs
        self.readers = readers
        self.followers = followers
        let outputFollowers = readers.map { OutputFollower(core, $0) }
        self.outputFollowers = outputFollowers
        let reads = self.reads
        let relay = FanRelay(core, fan)
        var lanes: [WorkerThread] = []
        var others: [WorkerThread] = []
        do throws(JournalError) {
            for lane in inputs { lanes.append(try WorkerThread(name: "journal-append") { lane.run() }) }
            for lane in outputs { lanes.append(try WorkerThread(name: "journal-output") { lane.run() }) }
            lanes.append(try WorkerThread(name: "journal-fan") { fan.run() })
            lanes.append(
                try WorkerThread(name: "journal-read") {
                    while let group = reads.next() { for read in group { read() } }
                }
            )
            for follower in followers { others.append(try WorkerThread(name: "journal-follow") { follower.run() }) }
            for follower in outputFollowers {
                others.append(try WorkerThread(name: "journal-outputs") { follower.run() })
            }
            others.append(try WorkerThread(name: "journal-relay") { relay.run() })
        } catch {
            core.close()
            for lane in inputs { lane.box.close() }
            for lane in outputs { lane.box.close() }
            for follower in outputFollowers { follower.box.close() }
            fan.box.close()
            reads.close()
            throw error
        }
        self.lanes = lanes
        self.others = others
    }

    /// Connects and opens the log; brokers that are starting are waited for.
    private static func open(_ names: StreamNames, _ configuration: Configuration, now: Instant) throws(JournalError)
        -> (Broker, JournalFormat)
    {
        let patience = Patience(milliseconds: configuration.patienceMilliseconds)
        do {
            return try patience.persist { () throws(JournalError) in
                try BrokerCheck.check(configuration.systemAccess)
                let broker = try Broker(configuration.access)
                return (broker, try Streams(broker, names, configuration).open(now: now))
            }
        } catch {
            guard error.code == .unavailable else { throw error }
            let waited = "\(configuration.patienceMilliseconds) ms (journal.jetstream.patience)"
            throw JournalError(
                .unavailable,
                "\(error.message). The gateway waited \(waited) for brokers that may be starting; most of them have to run"
            )
        }
    }

    /// Whether brokers can have a log, without opening it. Waits for them.
    ///
    /// - Throws: As ``init(configuration:clock:)`` does of brokers that it refuses, at once.
    package static func check(_ configuration: Configuration) throws(JournalError) {
        let names = try StreamNames(of: configuration)
        try BrokerCheck.check(configuration.systemAccess)
        _ = try Streams(try Broker(configuration.access), names, configuration).usable()
    }

    /// How full the stream is that has the least room: each has a limit of its own. Waits for the brokers, but not for any that
    /// are away.
    package func sizes() throws(JournalError) -> StorageSizes {
        let names = self.core.names
        let logs = self.core.partitions.flatMap { [names.input($0), names.output($0)] } + [names.fan]
        var fullest: (stream: String, ends: StreamEnds, free: Int)?
        for stream in logs + [names.chunks] {
            guard let ends = try self.core.broker.ends(of: stream), let bytesMax = ends.bytesMax else { continue }
            let free = max(0, bytesMax - ends.bytes)
            if free < fullest?.free ?? .max { fullest = (stream, ends, free) }
        }
        var sizes = StorageSizes()
        guard let (stream, ends, free) = fullest else {
            // No stream has a limit: the brokers' disks are theirs to watch.
            sizes.fileSystem = StorageBudget.bytesMax
            sizes.free = StorageBudget.bytesMax
            return sizes
        }
        sizes.subject = "the stream \(stream)"
        if stream == names.chunks { sizes.snapshots = ends.bytes } else { sizes.log = ends.bytes }
        sizes.fileSystem = ends.bytes + free
        sizes.free = free
        return sizes
    }

    deinit { self.letGo() }

    private func letGo() {
        self.core.close()
        for lane in self.inputs { lane.box.close() }
        for lane in self.outputs { lane.box.close() }
        for follower in self.outputFollowers { follower.box.close() }
        self.fan.box.close()
        self.reads.close()
    }

    package func close() {
        self.letGo()
        let threads = self.lanes + self.others
        guard !threads.contains(where: \.isCurrent) else { return }
        // All that was accepted is called back when these are over.
        for thread in threads { thread.join() }
        self.fan.tellOverdue(isOver: true)
    }
}

// MARK: - Journal

extension JetStreamJournal {
    package var history: any LogHistory { JetStreamHistory(self.core, self.readers) }

    package func append(
        _ submission: Submission,
        whenDurable: @escaping @Sendable (Result<AppendReceipt, JournalError>) -> Void
    ) {
        let refusal = self.core.admit(bytes: submission.byteCount) { limits, waiting in
            limits.refusal(of: submission, partitions: self.format.partitions, waiting: waiting)
        }
        if let refusal { return whenDurable(.failure(refusal)) }
        let work = InputLane.Work(records: submission.records, patience: self.core.patience, whenDurable: whenDurable)
        guard !self.inputs[Int(submission.partition.rawValue)].box.add(work) else { return }
        whenDurable(.failure(JournalError(.closed, "the journal is closed")))
    }

    package func appendToAll(
        _ submission: SubmissionToAll,
        whenDurable: @escaping @Sendable (Result<Void, JournalError>) -> Void,
        whenPlaced: @escaping @Sendable (AppendReceipt) -> Void
    ) {
        let refusal = self.core.admit(bytes: submission.byteCount) { limits, waiting in
            limits.refusal(of: submission, partitions: self.format.partitions, waiting: waiting)
        }
        if let refusal { return whenDurable(.failure(refusal)) }
        let work = FanLane.Work(
            submission: submission,
            patience: self.core.patience,
            whenDurable: whenDurable,
            whenPlaced: whenPlaced
        )
        guard !self.fan.box.add(work) else { return }
        whenDurable(.failure(JournalError(.closed, "the journal is closed")))
    }

    package func commitOutput(
        _ partition: PartitionID,
        expected: OutputPosition?,
        _ output: OutputRecord,
        whenDurable: @escaping @Sendable (Result<OutputPosition, JournalError>) -> Void
    ) {
        if let refusal = self.core.admit(output, to: partition) { return whenDurable(.failure(refusal)) }
        let work = OutputLane.Work(expected: expected, record: output, whenDurable: whenDurable)
        guard !self.outputs[Int(partition.rawValue)].box.add(work) else { return }
        whenDurable(.failure(JournalError(.closed, "the journal is closed")))
    }

    package func read(
        _ partition: PartitionID,
        from position: LogPosition,
        entriesMax: Int,
        whenRead: @escaping @Sendable (Result<[LogEntry], JournalError>) -> Void
    ) {
        do throws(JournalError) {
            try self.core.checkReadable(partition)
        } catch {
            return whenRead(.failure(error))
        }
        let index = Int(partition.rawValue)
        if let cached = self.followers[index].cached(from: position, entriesMax: entriesMax) {
            return whenRead(.success(cached))
        }
        let reader = self.readers[index]
        self.onReadThread(whenRead) { () throws(JournalError) in
            try reader.entries(from: position, entriesMax: entriesMax)
        }
    }

    package func readNewestOutput(
        _ partition: PartitionID,
        whenRead: @escaping @Sendable (Result<OutputEntry?, JournalError>) -> Void
    ) {
        do throws(JournalError) {
            try self.core.checkReadable(partition)
        } catch {
            return whenRead(.failure(error))
        }
        let reader = self.readers[Int(partition.rawValue)]
        self.onReadThread(whenRead) { () throws(JournalError) in try reader.newestOutput() }
    }

    private func onReadThread<Value: Sendable>(
        _ whenRead: @escaping @Sendable (Result<Value, JournalError>) -> Void,
        _ body: @escaping @Sendable () throws(JournalError) -> Value
    ) {
        let isIn = self.reads.add {
            whenRead(Result { () throws(JournalError) in try body() })
        }
        if !isIn { whenRead(.failure(JournalError(.closed, "the journal is closed"))) }
    }

    package func observeAppends(_ partition: PartitionID, _ body: @escaping @Sendable (LogPosition) -> Void) {
        self.followers[Int(partition.rawValue)].observe(body)
    }

    package func useLimits(_ limits: JournalLimits) { self.core.useLimits(limits) }
}
#endif
