#if JetStream
import Clustering
import Dispatch
import Glibc
import JournalStreams
import Journaling
import Synchronization
import WidgetModel

/// The state that all threads of a journal share.
final class OpenLog: Sendable {
    private struct State {
        var limits: JournalLimits
        var appendBytes = 0
        var outputBytes = 0
        var isClosed = false
    }

    let broker: Broker
    let names: StreamNames
    let format: JournalFormat
    let configuration: JetStreamJournal.Configuration
    let clock: @Sendable () -> Instant
    private let state: Mutex<State>
    private let clocks = Mutex<[PartitionID: ClockTrouble]>([:])
    private let lost = Atomic<Int>(0)

    init(
        broker: Broker,
        names: StreamNames,
        format: JournalFormat,
        configuration: JetStreamJournal.Configuration,
        clock: @escaping @Sendable () -> Instant
    ) {
        self.broker = broker
        self.names = names
        self.format = format
        self.configuration = configuration
        self.clock = clock
        self.state = Mutex(State(limits: configuration.limits))
    }

    var journalID: String { self.format.journalID }
    var partitions: [PartitionID] { (0..<self.format.partitions).map { PartitionID(UInt16($0)) } }
    var isClosed: Bool { self.state.withLock { $0.isClosed } }

    func close() { self.state.withLock { $0.isClosed = true } }

    func useLimits(_ limits: JournalLimits) { self.state.withLock { $0.limits = limits } }

    func admit(bytes: Int, _ refusal: (JournalLimits, _ waiting: Int) -> JournalError?) -> JournalError? {
        self.state.withLock { state in
            if state.isClosed { return JournalError(.closed, "the journal is closed") }
            if let refusal = refusal(state.limits, state.appendBytes) { return refusal }
            state.appendBytes += bytes
            return nil
        }
    }

    func admit(_ output: OutputRecord, to partition: PartitionID) -> JournalError? {
        self.state.withLock { state in
            if state.isClosed { return JournalError(.closed, "the journal is closed") }
            let refusal = state.limits.refusal(
                of: output,
                to: partition,
                partitions: self.format.partitions,
                waiting: state.outputBytes
            )
            if let refusal { return refusal }
            state.outputBytes += output.effects.count
            return nil
        }
    }

    func finish(appendBytes: Int = 0, outputBytes: Int = 0) {
        self.state.withLock { state in
            state.appendBytes -= appendBytes
            state.outputBytes -= outputBytes
        }
    }

    var clockTroubles: [ClockTrouble] {
        self.clocks.withLock { $0.values.sorted { $0.partition < $1.partition } }
    }

    /// An entry came whose broker and whose writer had clocks that are too far apart.
    func noteClocks(of partition: PartitionID, storedAt: Instant, writtenAt: Instant) {
        self.clocks.withLock { clocks in
            clocks[partition] = ClockTrouble(
                partition: partition,
                entries: (clocks[partition]?.entries ?? 0) + 1,
                storedAt: storedAt,
                writtenAt: writtenAt,
                readAt: .now
            )
        }
    }

    /// How often a message of this process was gone that the brokers had stored.
    var losses: Int { self.lost.load(ordering: .relaxed) }
    func noteLoss() { self.lost.add(1, ordering: .relaxed) }

    func checkReadable(_ partition: PartitionID) throws(JournalError) {
        if self.isClosed { throw JournalError(.closed, "the journal is closed") }
        guard Int(partition.rawValue) < self.format.partitions else {
            throw JournalError(.invalid, "read of partition \(partition) of a log with \(self.format.partitions)")
        }
    }

    /// Tries something that asks brokers until one answers, for as long as the configuration says.
    func persist<Value>(_ body: () throws(JournalError) -> Value) throws(JournalError) -> Value {
        try self.patience.persist { () throws(JournalError) in
            do throws(JournalError) {
                return try body()
            } catch {
                guard error.code == .unavailable, self.isClosed else { throw error }
                throw JournalError(.closed, error.message)
            }
        }
    }

    /// For how long an append that comes now is tried.
    var patience: Patience { Patience(milliseconds: self.configuration.patienceMilliseconds) }

    /// How many of the works that shared a message are answered by its result, from the first on: all, or, if it is certain that the
    /// message is not stored, those whose callers have waited long enough. The others came later, and share the next message.
    ///
    /// - Parameter patiences: In the order in which they came.
    func answered(of patiences: [Patience], by result: Result<UInt64, JournalError>) -> Int {
        guard case .failure(let error) = result, error.code == .failing, !self.isClosed else { return patiences.count }
        return patiences.firstIndex { !$0.isOver } ?? patiences.count
    }

    /// Where a stream begins and ends that has to be there.
    func ends(of stream: String) throws(JournalError) -> StreamEnds {
        let ends = try self.persist { () throws(JournalError) in try self.broker.ends(of: stream) }
        guard let ends else { throw JournalError(.corrupt, "the stream \(stream) is gone; restore it") }
        return ends
    }
}

extension JournalError {
    /// The appends before took so long that this one was given up while it was in line.
    static func notSent(to stream: String) -> JournalError {
        JournalError(.failing, "append to \(stream): the brokers are slow, and it was not sent")
    }
}

/// How long something is tried again.
struct Patience: Sendable {
    /// Between two attempts: in the middle of an election brokers answer at once that there is no leader.
    private static let pauseMilliseconds: UInt32 = 75
    let end: DispatchTime

    init(milliseconds: Int) { self.end = .now() + .milliseconds(milliseconds) }

    var isOver: Bool { .now() >= self.end }

    /// Tries something that asks brokers until one answers, or this is over.
    func persist<Value>(_ body: () throws(JournalError) -> Value) throws(JournalError) -> Value {
        while true {
            do throws(JournalError) {
                return try body()
            } catch {
                guard error.code == .unavailable, !self.isOver else { throw error }
                self.pause()
            }
        }
    }

    func pause() { _ = usleep(Self.pauseMilliseconds * 1000) }
}

extension OpenLog {
    /// For how long a message is waited for before the end of its stream is looked at.
    private static let followMilliseconds = 500

    /// Hands on the messages of a stream from one on, in order, and nil when none has come for a while, until no more are wanted, the
    /// consumer is lost or behind, or the journal is closed.
    ///
    /// - Parameter take: Returns whether more are wanted.
    /// - Returns: Whether to begin anew: more are wanted.
    func follow(
        _ stream: String,
        _ subject: String,
        from first: UInt64,
        _ take: (StoredMessage?) throws(JournalError) -> Bool
    ) throws(JournalError) -> Bool {
        let following = try self.broker.follow(stream, subject, from: first)
        var next = first
        var isBehind = false
        while !self.isClosed {
            switch following.next(waitMilliseconds: Self.followMilliseconds) {
            case .lost: return true
            case .nothing:
                guard try take(nil) else { return false }
                // The consumer is gone, or slow: begin anew. But first the message may be on its way, on a slow network.
                if isBehind { return true }
                isBehind = try self.broker.ends(of: stream)?.last ?? .max >= next
            case .message(let message):
                isBehind = false
                next = message.sequence + 1
                guard try take(message) else { return false }
            }
        }
        return false
    }

    /// Hands on the messages to a subject that nothing stores, and nil when none has come for a while, until it is over. Asks again if
    /// brokers do not let it listen.
    func listen(to subject: String, waitMilliseconds: Int, until isOver: () -> Bool, _ take: (Broker.Told?) -> Void) {
        var listening: Broker.Listening?
        while !isOver() {
            if listening == nil { listening = try? self.broker.listen(to: subject) }
            let told = listening?.next(waitMilliseconds: waitMilliseconds) ?? []
            if told.isEmpty { take(nil) }
            for one in told { take(one) }
            if listening == nil { Patience(milliseconds: 0).pause() }
        }
    }
}
#endif
